// SPDX-License-Identifier: MIT OR Apache-2.0
//! A collective of short messages that somebody else carries on, as a value.
//!
//! In virtual time a rank's process sleeps whenever it waits, and to wake it takes the host longer than to
//! simulate the message that it waited for. So it gives what is left of a collective away
//! ([`crate::transport::Carrier`]), and has it back complete, or as far as it came when something came for
//! the rank that is not of this collective. Whoever carries it on sends the same messages in the same order
//! and waits for the same ones as [`super::Run`] does.
//!
//! All bytes lie in one image, whatever region of a program they are of; ranks are those of the world.
#![forbid(unsafe_code)]

use crate::engine::Eager;
use crate::op::kernel_of_code;
use crate::transport::Head;

/// A range of the image.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Part {
    /// Where it begins.
    pub offset: u32,
    /// How long it is.
    pub bytes: u32,
}

/// One thing to do, as an act of a [`super::program::Program`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// Send to a rank.
    Send(u32, Part),
    /// Begin to receive from a rank.
    Recv(u32, Part),
    /// Wait for the message of this number.
    Wait(u32),
    /// Combine: the left operand begins here, and the part is the right one and the result.
    Combine(u32, Part),
    /// Copy what begins here.
    Copy(u32, Part),
}

/// A receive that no message has come for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Open {
    /// Its number among the messages of the collective.
    pub post: u32,
    /// Who sends.
    pub from: u32,
    /// Where it goes.
    pub part: Part,
}

/// A message of another length than the receive for it expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unfit {
    /// The receive's number.
    pub post: u32,
    /// Bytes that came.
    pub bytes: u32,
}

/// What was done meanwhile, for the counters of the rank's engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Done {
    /// Messages that were sent.
    pub sent: u32,
    /// Their bytes.
    pub sent_bytes: u32,
    /// Messages that have come.
    pub arrived: u32,
    /// Of those the ones that no receive waited for.
    pub unexpected: u32,
}

/// See the module's documentation.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Carried {
    /// Which messages are its own.
    pub context: u32,
    /// As well.
    pub tag: i32,
    /// The operator ([`kernel_of_code`]); 0 where nothing is combined.
    pub operator: u32,
    /// What is left to do; of one that is given back nothing, since who has given it away knows it.
    pub tasks: Vec<Task>,
    /// How many of them are done.
    pub next: u32,
    /// Messages that have begun so far, those before `tasks` included.
    pub posts: u32,
    /// Receives that wait, in the order in which they began.
    pub open: Vec<Open>,
    /// Messages that have come before their receives: sender and bytes.
    pub early: Vec<(u32, Box<[u8]>)>,
    /// What ended it.
    pub unfit: Option<Unfit>,
    /// See there.
    pub done: Done,
    /// All bytes.
    pub image: Vec<u8>,
}

/// Bytes of early messages that it takes at most: with them, too, it is given back in one piece.
pub const EARLY_MAX: usize = 16 << 10;

/// How far [`Carried::advance`] came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// It waits for a message.
    Waits,
    /// It is complete, or a message does not fit.
    Ended,
}

impl Carried {
    /// Goes on until it waits; what it sends goes to `send`: receiver, head, body.
    pub fn advance(&mut self, send: &mut dyn FnMut(u32, Head, &[u8])) -> Pace {
        while let Some(&task) = self.tasks.get(self.next as usize) {
            if self.unfit.is_some() {
                return Pace::Ended;
            }
            match task {
                Task::Send(to, part) => {
                    let head = Eager::of(self.context, self.tag).head();
                    send(to, head, &self.image[part.range()]);
                    self.posts += 1;
                    self.done.sent += 1;
                    self.done.sent_bytes += part.bytes;
                }
                Task::Recv(from, part) => {
                    let post = self.posts;
                    self.posts += 1;
                    self.open.push(Open { post, from, part });
                    let early = self.early.iter().position(|(sender, _)| *sender == from);
                    if let Some(early) = early {
                        let (_, body) = self.early.remove(early);
                        self.fill(self.open.len() - 1, &body);
                    }
                }
                Task::Wait(post) => {
                    if self.open.iter().any(|open| open.post == post) {
                        return Pace::Waits;
                    }
                }
                Task::Combine(left, into) => {
                    let left = self.image[into.from(left).range()].to_vec();
                    if let Some(kernel) = kernel_of_code(self.operator) {
                        kernel(&mut self.image[into.range()], &left);
                    }
                }
                Task::Copy(from, into) => {
                    let from = into.from(from).range();
                    self.image.copy_within(from, into.offset as usize);
                }
            }
            self.next += 1;
        }
        Pace::Ended
    }

    /// Whether a packet with this head is a message of it.
    #[must_use]
    pub fn is_own(&self, head: Head) -> bool {
        Eager::read(head) == Some(Eager::of(self.context, self.tag))
    }

    /// Whether a packet that is not of it can lie until it is given back: nothing goes on in the process that
    /// a short message would move.
    #[must_use]
    pub fn holds(head: Head) -> bool {
        Eager::read(head).is_some()
    }

    /// Whether there is room for a message of it: where all ranks agree on lengths there always is, since who
    /// gives a collective away knows them.
    #[must_use]
    pub fn has_room(&self, from: u32, body: &[u8]) -> bool {
        let is_awaited = self.open.iter().any(|open| open.from == from);
        is_awaited || self.early_bytes() + body.len() <= EARLY_MAX
    }

    /// Takes a message of it.
    pub fn arrive(&mut self, from: u32, body: &[u8]) {
        self.done.arrived += 1;
        match self.open.iter().position(|open| open.from == from) {
            Some(open) => self.fill(open, body),
            None => {
                self.done.unexpected += 1;
                self.early.push((from, body.into()));
            }
        }
    }

    fn fill(&mut self, open: usize, body: &[u8]) {
        let Open { post, part, .. } = self.open.remove(open);
        if body.len() == part.bytes as usize {
            self.image[part.range()].copy_from_slice(body);
        } else {
            let bytes = body.len() as u32;
            self.unfit.get_or_insert(Unfit { post, bytes });
        }
    }

    /// Bytes of messages that have come before their receives.
    #[must_use]
    pub fn early_bytes(&self) -> usize {
        self.early.iter().map(|(_, body)| body.len()).sum()
    }
}

impl Part {
    /// Where it lies.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        let start = self.offset as usize;
        start..start + self.bytes as usize
    }

    /// As many bytes that begin elsewhere.
    fn from(self, offset: u32) -> Self {
        Self { offset, ..self }
    }

    fn is_within(self, bytes: usize) -> bool {
        let end = u64::from(self.offset) + u64::from(self.bytes);
        end <= bytes as u64
    }
}

impl Task {
    fn words(self) -> [u32; 4] {
        let (kind, number, part) = match self {
            Self::Send(to, part) => (0, to, part),
            Self::Recv(from, part) => (1, from, part),
            Self::Wait(post) => (2, post, Part::default()),
            Self::Combine(left, into) => (3, left, into),
            Self::Copy(from, into) => (4, from, into),
        };
        [kind, number, part.offset, part.bytes]
    }

    /// The inverse of [`Task::words`], if all of it lies in an image of so many bytes.
    fn read([kind, number, offset, bytes]: [u32; 4], image: usize) -> Option<Self> {
        let part = Part { offset, bytes };
        let task = match kind {
            0 => Self::Send(number, part),
            1 => Self::Recv(number, part),
            2 => Self::Wait(number),
            3 => Self::Combine(number, part),
            4 => Self::Copy(number, part),
            _ => return None,
        };
        let operand = match task {
            Self::Combine(..) | Self::Copy(..) => part.from(number),
            _ => part,
        };
        (part.is_within(image) && operand.is_within(image)).then_some(task)
    }
}

/// Words of which the first says how many of everything there are.
const HEAD_WORDS: usize = 15;
const TASK_WORDS: usize = 4;
const OPEN_WORDS: usize = 4;

/// Bytes of one with so many tasks, open receives and bytes of its image, without early messages.
#[must_use]
pub fn carried_bytes(tasks: usize, open: usize, image: usize) -> usize {
    4 * (HEAD_WORDS + TASK_WORDS * tasks + OPEN_WORDS * open) + image.next_multiple_of(4)
}

/// Bytes that early messages take beside that.
#[must_use]
pub fn early_bytes(messages: usize, bytes: usize) -> usize {
    (8 + 3) * messages + bytes
}

impl Carried {
    /// As bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let early = early_bytes(self.early.len(), self.early_bytes());
        let bytes = carried_bytes(self.tasks.len(), self.open.len(), self.image.len()) + early;
        let mut out = Vec::with_capacity(bytes);
        let mut put = |word: u32| out.extend_from_slice(&word.to_le_bytes());
        let unfit = self.unfit.map_or([u32::MAX, 0], |it| [it.post, it.bytes]);
        let Done {
            sent,
            sent_bytes,
            arrived,
            unexpected,
        } = self.done;
        let head: [u32; HEAD_WORDS] = [
            self.tasks.len() as u32,
            self.open.len() as u32,
            self.early.len() as u32,
            self.image.len() as u32,
            self.context,
            self.tag as u32,
            self.operator,
            self.next,
            self.posts,
            unfit[0],
            unfit[1],
            sent,
            sent_bytes,
            arrived,
            unexpected,
        ];
        head.into_iter().for_each(&mut put);
        let tasks = self.tasks.iter().flat_map(|task| task.words());
        tasks.for_each(&mut put);
        for &Open { post, from, part } in &self.open {
            [post, from, part.offset, part.bytes]
                .into_iter()
                .for_each(&mut put);
        }
        let mut bytes_of = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            out.resize(out.len().next_multiple_of(4), 0);
        };
        bytes_of(&self.image);
        for (from, body) in &self.early {
            bytes_of(&from.to_le_bytes());
            bytes_of(&(body.len() as u32).to_le_bytes());
            bytes_of(body);
        }
        out
    }

    /// The inverse of [`Carried::write`]; `None` for bytes that are none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let head = reader.words::<HEAD_WORDS>()?;
        let [tasks, open, early, image] =
            [head[0], head[1], head[2], head[3]].map(|it| it as usize);
        let tasks = (0..tasks)
            .map(|_| Task::read(reader.words::<TASK_WORDS>()?, image))
            .collect::<Option<_>>()?;
        let open = (0..open)
            .map(|_| {
                let [post, from, offset, bytes] = reader.words()?;
                let part = Part { offset, bytes };
                let is_within = part.is_within(image);
                is_within.then_some(Open { post, from, part })
            })
            .collect::<Option<_>>()?;
        let image = reader.bytes(image)?.to_vec();
        let early = (0..early)
            .map(|_| {
                let [from, bytes] = reader.words()?;
                Some((from, reader.bytes(bytes as usize)?.into()))
            })
            .collect::<Option<_>>()?;
        Some(Self {
            context: head[4],
            tag: head[5] as i32,
            operator: head[6],
            tasks,
            next: head[7],
            posts: head[8],
            open,
            early,
            unfit: (head[9] != u32::MAX).then_some(Unfit {
                post: head[9],
                bytes: head[10],
            }),
            done: Done {
                sent: head[11],
                sent_bytes: head[12],
                arrived: head[13],
                unexpected: head[14],
            },
            image,
        })
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn words<const N: usize>(&mut self) -> Option<[u32; N]> {
        let (words, rest) = self.0.split_at_checked(4 * N)?;
        self.0 = rest;
        let (words, _) = words.as_chunks::<4>();
        Some(std::array::from_fn(|at| u32::from_le_bytes(words[at])))
    }

    fn bytes(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (all, rest) = self.0.split_at_checked(bytes.next_multiple_of(4))?;
        self.0 = rest;
        Some(&all[..bytes])
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::datatype::Type;
    use crate::handle::{OpId, TypeId};
    use crate::op::Op;

    fn sum() -> u32 {
        let (sum, long) = (Op::named(OpId::SUM), Type::named(TypeId::INT));
        sum.unwrap().kernel_code(&long.unwrap()).unwrap()
    }

    fn part(offset: u32, bytes: u32) -> Part {
        Part { offset, bytes }
    }

    fn send_nothing(to: u32, _: Head, body: &[u8]) {
        panic!("{} bytes for {to}", body.len());
    }

    #[test]
    fn it_goes_on_with_what_it_waits_for_and_with_what_came_before() {
        let mut carried = Carried {
            context: 3,
            tag: 7,
            operator: sum(),
            tasks: vec![
                Task::Recv(2, part(4, 4)),
                Task::Wait(1),
                Task::Combine(4, part(0, 4)),
                Task::Send(9, part(0, 4)),
                Task::Wait(0),
                Task::Combine(8, part(0, 4)),
                Task::Copy(0, part(4, 4)),
            ],
            posts: 1,
            open: vec![Open {
                post: 0,
                from: 5,
                part: part(8, 4),
            }],
            image: [1_i32, 0, 0]
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect(),
            ..Carried::default()
        };
        assert!(carried.is_own(Eager::of(3, 7).head()));
        assert!(!carried.is_own(Eager::of(3, 8).head()));
        assert!(Carried::holds(Eager::of(3, 8).head()));
        carried.arrive(2, &10_i32.to_le_bytes());
        let mut sent = Vec::new();
        let pace = carried.advance(&mut |to, head, body| sent.push((to, head, body.to_vec())));
        assert_eq!(pace, Pace::Waits);
        let eleven = 11_i32.to_le_bytes().to_vec();
        assert_eq!(sent, [(9, Eager::of(3, 7).head(), eleven)]);
        carried.arrive(5, &100_i32.to_le_bytes());
        assert_eq!(carried.advance(&mut send_nothing), Pace::Ended);
        let words: Vec<i32> = carried
            .image
            .as_chunks::<4>()
            .0
            .iter()
            .map(|it| i32::from_le_bytes(*it))
            .collect();
        assert_eq!(words, [111, 111, 100]);
        let done = Done {
            sent: 1,
            sent_bytes: 4,
            arrived: 2,
            unexpected: 1,
        };
        assert_eq!((carried.next, carried.posts, carried.done), (7, 3, done));
    }

    #[test]
    fn a_message_of_another_length_ends_it_and_writes_nothing() {
        let mut carried = Carried {
            tasks: vec![Task::Recv(2, part(0, 4)), Task::Wait(0)],
            image: vec![1; 4],
            ..Carried::default()
        };
        assert_eq!(carried.advance(&mut send_nothing), Pace::Waits);
        carried.arrive(2, &[9; 5]);
        assert_eq!(carried.advance(&mut send_nothing), Pace::Ended);
        assert_eq!(carried.unfit, Some(Unfit { post: 0, bytes: 5 }));
        assert_eq!(carried.image, [1; 4]);
    }

    fn parts() -> impl Strategy<Value = Part> {
        (0..8_u32, 0..8_u32).prop_map(|(offset, bytes)| part(offset, bytes))
    }

    fn tasks() -> impl Strategy<Value = Task> {
        (0..5_u8, 0..8_u32, parts()).prop_map(|(kind, number, part)| match kind {
            0 => Task::Send(number, part),
            1 => Task::Recv(number, part),
            2 => Task::Wait(number),
            3 => Task::Combine(number, part),
            _ => Task::Copy(number, part),
        })
    }

    prop_compose! {
        fn any_carried()(
            tasks in prop::collection::vec(tasks(), 0..6),
            open in prop::collection::vec((any::<u32>(), 0..4_u32, parts()), 0..4),
            early in prop::collection::vec((0..4_u32, prop::collection::vec(any::<u8>(), 0..9)), 0..4),
            image in prop::collection::vec(any::<u8>(), 15..20),
            numbers: [u32; 8], tag: i32, unfit: Option<u16>,
        ) -> Carried {
            Carried {
                context: numbers[0], tag, operator: numbers[1], tasks,
                next: numbers[2], posts: numbers[3],
                open: open.into_iter().map(|(post, from, part)| Open { post, from, part }).collect(),
                early: early.into_iter().map(|(from, body)| (from, body.into())).collect(),
                unfit: unfit.map(|post| Unfit { post: post.into(), bytes: 1 }),
                done: Done {
                    sent: numbers[4], sent_bytes: numbers[5], arrived: numbers[6],
                    unexpected: numbers[7],
                },
                image,
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(carried in any_carried()) {
            let bytes = carried.write();
            let most = carried_bytes(carried.tasks.len(), carried.open.len(), carried.image.len())
                + early_bytes(carried.early.len(), carried.early_bytes());
            prop_assert!(bytes.len() <= most);
            prop_assert_eq!(Carried::read(&bytes), Some(carried));
        }

        /// Whatever a process has written: it is refused, or carried on within its image.
        #[test]
        fn wrong_bytes_do_no_harm(
            carried in any_carried(), wrong in prop::collection::vec((any::<u16>(), any::<u8>()), 0..6),
            came in prop::collection::vec((0..4_u32, 0..9_usize), 0..6),
        ) {
            let carried = Carried { next: 0, posts: 0, done: Done::default(), ..carried };
            let mut bytes = carried.write();
            for (at, byte) in wrong {
                let at = usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
            if let Some(mut read) = Carried::read(&bytes) {
                for (from, length) in came {
                    read.advance(&mut |_, _, _| {});
                    read.arrive(from, &vec![7; length]);
                }
            }
        }
    }
}
