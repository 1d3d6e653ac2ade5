// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flits on their way where there is one virtual channel.

use super::{AHEAD, Channel, FREE, FlitMesh, State, TAIL, TIME_SHIFT, free_from};

impl FlitMesh {
    /// Sends the flits of a packet that has its output, as far as they are here and have a place.
    ///
    /// Only with a single virtual channel: then nobody competes for the switch, every time is the
    /// maximum of times that are known, and flits may be moved ahead of the clock.
    pub(super) fn stream(&mut self, channel: u32) {
        let router = self.spec.router;
        let (credit, interval) = (u64::from(router.credit), u64::from(router.link_interval));
        let ahead = self.now + AHEAD;
        let base = channel * self.capacity;
        let Channel {
            next_at,
            output,
            down,
            mut first,
            mut len,
            ..
        } = self.channels[channel as usize];
        let is_ejected = down >= self.ejection;
        let hop = u64::from(if is_ejected {
            router.ejection
        } else {
            router.switch + router.link
        });
        let into = self.channels[down as usize];
        let (down_base, down_capacity) = self.places_of(down);
        let mut free = u32::from(into.first) + u32::from(into.len);
        if free >= down_capacity {
            free -= down_capacity;
        }
        let is_sunk = is_ejected && !self.has_queues;
        let packet = (self.places[(base + u32::from(first)) as usize] & FREE) as u32;
        let mut at = self.now.max(next_at);
        let (mut moved, mut first_arrival) = (0_u16, 0);
        let mut state = State::Active;
        let mut behind = None;
        loop {
            let place = (base + u32::from(first)) as usize;
            let flit = self.places[place];
            let target_place = (down_base + free) as usize;
            let target = self.places[target_place];
            if target & FREE != FREE {
                self.wait_for_place(down, channel, at.max(flit >> TIME_SHIFT));
                break;
            }
            let time = at.max(flit >> TIME_SHIFT).max(target >> TIME_SHIFT);
            if time > ahead {
                self.wheel.push(time, channel);
                break;
            }
            let arrival = time + hop;
            self.places[place] = free_from(time + credit);
            self.places[target_place] = if is_sunk {
                free_from(arrival + credit)
            } else {
                (arrival << TIME_SHIFT) | (flit & (TAIL | FREE))
            };
            first = if u32::from(first) + 1 == self.capacity {
                0
            } else {
                first + 1
            };
            free = if free + 1 == down_capacity {
                0
            } else {
                free + 1
            };
            len -= 1;
            if moved == 0 {
                first_arrival = arrival;
                self.wake_for_place(channel, time + credit);
            }
            moved += 1;
            at = time + interval;
            if flit & TAIL != 0 {
                at = time + 1;
                // The next head takes `vc_allocation` to the link, which is in use until then.
                let again = (time + interval).saturating_sub(u64::from(router.vc_allocation));
                let freed = &mut self.outputs[output as usize];
                freed.free = 1;
                freed.next_at = at.max(again);
                if freed.requests != 0 {
                    let again = freed.next_at;
                    self.plan(output, again);
                }
                if is_sunk {
                    self.deliver((flit & FREE) as u32, arrival);
                }
                state = State::Idle;
                if len > 0 {
                    let next = self.places[(base + u32::from(first)) as usize];
                    behind = Some((flit, next));
                }
                break;
            }
            if len == 0 {
                state = State::Starved;
                break;
            }
        }
        let input = &mut self.channels[channel as usize];
        input.next_at = at;
        input.first = first;
        input.len = len;
        input.state = state;
        if moved == 0 {
            return;
        }
        if let Some((flit, next)) = behind {
            let arrival = next >> TIME_SHIFT;
            self.claim(channel, (next & FREE) as u32, arrival.max(at));
            self.note_behind(channel, output, (flit & FREE) as u32, [arrival, at]);
        }
        if is_sunk {
            let into = &mut self.channels[down as usize];
            into.first = free as u16;
            into.flits = into.flits.saturating_add(u32::from(moved));
            self.flits_ejected += u64::from(moved);
        } else if is_ejected {
            self.arrive_in_queue(down, moved, first_arrival);
        } else {
            self.flit_hops += u64::from(moved);
            self.arrive(down, packet, moved, first_arrival);
        }
    }
}
