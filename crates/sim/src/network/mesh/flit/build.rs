// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mesh at rest.

use std::collections::VecDeque;

use corecast_core::Side;

use super::records::{Channel, Output, Source, State};
use super::{
    AHEAD, CONVOY, Divisor, FlitMesh, LARGE, NEVER, NONE, Places, Switch, VCS_MAX, Wheel, all_of,
    claims, free_from,
};
use crate::network::mesh::interval::Interval;
use crate::network::mesh::spec::{Ejection, MeshError, MeshSpec, SIDES, VcChoice};

impl FlitMesh {
    /// An idle mesh at cycle 0.
    ///
    /// # Errors
    /// What [`MeshSpec::check`] refuses.
    pub fn new(spec: &MeshSpec) -> Result<Self, MeshError> {
        spec.check()?;
        let (router, cores) = (spec.router, spec.cores());
        let (vcs, ports) = (router.vcs, SIDES + spec.grid.per_node);
        let ejection = spec.routers() * ports * vcs;
        let channel = Channel {
            next_at: 0,
            output: NONE,
            down: NONE,
            waiter: NONE,
            local: 0,
            flits: 0,
            first: 0,
            len: 0,
            state: State::Idle,
            out_vc: 0,
            accepts_first: 0,
        };
        let (lanes, lane_capacity, has_queues) = match spec.ejection {
            Ejection::Sink => (vcs, router.buffer_flits, false),
            Ejection::Queues { count, flits } => (count, flits, true),
        };
        let mut channels = vec![channel; (ejection + cores * lanes) as usize];
        for (index, channel) in (0..ejection).zip(&mut channels) {
            channel.local = (index % (ports * vcs)) as u8;
        }
        let places = ejection * router.buffer_flits + cores * lanes * lane_capacity;
        let places = Places::new(places as usize, free_from(0));
        let output = |index: u32| {
            let (at, port) = (index / ports, index % ports);
            let down = match port.checked_sub(SIDES) {
                Some(local) => Some(ejection + (at * spec.grid.per_node + local) * lanes),
                None => spec
                    .grid
                    .neighbour(at, Side::ALL[port as usize])
                    .map(|next| {
                        let opposite = port ^ 1;
                        (next * ports + opposite) * vcs
                    }),
            };
            Output {
                requests: 0,
                claims: 0,
                vcs_first: [0; VCS_MAX],
                input_first: 0,
                free: match down {
                    Some(_) if port < SIDES || vcs == 1 => all_of(vcs),
                    Some(_) => all_of(lanes),
                    None => 0,
                },
                soon: 0,
                down: down.unwrap_or(NONE),
                next_at: 0,
                planned_at: NEVER,
            }
        };
        let outputs: Vec<Output> = (0..spec.routers() * ports).map(output).collect();
        let [ahead, ahead_of_next, next_arrival] = claims::cycles_ahead(spec);
        let source = Source {
            queue: VecDeque::new(),
            flit: 0,
            channel: NONE,
            next_at: 0,
            early: 0,
            last_vc: (vcs - 1) as u8,
            is_scheduled: false,
        };
        let delays = [
            router.switch + router.link,
            router.routing + router.switch + router.link,
            router.vc_allocation,
            router.credit,
            router.turn,
            router.injection + router.routing,
            router.ejection + router.credit,
            router.link_interval,
            Interval::MAX,
        ];
        let has_convoys = vcs == 1 && has_queues;
        let ahead_max = AHEAD + if has_convoys { CONVOY } else { 0 };
        let delay_max = ahead_max as u32 + 2 * delays.into_iter().max().unwrap_or(0) + 2;
        Ok(Self {
            spec: *spec,
            ports,
            vcs,
            inputs: ports * vcs,
            capacity: router.buffer_flits,
            now: 0,
            positions: (0..spec.routers())
                .map(|router| spec.grid.position(router))
                .map(|(x, y)| (x as u16, y as u16))
                .collect(),
            switches: match vcs {
                1 => Vec::new(),
                _ => vec![Switch::NEW; spec.routers() as usize],
            },
            by_inputs: Divisor::new(ports * vcs),
            by_ports: Divisor::new(ports),
            port_of: std::array::from_fn(|local| {
                [local / vcs as usize, local % vcs as usize].map(|part| part as u8)
            }),
            is_restricted: spec.grid.is_torus || has_queues || router.vc_choice != VcChoice::Any,
            has_slow_links: router.link_interval > 1,
            is_large: ejection > LARGE,
            channels,
            places,
            ejection,
            lanes,
            lane_capacity,
            has_queues,
            ahead,
            ahead_of_next,
            next_arrival,
            outputs,
            packets: Vec::new(),
            ways: Vec::new(),
            unused_packets: Vec::new(),
            sources: vec![source; cores as usize],
            injections: Wheel::new(delay_max),
            wheel: Wheel::new(delay_max),
            spare: Vec::new(),
            allocating: Vec::new(),
            switching: Vec::new(),
            deliveries: Vec::new(),
            arrivals: Vec::new(),
            injected: Vec::new(),
            flits_injected: 0,
            flits_ejected: 0,
            flit_hops: 0,
            turns: 0,
            void_turns: match has_convoys {
                true => vec![0; ejection as usize],
                false => Vec::new(),
            },
            legs: Vec::new(),
            starts: VecDeque::new(),
            waits: None,
        })
    }
}
