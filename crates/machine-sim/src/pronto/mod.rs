//! Tiles whose message passing buffers the hardware manages (Pronto, Kumar et al. 2012).
//!
//! A core gives a command to its interface's engine: the engine moves a block between local memory
//! and a message passing buffer; the interface asks the receiver's tile for room, waits for its
//! acknowledgement and sends the block in packets, without the core.
//!
//! ```text
//! sender    set-up > copy in > ............................................ the core goes on
//!  its tile                   envelope > ........... > packets
//!  other tile                           > room > ack            > whole > status table
//! receiver  set-up > ..................................................... > copy out
//! ```
//!
//! Models both buffers word by word, the translation and status tables, the queue of envelopes, one
//! request per destination, packets over the mesh flit by flit, and the external memory buffer's
//! port. Real bytes go through all of it. Does not model the local memories' ports, instructions, or
//! the time that the buffer manager takes to look into its tables.

mod array;
mod costs;
mod endpoint;
mod external;
mod injectors;
mod interface;
mod protocol;
mod ring;
mod tasks;
mod tile;
mod unit;

pub(crate) use array::{Array, drive};
pub(crate) use endpoint::ProntoEndpoint;
pub use injectors::{Aim, Direction, Injectors};
pub use tasks::{Move, TaskSetup};
