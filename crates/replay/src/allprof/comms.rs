// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which ranks a communicator has.
//!
//! A record names a communicator by a handle, the caller's rank in it and its size, and a call that
//! makes one only by the address of the variable that its handle is put into. So its members follow
//! from the calls: all ranks of a communicator make the next one of it together, by colour and key, and
//! a handle that was not seen before is of the first that its rank has made and not named yet, as
//! which it has that rank and size. Before any is made it is that of all ranks, or that of one.

use std::collections::BTreeMap;

use corecast_exchange::Fault;

use super::line::{Comm, Line};
use super::names::{Making, comm_at, making};
use crate::graph::{Group, WORLD};

/// MPICH's numbers of the communicators of all ranks and of one.
const MPICH: [&str; 2] = ["1140850688", "1140850689"];
/// Open MPI's number of all ranks in Fortran, where a request is such a number, too.
const FORTRAN: &str = "0";

/// What a rank's calls say about communicators, in their order.
#[derive(Default)]
pub(super) struct Seen {
    items: Vec<Item>,
    /// What every handle was last used as.
    last: BTreeMap<String, (u32, u32)>,
    pub is_mpich: bool,
    pub is_fortran: bool,
    /// The largest communicator that it names.
    pub most: u32,
}

struct Item {
    line: u32,
    name: String,
    what: Does,
}

enum Does {
    Use(Named),
    Make {
        of: Named,
        how: Making,
        colour: i64,
        key: i64,
        /// The address of the new handle.
        to: String,
    },
    Free {
        to: String,
    },
}

#[derive(Clone)]
struct Named {
    handle: String,
    rank: u32,
    ranks: u32,
}

impl Seen {
    /// Takes in a call.
    pub(super) fn line(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        if line.name == "MPI_Comm_free" {
            let to = line.text(0)?.to_owned();
            self.last.clear();
            self.push(line, Does::Free { to });
            return Ok(());
        }
        let Some(at) = comm_at(line) else {
            return Ok(());
        };
        let comm = line.comm(at)?;
        let Comm {
            handle,
            rank,
            ranks,
        } = comm;
        self.most = self.most.max(ranks);
        self.is_mpich |= MPICH.contains(&handle);
        self.is_fortran |= handle == FORTRAN;
        let named = || Named {
            handle: handle.to_owned(),
            rank,
            ranks,
        };
        let Some(how) = making(line.name) else {
            if self.last.get(handle) != Some(&(rank, ranks)) {
                self.last.insert(handle.to_owned(), (rank, ranks));
                self.push(line, Does::Use(named()));
            }
            return Ok(());
        };
        let (colour, key) = match how {
            Making::Split => (line.int(1)?, line.int(2)?),
            Making::Same | Making::Opaque => (0, 0),
            // Whether ranks may be numbered anew.
            Making::Grid => (line.int(4)?, 0),
        };
        let to = match (line.name, how) {
            ("MPI_Comm_dup" | "MPI_Comm_idup", _) => line.text(1)?,
            ("MPI_Comm_dup_with_info" | "MPI_Comm_idup_with_info", _) => line.text(2)?,
            (_, Making::Split) => line.text(3)?,
            (_, Making::Grid) => line.text(5)?,
            _ => "",
        };
        let (of, to) = (named(), to.to_owned());
        let made = Does::Make {
            of,
            how,
            colour,
            key,
            to,
        };
        self.push(line, made);
        Ok(())
    }

    fn push(&mut self, line: &Line<'_>, what: Does) {
        self.items.push(Item {
            line: line.number,
            name: line.name.to_owned(),
            what,
        });
    }
}

/// What handles mean.
pub(super) struct Comms {
    pub groups: Vec<Group>,
    /// Of every rank: by handle from which line on it is which group.
    of_rank: Vec<BTreeMap<String, Vec<(u32, u32)>>>,
    /// Rank and line of all handles that could have been of other communicators, too.
    pub guessed: Vec<(u32, u32)>,
    /// Communicators that were made.
    pub made: usize,
}

impl Comms {
    /// The group of a handle in a line of a rank.
    pub(super) fn group(&self, rank: u32, handle: &str, line: u32) -> u32 {
        let all = &self.of_rank[rank as usize][handle];
        let before = all.partition_point(|&(from, _)| from <= line);
        all[before - 1].1
    }

    /// A rank's number in a group.
    fn place(&self, group: u32, rank: u32) -> Option<u32> {
        let ranks = &self.groups[group as usize].ranks;
        ranks
            .iter()
            .position(|&one| one == rank)
            .map(|at| at as u32)
    }

    fn group_of(&mut self, ranks: Vec<u32>) -> u32 {
        let number = self.groups.len() as u32;
        let name = format!("comm{number}");
        self.groups.push(Group { name, ranks });
        number
    }
}

/// A communicator that a rank has made.
struct Made {
    /// Of which group, and which of those made of it.
    from: (u32, usize),
    to: String,
    name: String,
    line: u32,
    is_named: bool,
    is_free: bool,
}

/// One making, by all that take part.
#[derive(Default)]
struct Event {
    calls: BTreeMap<u32, (Making, i64, i64)>,
    /// What every rank has made, when all have called.
    made: BTreeMap<u32, Outcome>,
}

#[derive(Clone, Copy)]
enum Outcome {
    Group(u32),
    /// A grid of ranks of this group, of whose size nobody has spoken yet.
    Grid(u32),
    Nothing,
    Opaque,
}

#[derive(Default)]
struct OfRank {
    next: usize,
    made: Vec<Made>,
    /// How many were made of every group.
    counts: BTreeMap<u32, usize>,
}

struct Resolver<'a> {
    seen: &'a [Seen],
    comms: Comms,
    events: BTreeMap<(u32, usize), Event>,
    ranks: Vec<OfRank>,
}

/// Finds the members of every communicator; else the rank and what it is at.
pub(super) fn resolve(seen: &[Seen]) -> Result<Comms, (u32, Fault)> {
    let size = seen.len() as u32;
    let world = Group {
        name: "world".to_owned(),
        ranks: (0..size).collect(),
    };
    let mut resolver = Resolver {
        seen,
        comms: Comms {
            groups: vec![world],
            of_rank: vec![BTreeMap::new(); seen.len()],
            guessed: Vec::new(),
            made: 0,
        },
        events: BTreeMap::new(),
        ranks: seen.iter().map(|_| OfRank::default()).collect(),
    };
    loop {
        let mut has_moved = false;
        for rank in 0..size {
            while let Some(item) = resolver.seen[rank as usize]
                .items
                .get(resolver.ranks[rank as usize].next)
            {
                if !resolver.item(rank, item).map_err(|fault| (rank, fault))? {
                    break;
                }
                resolver.ranks[rank as usize].next += 1;
                has_moved = true;
            }
        }
        if !has_moved {
            break;
        }
    }
    resolver.stuck()?;
    let events = resolver.events.values();
    resolver.comms.made = events.filter(|event| !event.made.is_empty()).count();
    Ok(resolver.comms)
}

impl Resolver<'_> {
    /// Takes the next item of a rank; false where it must wait for what others do.
    fn item(&mut self, rank: u32, item: &Item) -> Result<bool, Fault> {
        match &item.what {
            Does::Use(named) => Ok(self.named(rank, item, named)?.is_some()),
            Does::Free { to } => {
                let made = &mut self.ranks[rank as usize].made;
                let last = made
                    .iter_mut()
                    .rev()
                    .find(|made| made.to == *to && !made.is_free);
                if let Some(made) = last {
                    made.is_free = true;
                }
                Ok(true)
            }
            Does::Make {
                of,
                how,
                colour,
                key,
                to,
            } => {
                let Some(group) = self.named(rank, item, of)? else {
                    return Ok(false);
                };
                let own = &mut self.ranks[rank as usize];
                let count = own.counts.entry(group).or_default();
                let from = (group, *count);
                *count += 1;
                own.made.push(Made {
                    from,
                    to: to.clone(),
                    name: item.name.clone(),
                    line: item.line,
                    is_named: false,
                    is_free: false,
                });
                let event = self.events.entry(from).or_default();
                event.calls.insert(rank, (*how, *colour, *key));
                self.complete(from, item)?;
                Ok(true)
            }
        }
    }

    /// The group that a call names; none where others must go on first.
    fn named(&mut self, rank: u32, item: &Item, named: &Named) -> Result<Option<u32>, Fault> {
        let size = self.seen.len() as u32;
        let known = self.comms.of_rank[rank as usize].get(&named.handle);
        if let Some(&(_, group)) = known.and_then(|all| all.last())
            && self.fits(group, rank, named)
            && !self.is_free(rank, group)
        {
            return Ok(Some(group));
        }
        let mut found: Option<(usize, Outcome)> = None;
        let mut others = 0;
        for (index, made) in self.ranks[rank as usize].made.iter().enumerate() {
            if made.is_named || made.is_free {
                continue;
            }
            let event = &self.events[&made.from];
            let Some(&outcome) = event.made.get(&rank) else {
                return Ok(None);
            };
            let is_it = match outcome {
                Outcome::Group(group) => self.fits(group, rank, named),
                Outcome::Grid(parent) => {
                    let all = self.comms.groups[parent as usize].ranks.len() as u32;
                    self.comms.place(parent, rank) == Some(named.rank) && named.ranks <= all
                }
                Outcome::Nothing | Outcome::Opaque => false,
            };
            // Two of the same ranks are told apart by which messages go in which, so either may be it.
            if is_it && found.is_none() {
                found = Some((index, outcome));
            } else if is_it || matches!(outcome, Outcome::Opaque) {
                others += 1;
            }
        }
        let group = match found {
            Some((index, outcome)) => {
                if others > 0 {
                    self.comms.guessed.push((rank, item.line));
                }
                let made = &mut self.ranks[rank as usize].made[index];
                made.is_named = true;
                let from = made.from;
                match outcome {
                    Outcome::Group(group) => group,
                    _ => self.grid(from, named.ranks),
                }
            }
            None if named.ranks == size && named.rank == rank => WORLD,
            None if named.ranks == 1 => self.comms.group_of(vec![rank]),
            None => return Err(self.unknown(rank, item, named)),
        };
        let of_handle = self.comms.of_rank[rank as usize].entry(named.handle.clone());
        of_handle.or_default().push((item.line, group));
        Ok(Some(group))
    }

    fn fits(&self, group: u32, rank: u32, named: &Named) -> bool {
        let ranks = self.comms.groups[group as usize].ranks.len() as u32;
        ranks == named.ranks && self.comms.place(group, rank) == Some(named.rank)
    }

    /// Whether a rank has freed a communicator.
    fn is_free(&self, rank: u32, group: u32) -> bool {
        self.ranks[rank as usize].made.iter().any(|made| {
            let outcome = self.events[&made.from].made.get(&rank);
            made.is_free && matches!(outcome, Some(Outcome::Group(number)) if *number == group)
        })
    }

    /// A grid of so many ranks, which all that are in it have from now on.
    fn grid(&mut self, from: (u32, usize), ranks: u32) -> u32 {
        let members = self.comms.groups[from.0 as usize].ranks[..ranks as usize].to_vec();
        let group = self.comms.group_of(members.clone());
        let event = self.events.get_mut(&from).expect("it was made");
        for (rank, outcome) in &mut event.made {
            *outcome = match members.contains(rank) {
                true => Outcome::Group(group),
                false => Outcome::Nothing,
            };
        }
        group
    }

    /// Makes what is made when all of a group have called.
    fn complete(&mut self, from: (u32, usize), item: &Item) -> Result<(), Fault> {
        let members = self.comms.groups[from.0 as usize].ranks.clone();
        let calls = self.events[&from].calls.clone();
        if calls.len() < members.len() {
            return Ok(());
        }
        let how = calls[&members[0]].0;
        if let Some((other, _)) = calls.iter().find(|(_, call)| call.0 != how) {
            let wrong = format!(
                "rank {} and rank {other} make it by other calls",
                members[0]
            );
            let right = "all ranks of a communicator make the next one by the same call";
            return Err(fault(item, &wrong, right));
        }
        let mut made = BTreeMap::new();
        match how {
            Making::Same => {
                let group = self.comms.group_of(members.clone());
                made.extend(members.iter().map(|&rank| (rank, Outcome::Group(group))));
            }
            Making::Split => {
                let mut colours: BTreeMap<i64, Vec<(i64, usize, u32)>> = BTreeMap::new();
                for (place, &rank) in members.iter().enumerate() {
                    let (_, colour, key) = calls[&rank];
                    match colour < 0 {
                        true => drop(made.insert(rank, Outcome::Nothing)),
                        false => colours.entry(colour).or_default().push((key, place, rank)),
                    }
                }
                for (_, mut ranks) in colours {
                    ranks.sort_unstable();
                    let ranks: Vec<u32> = ranks.into_iter().map(|(.., rank)| rank).collect();
                    let group = self.comms.group_of(ranks.clone());
                    made.extend(ranks.into_iter().map(|rank| (rank, Outcome::Group(group))));
                }
            }
            Making::Grid => made.extend(members.iter().map(|&rank| (rank, Outcome::Grid(from.0)))),
            Making::Opaque => made.extend(members.iter().map(|&rank| (rank, Outcome::Opaque))),
        }
        self.events.get_mut(&from).expect("it is there").made = made;
        Ok(())
    }

    fn unknown(&self, rank: u32, item: &Item, named: &Named) -> Fault {
        if named.ranks as usize == self.seen.len() && self.ranks[rank as usize].made.is_empty() {
            let wrong = format!("it is of rank {} of all {}", named.rank, named.ranks);
            let right = format!("this is the file of rank {rank}: its last number says so");
            return fault(item, &wrong, &right);
        }
        let wrong = format!(
            "its communicator has {} of {} ranks, this one as number {}, and the record does not say \
             which",
            named.ranks,
            self.seen.len(),
            named.rank
        );
        let opaque = self.ranks[rank as usize].made.iter().find(|made| {
            matches!(
                self.events[&made.from].made.get(&rank),
                Some(Outcome::Opaque)
            )
        });
        let right = match opaque {
            Some(made) => format!(
                "members of communicators are known of MPI_Comm_dup, MPI_Comm_split and \
                 MPI_Cart_create, and not of {} in line {}",
                made.name, made.line
            ),
            None => "members of communicators are known of MPI_Comm_dup, MPI_Comm_split and \
                     MPI_Cart_create, which all of them must call before"
                .to_owned(),
        };
        fault(item, &wrong, &right)
    }

    /// Fails if a rank waits for others that never come.
    fn stuck(&self) -> Result<(), (u32, Fault)> {
        for (rank, of_rank) in (0..).zip(&self.ranks) {
            let Some(item) = self.seen[rank as usize].items.get(of_rank.next) else {
                continue;
            };
            let open = of_rank
                .made
                .iter()
                .find(|made| self.events[&made.from].made.is_empty());
            let Some(made) = open else { continue };
            let members = &self.comms.groups[made.from.0 as usize].ranks;
            let calls = &self.events[&made.from].calls;
            let missing = members.iter().find(|rank| !calls.contains_key(rank));
            let missing = missing.expect("else it was made");
            let wrong = format!(
                "its communicator is made by {} in line {}, which rank {missing} never calls",
                made.name, made.line
            );
            let right = "all ranks of a communicator make the next one of it together";
            return Err((rank, fault(item, &wrong, right)));
        }
        Ok(())
    }
}

fn fault(item: &Item, wrong: &str, right: &str) -> Fault {
    Fault::at(item.line, format!("{}: {wrong}", item.name), right)
}
