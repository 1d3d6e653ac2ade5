//! A message layer in software over a mesh whose cores write and read words (Tilera's UDN).
//!
//! A core writes a packet into the network word by word and is held up when the network is full;
//! words that arrive wait in the core's finite hardware queues and, when these are full, in the
//! mesh. One queue is for data, one for flow control.
//!
//! ```text
//! sender    send overhead > ............ ready > header, words ...
//! receiver  recv overhead > ready ...............................> words out of the queue
//! ```
//!
//! * With flow control a sender may write a packet when the receiver has sent it a ready, a packet
//!   without payload; a receiver sends one per packet it expects, and only one at a time. So all
//!   words on their way to a core fit into its queue, and the mesh never fills up.
//! * Without flow control a sender writes at once. Messages that are not expected yet are put
//!   aside by the software that reads the queue. Cores that all write and do not read can fill the
//!   mesh and stop for ever: the run then ends as a deadlock.
//!
//! Models software as costs per call, rank, message and word, network and queues word by word; with
//! [`crate::Fidelity::Packet`] network and queues packet by packet: a core that has begun to read a
//! packet reads it to its end, queues take any number of words, and a full mesh holds up nobody.
//! Does not model caches or the instructions of the software.

mod endpoint;
mod net;
mod network;
mod static_net;

pub(crate) use endpoint::UdnEndpoint;
pub(crate) use net::{Net, drive};
