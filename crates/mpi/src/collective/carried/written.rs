// SPDX-License-Identifier: MIT OR Apache-2.0
//! A collective that is carried on, as bytes.

use super::{Carried, Done, Early, Ended, Part, Stage, Task, Terms, UnderWay};

impl Task {
    fn words(self) -> [u32; TASK_WORDS] {
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
    fn read([kind, number, offset, bytes]: [u32; TASK_WORDS], image: usize) -> Option<Self> {
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

impl UnderWay {
    fn words(self) -> [u32; UNDER_WAY_WORDS] {
        let Part { offset, bytes } = self.part;
        let [kind, name, got] = match self.stage {
            Stage::Posted => [0, 0, 0],
            Stage::Coming { name, got } => [1, name, got],
            Stage::Announced { name } => [2, name, 0],
        };
        let Self {
            post,
            peer,
            context,
            tag,
            ..
        } = self;
        let tag = tag.cast_unsigned();
        [post, peer, context, tag, offset, bytes, kind, name, got]
    }

    /// As [`Task::read`].
    fn read(words: [u32; UNDER_WAY_WORDS], image: usize) -> Option<Self> {
        let [post, peer, context, tag, offset, bytes, kind, name, got] = words;
        let part = Part { offset, bytes };
        let stage = match kind {
            0 => Stage::Posted,
            1 if got < bytes => Stage::Coming { name, got },
            2 => Stage::Announced { name },
            _ => return None,
        };
        part.is_within(image).then_some(Self {
            post,
            peer,
            context,
            tag: tag.cast_signed(),
            part,
            stage,
        })
    }
}

/// Words of which the first says how many of everything there are.
const HEAD_WORDS: usize = 22;
const TASK_WORDS: usize = 4;
const UNDER_WAY_WORDS: usize = 9;
const ENDED_WORDS: usize = 4;
/// Whatever has ended was under way, and takes no more.
const _: () = assert!(ENDED_WORDS <= UNDER_WAY_WORDS);
const EARLY_WORDS: usize = 4;

/// Bytes of one with so many tasks and messages under way, without early messages.
#[must_use]
pub fn carried_bytes(tasks: usize, under_way: usize) -> usize {
    4 * (HEAD_WORDS + TASK_WORDS * tasks + UNDER_WAY_WORDS * under_way)
}

/// Bytes that early messages take beside that.
#[must_use]
pub fn early_bytes(messages: usize, bytes: usize) -> usize {
    (4 * EARLY_WORDS + 3) * messages + bytes
}

impl Carried {
    /// As bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        debug_assert!(self.replies.is_empty(), "what others wait for is sent");
        let early = early_bytes(self.early.len(), self.early_bytes());
        let messages = self.under_way.len() + self.ended.len();
        let bytes = carried_bytes(self.tasks.len(), messages) + early;
        let mut out = Vec::with_capacity(bytes);
        let mut put = |word: u32| out.extend_from_slice(&word.to_le_bytes());
        let Terms {
            short,
            packet,
            is_alone,
            name,
        } = self.terms;
        let done = &self.done;
        let head: [u32; HEAD_WORDS] = [
            self.tasks.len() as u32,
            self.under_way.len() as u32,
            self.early.len() as u32,
            self.image,
            self.context,
            self.tag as u32,
            self.operator,
            self.next,
            self.posts,
            short,
            packet,
            is_alone.into(),
            name,
            done.sent,
            done.sent_bytes,
            done.arrived,
            done.unexpected,
            done.announced,
            done.announced_bytes,
            done.streamed,
            done.streamed_bytes,
            self.ended.len() as u32,
        ];
        head.into_iter().for_each(&mut put);
        let tasks = self.tasks.iter().flat_map(|task| task.words());
        tasks.for_each(&mut put);
        let under_way = self.under_way.iter().flat_map(|message| message.words());
        under_way.for_each(&mut put);
        for ended in &self.ended {
            let tag = ended.tag.cast_unsigned();
            for word in [ended.post, ended.peer, tag, ended.bytes] {
                put(word);
            }
        }
        let mut bytes_of = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            out.resize(out.len().next_multiple_of(4), 0);
        };
        for (from, early) in &self.early {
            let (words, body): ([u32; EARLY_WORDS], &[u8]) = match early {
                Early::Bytes(body) => ([*from, 0, body.len() as u32, 0], body),
                Early::Announced { bytes, name } => ([*from, 1, *bytes, *name], &[]),
            };
            for word in words {
                bytes_of(&word.to_le_bytes());
            }
            bytes_of(body);
        }
        out
    }

    /// The inverse of [`Carried::write`]; `None` for bytes that are none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let head = reader.words::<HEAD_WORDS>()?;
        let [tasks, under_way, early, image] =
            [head[0], head[1], head[2], head[3]].map(|it| it as usize);
        let tasks = (0..tasks)
            .map(|_| Task::read(reader.words()?, image))
            .collect::<Option<_>>()?;
        let under_way = (0..under_way)
            .map(|_| UnderWay::read(reader.words()?, image))
            .collect::<Option<_>>()?;
        let ended = (0..head[21])
            .map(|_| {
                let [post, peer, tag, bytes] = reader.words::<ENDED_WORDS>()?;
                let tag = tag.cast_signed();
                Some(Ended {
                    post,
                    peer,
                    tag,
                    bytes,
                })
            })
            .collect::<Option<_>>()?;
        let early = (0..early)
            .map(|_| {
                let [from, kind, bytes, name] = reader.words()?;
                let early = match kind {
                    0 => Early::Bytes(reader.bytes(bytes as usize)?.into()),
                    1 if bytes > 0 => Early::Announced { bytes, name },
                    _ => return None,
                };
                Some((from, early))
            })
            .collect::<Option<_>>()?;
        let terms = Terms {
            short: head[9],
            packet: head[10],
            is_alone: head[11] != 0,
            name: head[12],
        };
        (terms.packet > 0).then_some(Self {
            context: head[4],
            tag: head[5] as i32,
            operator: head[6],
            terms,
            tasks,
            next: head[7],
            posts: head[8],
            under_way,
            ended,
            early,
            done: Done {
                sent: head[13],
                sent_bytes: head[14],
                arrived: head[15],
                unexpected: head[16],
                announced: head[17],
                announced_bytes: head[18],
                streamed: head[19],
                streamed_bytes: head[20],
            },
            image: head[3],
            replies: Vec::new(),
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
