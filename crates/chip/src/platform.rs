//! A chip as algorithms see it: where ranks sit, what a message costs, which buffers there are.
//!
//! ```
//! let chip = corecast_chip::Chip::builtin("tilepro64").unwrap();
//! let platform = chip.platform(64);
//! assert_eq!(platform.grid.map(|grid| (grid.width, grid.height)), Some((8, 8)));
//! assert!(platform.queue.is_some() && platform.shared_buffer.is_none());
//! ```

use corecast_core::{LinkCost, Platform, SharedBuffer};

use crate::bound;
use crate::chip::{Chip, System};
use crate::rcce::Library;

impl Chip {
    /// What `ranks` ranks on this chip are told about it, for algorithms that depend on it.
    #[must_use]
    pub fn platform(&self, ranks: u32) -> Platform {
        let queue = match self.system() {
            System::Mesh { mesh, udn } => udn.queue(mesh),
            System::Bus { .. } | System::Mpb { .. } | System::Pronto { .. } => None,
        };
        Platform {
            grid: self.grid(ranks),
            link_cost: self.link_cost(),
            queue,
            shared_buffer: self.shared_buffer(),
        }
    }

    /// What a message costs in cycles of the reference clock, for algorithms that choose their
    /// part count by a closed form.
    ///
    /// `sync_cycles` is everything but the data: command, request, ready, complete and notify on a
    /// bus; software, header and one hop on a mesh; software and flags over one hop where cores have
    /// message passing buffers; set-up, envelope, acknowledgement and header where hardware manages
    /// these.
    pub(crate) fn link_cost(&self) -> LinkCost {
        let reference = &self.reference_clock;
        match self.system() {
            System::Bus { bus, mpe } => LinkCost {
                sync_cycles: reference.cycles_f64(mpe.clock.to_ps(mpe.message_cycles())),
                cycles_per_byte: reference.cycles_f64(bus.clock.to_ps(1)) / bus.width_bytes as f64,
            },
            System::Mesh { mesh, udn } => {
                let word_ps = bound::word_ps(mesh, udn);
                let software = udn.clock.to_ps(udn.send_cycles + udn.recv_cycles);
                let header = word_ps * udn.header_words;
                let hop = mesh.clock.to_ps(mesh.hop_cycles());
                LinkCost {
                    sync_cycles: reference.cycles_f64((software + header + hop).max(1)),
                    cycles_per_byte: reference.cycles_f64(word_ps) / mesh.flit_bytes as f64,
                }
            }
            System::Mpb { mesh, memory, rcce } => {
                let software = match rcce.library {
                    Library::Rcce => rcce.rcce_cycles,
                    Library::Ircce => rcce.ircce_cycles,
                    Library::OneSided => rcce.one_sided_cycles,
                };
                // Two flags set, cleared and polled, over one hop and back.
                let (own_read, own_write) = rcce.own_cycles();
                let flags = 2 * (rcce.mpb_write_cycles + 3 * own_write + own_read);
                let hops = mesh.clock.to_ps(4 * mesh.hop_cycles());
                let per_line = own_write + rcce.mpb_read_cycles;
                let per_line = reference.cycles_f64(rcce.clock.to_ps(per_line));
                let sync = rcce.clock.to_ps(2 * software + flags) + hops;
                LinkCost {
                    sync_cycles: reference.cycles_f64(sync.max(1)),
                    cycles_per_byte: per_line / memory.line_bytes as f64,
                }
            }
            System::Pronto { mesh, pronto } => {
                let (setup, flit) = (
                    pronto.clock.to_ps(pronto.setup_cycles),
                    bound::flit_ps(mesh),
                );
                let flits = pronto.header_flits + pronto.envelope_flits;
                let flits = flit * (flits + pronto.acknowledgement_flits);
                // The envelope, its acknowledgement and the data cross the same hop.
                let hop = mesh.hop_cycles() + bound::port_cycles(mesh);
                let sync = setup + flits + mesh.clock.to_ps(3 * hop);
                let copies = pronto.clock.to_ps(2 * pronto.copy_cycles_per_word);
                let word = reference.cycles_f64(copies + flit);
                LinkCost {
                    sync_cycles: reference.cycles_f64(sync.max(1)),
                    cycles_per_byte: word / mesh.flit_bytes as f64,
                }
            }
        }
    }

    /// The cores' buffers that all can read, if they have such, for algorithms that use them.
    fn shared_buffer(&self) -> Option<SharedBuffer> {
        let System::Mpb { mesh, memory, rcce } = self.system() else {
            return None;
        };
        let reference = &self.reference_clock;
        let (own_read, own_write) = rcce.own_cycles();
        // Told and taken: two flags set, one polled.
        let flags = 2 * (rcce.mpb_write_cycles + own_write) + own_read;
        let sync = rcce.clock.to_ps(2 * rcce.one_sided_cycles + flags);
        let hops = mesh.clock.to_ps(4 * mesh.hop_cycles());
        let line = rcce.mpb_read_cycles + memory.l2_read_cycles;
        let line_cycles = reference.cycles_f64(rcce.clock.to_ps(line));
        Some(SharedBuffer {
            bytes: rcce.payload_bytes(self.cores_max, memory.line_bytes),
            line_bytes: memory.line_bytes,
            cost: LinkCost {
                sync_cycles: reference.cycles_f64(sync + hops),
                cycles_per_byte: line_cycles / memory.line_bytes as f64,
            },
        })
    }
}
