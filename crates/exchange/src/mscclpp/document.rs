// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a plan with whom they reach, and nothing of what they mean together.

use corecast_text::{did_you_mean, quoted};

use super::names::{self, Channel, ChannelKind, Name};
use super::turns::{self, Made, Pipeline, Written};
use crate::error::Fault;
use crate::json::{Json, Text};
use crate::places::Buffer;

/// Most chunks of a buffer, and most of whatever else is numbered.
const NUMBER_MAX: u32 = 1 << 24;

/// Most bytes of a turn of a pipeline.
const UNIT_MAX: u32 = 1 << 30;

/// Most thread blocks that share one operation.
const SHARERS_MAX: u32 = 1 << 10;

/// A plan.
#[derive(Debug)]
pub(super) struct Plan {
    pub name: String,
    pub collective: String,
    /// Where that is.
    pub collective_line: u32,
    pub is_in_place: bool,
    pub gpus: Vec<Gpu>,
    /// Bytes of a chunk, where operations are repeated as often as it takes.
    pub chunk_bytes: Option<u64>,
    /// What it says to its executor and a schedule does not.
    pub said: Vec<String>,
    pub line: u32,
}

/// A rank.
#[derive(Debug)]
pub(super) struct Gpu {
    /// Chunks of input, output and scratch memory.
    pub chunks: [u32; 3],
    pub blocks: Vec<Vec<Operation>>,
    /// The peer of every channel of a kind.
    pub channels: [Vec<u32>; 2],
    /// With which value every semaphore begins.
    pub semaphores: Vec<u32>,
    pub line: u32,
}

/// What a gpu has before it is known how long a chunk is.
struct Described {
    gpu: Gpu,
    blocks: Vec<Vec<Written>>,
}

/// An operation of a thread block.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub name: Name,
    pub source: Vec<Span>,
    pub target: Vec<Span>,
    /// Channels by their numbers at the rank.
    pub channels: Vec<u32>,
    pub kind: Option<ChannelKind>,
    /// Which part of the data the thread block takes, or the turn of a pipeline, of how many.
    pub share: (u32, u32),
    /// Semaphores.
    pub semaphores: Vec<u32>,
    /// A barrier, and how many thread blocks it is for.
    pub barrier: Option<(u32, u32)>,
    /// Whether a switch does it.
    pub is_of_switch: bool,
    /// By which operator it reduces.
    pub reduces_by: Option<String>,
    pub line: u32,
}

/// Neighbouring chunks of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Whose buffer; none for one's own.
    pub peer: Option<u32>,
    pub buffer: Buffer,
    pub first: u32,
    pub size: u32,
    pub line: u32,
}

/// An object of which every key is known.
struct Object<'a> {
    at: Json<'a>,
    what: &'static str,
    entries: Vec<(String, Json<'a>)>,
}

impl<'a> Object<'a> {
    fn new(at: Json<'a>, what: &'static str, known: &[&'static str]) -> Result<Self, Fault> {
        let entries = at.entries(&format!("{what} is an object"))?;
        for (key, value) in &entries {
            if !known.contains(&&**key) {
                let wrong = format!("`{}` is nothing that {what} is known to have", quoted(key));
                let right = format!("keys are {}{}", known.join(", "), did_you_mean(key, known));
                return Err(value.fault(wrong, right));
            }
        }
        Ok(Self { at, what, entries })
    }

    fn get(&self, key: &str) -> Option<Json<'a>> {
        let found = self.entries.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| *value)
    }

    fn need(&self, key: &str) -> Result<Json<'a>, Fault> {
        self.get(key).ok_or_else(|| {
            let wrong = format!("{} has no `{key}`", self.what);
            let right =
                format!("add \"{key}\": ...; plans are read as MSCCL++ writes them since 2025");
            self.at.fault(wrong, right)
        })
    }

    fn count(&self, key: &str, most: u32) -> Result<u32, Fault> {
        count(self.need(key)?, key, most)
    }

    fn list(&self, key: &str) -> Result<Vec<Json<'a>>, Fault> {
        match self.get(key) {
            Some(value) => value.items(&format!("`{key}` is a list")),
            None => Ok(Vec::new()),
        }
    }

    fn counts(&self, key: &str, most: u32) -> Result<Vec<u32>, Fault> {
        let items = self.list(key)?.into_iter();
        items.map(|item| count(item, key, most)).collect()
    }
}

/// A number from 0 on.
fn count(at: Json<'_>, key: &str, most: u32) -> Result<u32, Fault> {
    let right = format!("`{key}` has numbers from 0 to {most}");
    let number = at.number(&right)?;
    match number.fract() == 0.0 && (0.0..=f64::from(most)).contains(&number) {
        true => Ok(number as u32),
        false => Err(at.fault(format!("here is `{}`", at.shown()), right)),
    }
}

/// One of some words.
fn one_of<T: Copy>(at: Json<'_>, what: &str, known: &[(&'static str, T)]) -> Result<T, Fault> {
    let word = at.text(&format!("{what} is a text"))?;
    let found = known.iter().find(|(name, _)| *name == word);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|&(name, _)| name).collect();
        let right = format!(
            "{what} is {}{}",
            names.join(", "),
            did_you_mean(&word, &names)
        );
        at.fault(format!("`{}` is no {what}", quoted(&word)), right)
    })
}

const PLAN_KEYS: [&str; 11] = [
    "name",
    "collective",
    "protocol",
    "inplace",
    "reuse_resources",
    "gpus",
    "num_threads_per_block",
    "use_double_scratch_buffer",
    "buffer_alignment",
    "min_message_size",
    "max_message_size",
];

pub(super) fn parse(text: &str) -> Result<Plan, Fault> {
    let text = Text::new(text);
    let root = Json::parse(&text)?;
    let plan = Object::new(root, "a plan", &PLAN_KEYS)?;
    let flag = one_flag(plan.need("inplace")?)?;
    let items = plan.need("gpus")?.items("`gpus` is a list")?;
    let ranks = items.len() as u32;
    let described = (0..).zip(items);
    let made = Made::default();
    let described = described.map(|(number, item)| gpu(item, number, ranks, &made));
    let described = described.collect::<Result<Vec<_>, _>>()?;
    let written = described.iter().flat_map(|gpu| &gpu.blocks);
    let chunk_bytes = turns::chunk_bytes(written.flatten())?;
    let mut gpus = Vec::new();
    for Described { mut gpu, blocks } in described {
        let unrolled = blocks.into_iter();
        let unrolled = unrolled.map(|block| turns::unrolled(block, chunk_bytes, &made));
        gpu.blocks = unrolled.collect::<Result<_, _>>()?;
        gpus.push(gpu);
    }
    if gpus.is_empty() {
        return Err(root.fault("there is no gpu", "a plan has one entry of `gpus` per rank"));
    }
    let unsaid = ["name", "collective", "inplace", "gpus"];
    let collective = plan.need("collective")?;
    let said = plan
        .entries
        .iter()
        .filter(|(key, _)| !unsaid.contains(&&**key));
    let said = said.map(|(key, value)| format!("{key}={}", value.shown().replace('"', "")));
    let said = said.chain(operator(&gpus)?.map(|word| format!("reduce_op={word}")));
    Ok(Plan {
        name: plan.need("name")?.text("the name is a text")?,
        collective: collective.text("the collective is a text")?,
        collective_line: collective.line(),
        is_in_place: flag,
        said: said.collect(),
        gpus,
        chunk_bytes,
        line: root.line(),
    })
}

/// The operator by which all operations reduce: a schedule is for one of them, whichever it is.
fn operator(gpus: &[Gpu]) -> Result<Option<&str>, Fault> {
    let mut found: Option<&str> = None;
    for operation in gpus.iter().flat_map(|gpu| gpu.blocks.iter().flatten()) {
        let Some(word) = operation.reduces_by.as_deref() else {
            continue;
        };
        let before = *found.get_or_insert(word);
        if before != word {
            let wrong = format!(
                "this reduces by `{}`, and others by `{}`",
                quoted(word),
                quoted(before)
            );
            let right = "a schedule reduces by one operator";
            return Err(Fault::at(operation.line, wrong, right));
        }
    }
    Ok(found)
}

fn one_flag(at: Json<'_>) -> Result<bool, Fault> {
    match at.shown().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        shown => Err(at.fault(format!("here is `{shown}`"), "write true or false")),
    }
}

/// A buffer of another rank, and over channels of which kinds it is reached.
struct Remote {
    rank: u32,
    buffer: Buffer,
    kinds: Vec<ChannelKind>,
}

/// A channel to the memory of several gpus at once.
struct Switch {
    buffer: Buffer,
    /// The other gpus of the group.
    others: Vec<u32>,
}

impl Switch {
    fn new(channel: &Object<'_>, number: u32, ranks: u32) -> Result<Self, Fault> {
        let buffer = channel.get("buffer_type").or(channel.get("buff"));
        let Some(buffer) = buffer else {
            let right = "add \"buffer_type\": ...";
            return Err(channel
                .at
                .fault("a switch channel without its buffer", right));
        };
        let mut others = None;
        for group in channel.list("rank_groups")? {
            let group = Object::new(group, "a group of ranks", &["size", "ranks"])?;
            let members = group.counts("ranks", ranks - 1)?;
            if !members.contains(&number) {
                continue;
            }
            let mut members: Vec<u32> = members.into_iter().filter(|&of| of != number).collect();
            members.sort_unstable();
            members.dedup();
            others.get_or_insert(members);
        }
        let Some(others) = others else {
            let wrong =
                format!("gpu {number} is in none of the `rank_groups` of its switch channel");
            return Err(channel
                .at
                .fault(wrong, "one of them has it among its `ranks`"));
        };
        Ok(Self {
            buffer: one_of(buffer, "buffer", &Buffer::ALL)?,
            others,
        })
    }
}

fn gpu(at: Json<'_>, number: u32, ranks: u32, made: &Made) -> Result<Described, Fault> {
    let keys = [
        "id",
        "input_chunks",
        "output_chunks",
        "scratch_chunks",
        "threadblocks",
        "channels",
        "remote_buffers",
        "semaphores",
    ];
    let gpu = Object::new(at, "a gpu", &keys)?;
    if gpu.count("id", NUMBER_MAX)? != number {
        let right = "the executor takes entry r of `gpus` for rank r";
        return Err(at.fault(format!("gpu {number} has another id"), right));
    }
    let chunks = ["input_chunks", "output_chunks", "scratch_chunks"];
    let chunks = chunks.map(|key| gpu.count(key, NUMBER_MAX));
    let [input, output, scratch] = chunks;
    let mut channels = [Vec::new(), Vec::new()];
    let mut switches = Vec::new();
    for channel in gpu.list("channels")? {
        let keys = [
            "channel_type",
            "connected_to",
            "buff",
            "buffer_type",
            "rank_groups",
        ];
        let channel = Object::new(channel, "a channel", &keys)?;
        match channel_type(channel.need("channel_type")?)? {
            Channel::To(kind) => {
                channels[kind as usize].extend(channel.counts("connected_to", ranks - 1)?);
            }
            Channel::Switch => switches.push(Switch::new(&channel, number, ranks)?),
            Channel::None => {}
        }
    }
    if let Some(kind) = channels.iter().find(|peers| peers.contains(&number)) {
        let wrong = format!(
            "one of the {} channels of gpu {number} leads to itself",
            kind.len()
        );
        return Err(at.fault(wrong, "channels lead to other gpus"));
    }
    let mut remotes = Vec::new();
    for remote in gpu.list("remote_buffers")? {
        let keys = ["rank", "type", "access_channel_types"];
        let remote = Object::new(remote, "a remote buffer", &keys)?;
        let kinds = remote.list("access_channel_types")?.into_iter();
        let kinds = kinds.map(|kind| Ok(kind_of(channel_type(kind)?)));
        let rank = remote.count("rank", ranks - 1)?;
        if rank == number {
            let wrong = format!("a remote buffer of gpu {number} is its own");
            return Err(gpu
                .at
                .fault(wrong, "remote buffers are those of other gpus"));
        }
        remotes.push(Remote {
            rank,
            buffer: one_of(remote.need("type")?, "buffer", &Buffer::ALL)?,
            kinds: kinds
                .filter_map(Result::transpose)
                .collect::<Result<_, _>>()?,
        });
    }
    let semaphores = gpu.list("semaphores")?.into_iter().map(|semaphore| {
        let semaphore = Object::new(semaphore, "a semaphore", &["init_value"])?;
        semaphore.count("init_value", NUMBER_MAX)
    });
    let semaphores = semaphores.collect::<Result<_, _>>()?;
    let whole = Surroundings {
        channels: &channels,
        remotes: &remotes,
        switches: &switches,
        made,
    };
    let blocks = gpu
        .need("threadblocks")?
        .items("`threadblocks` is a list")?;
    let blocks = (0..).zip(blocks).map(|(id, block)| whole.block(block, id));
    let blocks = blocks.collect::<Result<_, _>>()?;
    let gpu = Gpu {
        chunks: [input?, output?, scratch?],
        blocks: Vec::new(),
        channels,
        semaphores,
        line: at.line(),
    };
    Ok(Described { gpu, blocks })
}

fn channel_type(at: Json<'_>) -> Result<Channel, Fault> {
    one_of(at, "channel type", &names::CHANNELS)
}

fn kind_of(channel: Channel) -> Option<ChannelKind> {
    match channel {
        Channel::To(kind) => Some(kind),
        Channel::Switch | Channel::None => None,
    }
}

/// What the thread blocks of a rank number by lists of their own.
struct Surroundings<'a> {
    channels: &'a [Vec<u32>; 2],
    remotes: &'a [Remote],
    switches: &'a [Switch],
    made: &'a Made,
}

/// The lists of a thread block.
struct Lists<'a> {
    /// Channels of each kind by their numbers at the rank.
    channels: [Vec<u32>; 2],
    /// Remote buffers reached over each kind.
    remotes: [Vec<(u32, Buffer)>; 2],
    switches: Vec<&'a Switch>,
    made: &'a Made,
}

impl Surroundings<'_> {
    fn block(&self, at: Json<'_>, id: u32) -> Result<Vec<Written>, Fault> {
        let keys = ["id", "ops", "channels", "remote_buffer_refs"];
        let block = Object::new(at, "a thread block", &keys)?;
        if block.count("id", NUMBER_MAX)? != id {
            let right = "thread blocks are numbered from 0 in order";
            return Err(at.fault(format!("thread block {id} has another id"), right));
        }
        let mut lists = Lists {
            channels: [Vec::new(), Vec::new()],
            remotes: [Vec::new(), Vec::new()],
            switches: Vec::new(),
            made: self.made,
        };
        for channel in block.list("channels")? {
            let keys = ["channel_type", "channel_ids", "buff"];
            let channel = Object::new(channel, "a channel", &keys)?;
            let of = channel_type(channel.need("channel_type")?)?;
            let (name, all) = match of {
                Channel::To(kind) => (kind.name(), self.channels[kind as usize].len()),
                Channel::Switch => ("switch", self.switches.len()),
                Channel::None => continue,
            };
            for number in channel.counts("channel_ids", NUMBER_MAX)? {
                if number as usize >= all {
                    let wrong = format!("this gpu has no {name} channel {number}");
                    let right = format!("it has {all} of them");
                    return Err(channel.at.fault(wrong, right));
                }
                match of {
                    Channel::To(kind) => lists.channels[kind as usize].push(number),
                    _ => lists.switches.push(&self.switches[number as usize]),
                }
            }
        }
        for refs in block.list("remote_buffer_refs")? {
            let keys = ["access_channel_type", "remote_buffer_ids"];
            let refs = Object::new(refs, "a list of remote buffers", &keys)?;
            let kind = kind_of(channel_type(refs.need("access_channel_type")?)?);
            let Some(kind) = kind else { continue };
            for number in refs.counts("remote_buffer_ids", NUMBER_MAX)? {
                let found = self.remotes.get(number as usize);
                let Some(found) = found.filter(|remote| remote.kinds.contains(&kind)) else {
                    let wrong = format!(
                        "this gpu reaches no remote buffer {number} by {}",
                        kind.name()
                    );
                    let right =
                        "they are entries of `remote_buffers` with this access_channel_type";
                    return Err(refs.at.fault(wrong, right));
                };
                lists.remotes[kind as usize].push((found.rank, found.buffer));
            }
        }
        lists.operations(&block)
    }
}

const OPERATION_KEYS: [&str; 10] = [
    "name",
    "src_buff",
    "dst_buff",
    "channel_ids",
    "channel_type",
    "reduce_op",
    "tbg_info",
    "semaphore_ids",
    "barrier_id",
    "num_threadblocks",
];

impl Lists<'_> {
    /// The operations that are listed in a thread block.
    fn operations(&self, of: &Object<'_>) -> Result<Vec<Written>, Fault> {
        let mut all = Vec::new();
        for op in of.need("ops")?.items("`ops` is a list")? {
            match name(op)? {
                Name::Pipeline => all.push(Written::Pipeline(self.pipeline(op)?)),
                name => all.extend(self.operation(op, name)?.into_iter().map(Written::Once)),
            }
        }
        Ok(all)
    }

    fn pipeline(&self, at: Json<'_>) -> Result<Pipeline, Fault> {
        let keys = ["name", "iter_context", "ops"];
        let pipeline = Object::new(at, "a pipeline", &keys)?;
        let keys = ["unit_size", "num_chunks"];
        let context = Object::new(pipeline.need("iter_context")?, "`iter_context`", &keys)?;
        let mut repeated = Vec::new();
        for op in pipeline.need("ops")?.items("`ops` is a list")? {
            let name = name(op)?;
            let is_shared = op.entries("")?.iter().any(|(key, _)| key == "tbg_info");
            if !name.can_take_turns() || is_shared {
                let wrong = "an operation that a pipeline does not cut into turns";
                let right = "packets, parts of thread blocks (`tbg_info`) and other pipelines are read \
                             outside of pipelines";
                return Err(op.fault(wrong, right));
            }
            repeated.extend(self.operation(op, name)?);
        }
        Ok(Pipeline {
            unit_bytes: context.count("unit_size", UNIT_MAX)?,
            chunks: context.count("num_chunks", NUMBER_MAX)?,
            operations: repeated,
            line: at.line(),
        })
    }

    /// An operation; what a switch does, as what it is to the gpus of its group.
    fn operation(&self, at: Json<'_>, name: Name) -> Result<Vec<Operation>, Fault> {
        let operation = Object::new(at, "an operation", &OPERATION_KEYS)?;
        let channel = operation.get("channel_type").map(channel_type);
        let channel = channel.transpose()?.unwrap_or(Channel::None);
        let is_of_switch = match name {
            Name::SwitchReduce | Name::SwitchStore | Name::SwitchStorePackets => true,
            _ if channel == Channel::Switch => {
                let right = "those are glres, gstore and gstorepkt";
                return Err(at.fault("this operation is none of a switch", right));
            }
            _ => false,
        };
        let kind = match is_of_switch {
            true => Some(ChannelKind::Memory),
            false => kind_of(channel),
        };
        let mut channels = Vec::new();
        // A switch is named by the pieces.
        let named = match is_of_switch {
            true => Vec::new(),
            false => operation.counts("channel_ids", NUMBER_MAX)?,
        };
        for number in named {
            let known = kind.and_then(|kind| {
                let of_kind = &self.channels[kind as usize];
                of_kind.get(number as usize)
            });
            let Some(&known) = known else {
                let wrong = format!("the thread block has no channel {number} of this type");
                let right =
                    "channel_ids count the channels of this channel_type in the thread block";
                return Err(at.fault(wrong, right));
            };
            channels.push(known);
        }
        let share = match operation.get("tbg_info") {
            None => (0, 1),
            Some(group) => {
                let group = Object::new(group, "`tbg_info`", &["tb_id", "tbg_size"])?;
                let size = group.count("tbg_size", SHARERS_MAX)?.max(1);
                (group.count("tb_id", size - 1)?, size)
            }
        };
        let barrier = match operation.get("barrier_id") {
            None => None,
            Some(_) => Some((
                operation.count("barrier_id", NUMBER_MAX)?,
                operation.count("num_threadblocks", NUMBER_MAX)?,
            )),
        };
        let spans = |key| -> Result<Vec<Span>, Fault> {
            let items = operation.list(key)?.into_iter();
            let spans = items.map(|item| self.spans(item, kind));
            Ok(spans.collect::<Result<Vec<_>, _>>()?.concat())
        };
        let whole = Operation {
            name,
            source: spans("src_buff")?,
            target: spans("dst_buff")?,
            channels,
            kind,
            share,
            semaphores: operation.counts("semaphore_ids", NUMBER_MAX)?,
            barrier,
            is_of_switch,
            reduces_by: match operation.get("reduce_op") {
                None => None,
                Some(word) => Some(word.text("`reduce_op` is a text")?),
            },
            line: at.line(),
        };
        let stores = matches!(name, Name::SwitchStore | Name::SwitchStorePackets);
        if stores && whole.source.len() != 1 {
            let wrong = format!("src_buff has {} pieces", whole.source.len());
            return Err(at.fault(wrong, "a switch stores one piece of the gpu itself"));
        }
        Ok(whole.without_switch())
    }

    /// A piece; of a switch that of the gpu itself, and then those of the others.
    fn spans(&self, at: Json<'_>, kind: Option<ChannelKind>) -> Result<Vec<Span>, Fault> {
        let keys = ["type", "buffer_id", "switch_channel_id", "index", "size"];
        let span = Object::new(at, "a piece of a buffer", &keys)?;
        let ids = ["type", "buffer_id", "switch_channel_id"].map(|key| span.get(key));
        let (peers, buffer) = match ids {
            [Some(word), None, None] => (vec![None], one_of(word, "buffer", &Buffer::ALL)?),
            [None, None, Some(id)] => {
                let id = count(id, "switch_channel_id", NUMBER_MAX)?;
                let Some(switch) = self.switches.get(id as usize) else {
                    let wrong = format!("the thread block has no switch channel {id}");
                    let right = "switch_channel_id counts its channels of type switch";
                    return Err(at.fault(wrong, right));
                };
                self.made.add(switch.others.len(), at.line())?;
                let others = switch.others.iter().copied().map(Some);
                ([None].into_iter().chain(others).collect(), switch.buffer)
            }
            [None, Some(id), None] => {
                let id = count(id, "buffer_id", NUMBER_MAX)?;
                let known = kind.and_then(|kind| self.remotes[kind as usize].get(id as usize));
                let Some(&(rank, buffer)) = known else {
                    let wrong = format!(
                        "the thread block has no remote buffer {id} over this channel_type"
                    );
                    let right = "buffer_id counts its remote_buffer_refs of this channel_type";
                    return Err(at.fault(wrong, right));
                };
                (vec![Some(rank)], buffer)
            }
            _ => {
                let right = "write `type` for a buffer of this gpu, `buffer_id` for one of another, or \
                             `switch_channel_id` for those of a group";
                return Err(at.fault("it is not said which buffer", right));
            }
        };
        let size = span.count("size", NUMBER_MAX)?;
        if size == 0 {
            return Err(at.fault("a piece of no chunks", "`size` is a number from 1 on"));
        }
        let first = span.count("index", NUMBER_MAX)?;
        let of = |peer| Span {
            peer,
            buffer,
            first,
            size,
            line: at.line(),
        };
        Ok(peers.into_iter().map(of).collect())
    }
}

/// What an operation is called.
fn name(at: Json<'_>) -> Result<Name, Fault> {
    let entries = at.entries("an operation is an object")?;
    match entries.iter().find(|(key, _)| key == "name") {
        Some((_, word)) => names::find(*word),
        None => Err(at.fault("an operation has no `name`", "add \"name\": ...")),
    }
}

impl Operation {
    /// What is done with the pieces of all gpus of a switch, as what the gpu does with those of each: what
    /// it gets of the others it combines in its own, which then go to the others.
    fn without_switch(self) -> Vec<Self> {
        let local = |name| Self {
            name,
            target: self.target.iter().take(1).copied().collect(),
            ..self.clone()
        };
        let remote = |name| Self {
            name,
            // A put has a source for every target.
            source: self.source.repeat(self.target.len().saturating_sub(1)),
            target: self.target.iter().skip(1).copied().collect(),
            ..self.clone()
        };
        match self.name {
            Name::SwitchReduce => vec![Self {
                name: Name::ReadReduce { sends: true },
                ..self
            }],
            Name::SwitchStore => vec![local(Name::Copy), remote(Name::Put)],
            Name::SwitchStorePackets => {
                vec![local(Name::CopyOfPackets), remote(Name::ReadPutPackets)]
            }
            _ => vec![self],
        }
    }
}
