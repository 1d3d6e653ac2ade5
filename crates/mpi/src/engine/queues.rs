// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which message goes to which receive.
//!
//! A receive takes the earliest message that has come and that it matches; a message goes to the
//! earliest receive that it matches. Both are kept per sender, so that one is found among those of
//! its sender and of the receives from anybody.
#![forbid(unsafe_code)]

use std::collections::VecDeque;

use super::Envelope;
use super::packet::Packet;

/// A receive that no message has matched.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub context: u32,
    pub from: Option<u32>,
    pub tag: Option<i32>,
    pub flight: u32,
}

impl Posted {
    #[inline]
    fn takes(&self, context: u32, tag: i32) -> bool {
        self.context == context && self.tag.is_none_or(|wanted| wanted == tag)
    }
}

/// A message that no receive has taken.
#[derive(Debug)]
pub struct Arrived {
    pub context: u32,
    pub from: u32,
    pub tag: i32,
    pub body: Body,
    order: u64,
}

/// Its bytes, or where they are.
#[derive(Debug)]
pub enum Body {
    /// Here.
    Bytes(Box<[u8]>),
    /// Here; the sender's flight waits for it to be received.
    Sync(Box<[u8]>, u32),
    /// With the sender.
    Announced {
        bytes: usize,
        address: u64,
        theirs: u32,
    },
}

impl Arrived {
    pub fn new(from: u32, packet: Packet, body: Body) -> Self {
        Self {
            context: packet.context,
            from,
            tag: packet.tag,
            body,
            order: 0,
        }
    }

    pub fn envelope(&self) -> Envelope {
        let bytes = match &self.body {
            Body::Bytes(bytes) | Body::Sync(bytes, _) => bytes.len(),
            Body::Announced { bytes, .. } => *bytes,
        };
        Envelope {
            from: self.from,
            tag: self.tag,
            bytes,
        }
    }
}

/// All receives without a message and all messages without a receive.
#[derive(Debug)]
pub struct Queues {
    /// Receives from one sender, by sender; each with its number in the order of all.
    posted: Vec<VecDeque<(u64, Posted)>>,
    /// Receives from anybody.
    from_any: VecDeque<(u64, Posted)>,
    /// How many of both there are.
    waiting: usize,
    arrived: Vec<VecDeque<Arrived>>,
    /// Messages in `arrived`.
    kept: usize,
    /// How many they were at most.
    kept_max: usize,
    next: u64,
}

impl Queues {
    pub fn new(ranks: u32) -> Self {
        Self {
            posted: (0..ranks).map(|_| VecDeque::new()).collect(),
            from_any: VecDeque::new(),
            waiting: 0,
            arrived: (0..ranks).map(|_| VecDeque::new()).collect(),
            kept: 0,
            kept_max: 0,
            next: 0,
        }
    }

    /// Makes room for as many ranks.
    pub fn grow(&mut self, ranks: usize) {
        self.posted.resize_with(ranks, VecDeque::new);
        self.arrived.resize_with(ranks, VecDeque::new);
    }

    /// Receives that no message has matched: those from one sender first.
    pub fn posted(&self) -> impl Iterator<Item = &Posted> {
        let all = self.posted.iter().flatten().chain(&self.from_any);
        all.map(|(_, posted)| posted)
    }

    /// The same in the order in which they were posted.
    pub fn in_order(&self) -> Vec<&Posted> {
        let mut all: Vec<_> = self.posted.iter().flatten().chain(&self.from_any).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, posted)| posted).collect()
    }

    /// How many they are.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether a message of this rank would have to be looked for, or looked at by others.
    #[inline]
    pub fn concern(&self, from: u32) -> bool {
        self.kept > 0 || !self.from_any.is_empty() || !self.posted[from as usize].is_empty()
    }

    /// The message that this receive takes; if there is none the receive waits for one.
    #[inline(always)]
    pub fn post(&mut self, posted: Posted) -> Option<Arrived> {
        if self.kept > 0
            && let Some(arrived) = self.take(posted.context, posted.from, posted.tag)
        {
            return Some(arrived);
        }
        self.next += 1;
        let queue = match posted.from {
            Some(from) => &mut self.posted[from as usize],
            None => &mut self.from_any,
        };
        queue.push_back((self.next, posted));
        self.waiting += 1;
        None
    }

    /// The receive that takes such a message; it waits no more.
    #[inline]
    pub fn matching(&mut self, context: u32, from: u32, tag: i32) -> Option<u32> {
        if self.from_any.is_empty() {
            // Messages mostly come in the order of the receives for them.
            let queue = &mut self.posted[from as usize];
            let (_, first) = queue.front()?;
            if first.takes(context, tag) {
                self.waiting -= 1;
                return queue.pop_front().map(|(_, posted)| posted.flight);
            }
        }
        self.search(context, from, tag)
    }

    /// [`Queues::matching`], among all that wait.
    fn search(&mut self, context: u32, from: u32, tag: i32) -> Option<u32> {
        let find = |queue: &VecDeque<(u64, Posted)>| {
            let at = queue
                .iter()
                .position(|(_, posted)| posted.takes(context, tag))?;
            Some((queue[at].0, at))
        };
        let queue = &mut self.posted[from as usize];
        let of_sender = find(queue);
        let of_any = find(&self.from_any);
        let (queue, at) = match (of_sender, of_any) {
            (None, None) => return None,
            (Some((first, at)), of_any) if of_any.is_none_or(|(second, _)| first < second) => {
                (queue, at)
            }
            (_, Some((_, at))) => (&mut self.from_any, at),
            (Some(_), None) => unreachable!("the guard holds where there is no other"),
        };
        let (_, posted) = match at {
            0 => queue.pop_front()?,
            at => queue.remove(at)?,
        };
        self.waiting -= 1;
        Some(posted.flight)
    }

    /// Keeps a message until a receive takes it.
    pub fn keep(&mut self, mut arrived: Arrived) {
        self.next += 1;
        arrived.order = self.next;
        self.kept += 1;
        self.kept_max = self.kept_max.max(self.kept);
        self.arrived[arrived.from as usize].push_back(arrived);
    }

    /// Messages that no receive has taken.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// How many they were at most since [`Queues::forget_kept_max`].
    pub fn kept_max(&self) -> usize {
        self.kept_max
    }

    /// Begins [`Queues::kept_max`] anew, with those of now.
    pub fn forget_kept_max(&mut self) {
        self.kept_max = self.kept;
    }

    /// Whether a message like this waits for a receive.
    #[inline]
    pub fn keeps(&self, context: u32, from: u32, tag: i32) -> bool {
        self.kept != 0 && self.find(context, Some(from), Some(tag)).is_some()
    }

    /// The message that a receive of this kind would take.
    pub fn peek(&self, context: u32, from: Option<u32>, tag: Option<i32>) -> Option<&Arrived> {
        let (from, at) = self.find(context, from, tag)?;
        self.arrived[from].get(at)
    }

    /// All messages of a context and a tag that no receive has taken.
    pub fn of(&self, context: u32, tag: i32) -> impl Iterator<Item = &Arrived> {
        let queues = match self.kept {
            0 => &[][..],
            _ => &self.arrived,
        };
        let all = queues.iter().flatten();
        all.filter(move |arrived| arrived.context == context && arrived.tag == tag)
    }

    /// Takes it out.
    pub fn take(&mut self, context: u32, from: Option<u32>, tag: Option<i32>) -> Option<Arrived> {
        let (from, at) = self.find(context, from, tag)?;
        self.kept -= 1;
        self.arrived[from].remove(at)
    }

    /// Takes a receive back that no message has matched; whether there was one.
    pub fn withdraw(&mut self, flight: u32) -> bool {
        let queues = self.posted.iter_mut().chain([&mut self.from_any]);
        for queue in queues {
            if let Some(at) = queue.iter().position(|(_, posted)| posted.flight == flight) {
                queue.remove(at);
                self.waiting -= 1;
                return true;
            }
        }
        false
    }

    fn find(&self, context: u32, from: Option<u32>, tag: Option<i32>) -> Option<(usize, usize)> {
        if self.kept == 0 {
            return None;
        }
        let wanted = Posted {
            context,
            from,
            tag,
            flight: 0,
        };
        let first_of = |from: usize| {
            let mut queue = self.arrived[from].iter();
            queue.position(|arrived| wanted.takes(arrived.context, arrived.tag))
        };
        match from {
            Some(from) => Some((from as usize, first_of(from as usize)?)),
            None => (0..self.arrived.len())
                .filter_map(|from| Some((from, first_of(from)?)))
                .min_by_key(|&(from, at)| self.arrived[from][at].order),
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the standard says (MPI 5.0, 3.5 and 3.8): one list of receives and one of messages, both in
    /// order.
    #[derive(Default)]
    struct Model {
        posted: Vec<Posted>,
        /// Context, sender, tag and number.
        arrived: Vec<(u32, u32, i32, usize)>,
    }

    fn matches(posted: &Posted, context: u32, from: u32, tag: i32) -> bool {
        let is_from = posted.from.is_none_or(|wanted| wanted == from);
        is_from && posted.context == context && posted.tag.is_none_or(|wanted| wanted == tag)
    }

    impl Model {
        fn first(&self, posted: &Posted) -> Option<usize> {
            let mut arrived = self.arrived.iter();
            arrived.position(|&(context, from, tag, _)| matches(posted, context, from, tag))
        }
    }

    #[derive(Clone, Debug)]
    enum Act {
        Post(u32, Option<u32>, Option<i32>),
        Arrive(u32, u32, i32),
        Probe(u32, Option<u32>, Option<i32>),
        Take(u32, Option<u32>, Option<i32>),
        /// The receive with this number, if it still waits.
        Withdraw(u32),
        Grow,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let (context, from, tag) = (0_u32..2, 0_u32..4, 0_i32..3);
        let any_from = prop::option::of(from.clone());
        let any_tag = prop::option::of(tag.clone());
        let wish = (context.clone(), any_from, any_tag);
        let act = prop_oneof![
            4 => wish.clone().prop_map(|(context, from, tag)| Act::Post(context, from, tag)),
            4 => (context, from, tag).prop_map(|(context, from, tag)| Act::Arrive(context, from, tag)),
            1 => wish.clone().prop_map(|(context, from, tag)| Act::Probe(context, from, tag)),
            1 => wish.prop_map(|(context, from, tag)| Act::Take(context, from, tag)),
            1 => (0_u32..40).prop_map(Act::Withdraw),
            1 => Just(Act::Grow),
        ];
        prop::collection::vec(act, 0..80)
    }

    /// The number that went with a message.
    fn number(arrived: &Arrived) -> usize {
        match arrived.body {
            Body::Announced { bytes, .. } => bytes,
            _ => unreachable!("all are announced"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Every receive gets the message that it gets by the letter of the standard, whatever else waits.
        #[test]
        fn receives_and_messages_meet_as_in_one_list_of_each(acts in acts()) {
            let (mut queues, mut model) = (Queues::new(4), Model::default());
            let (mut ranks, mut flights) = (4, 0);
            for (number_of, act) in acts.into_iter().enumerate() {
                match act {
                    Act::Post(context, from, tag) => {
                        let posted = Posted { context, from, tag, flight: flights };
                        flights += 1;
                        let expected = model.first(&posted).map(|at| model.arrived.remove(at).3);
                        if expected.is_none() {
                            model.posted.push(posted);
                        }
                        let found = queues.post(posted);
                        prop_assert_eq!(found.as_ref().map(number), expected);
                    }
                    Act::Arrive(context, from, tag) => {
                        let mut posted = model.posted.iter();
                        let at = posted.position(|posted| matches(posted, context, from, tag));
                        let expected = at.map(|at| model.posted.remove(at).flight);
                        prop_assert!(queues.concern(from) || expected.is_none());
                        prop_assert_eq!(queues.matching(context, from, tag), expected);
                        if expected.is_none() {
                            model.arrived.push((context, from, tag, number_of));
                            let body = Body::Announced { bytes: number_of, address: 0, theirs: 0 };
                            queues.keep(Arrived { context, from, tag, body, order: 0 });
                        }
                    }
                    Act::Probe(context, from, tag) => {
                        let wish = Posted { context, from, tag, flight: 0 };
                        let expected = model.first(&wish).map(|at| model.arrived[at].3);
                        prop_assert_eq!(queues.peek(context, from, tag).map(number), expected);
                    }
                    Act::Take(context, from, tag) => {
                        let wish = Posted { context, from, tag, flight: 0 };
                        let expected = model.first(&wish).map(|at| model.arrived.remove(at).3);
                        let taken = queues.take(context, from, tag);
                        prop_assert_eq!(taken.as_ref().map(number), expected);
                    }
                    Act::Withdraw(flight) => {
                        let at = model.posted.iter().position(|posted| posted.flight == flight);
                        if let Some(at) = at {
                            model.posted.remove(at);
                        }
                        prop_assert_eq!(queues.withdraw(flight), at.is_some());
                    }
                    Act::Grow => {
                        ranks += 1;
                        queues.grow(ranks);
                    }
                }
                prop_assert_eq!(queues.kept(), model.arrived.len());
                let in_order = queues.in_order().into_iter().map(|posted| posted.flight);
                let expected = model.posted.iter().map(|posted| posted.flight);
                prop_assert!(in_order.eq(expected));
                prop_assert_eq!(queues.posted().count(), model.posted.len());
                prop_assert_eq!(queues.waiting(), model.posted.len());
            }
        }
    }
}
