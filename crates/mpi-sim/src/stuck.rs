// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks that cannot go on: in which call, and what they wait for.

use std::fmt;

use corecast_machine::{Await, Blocked, Sharing};
use corecast_mpi::calls;

use crate::rank::MpiRanks;

/// What a rank waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// That a message comes.
    Message,
    /// That one is received.
    Receipt,
    /// That a rank takes part in a broadcast of the machine's own.
    Member {
        /// World rank of its root.
        root: u32,
    },
    /// That a rank takes part in a broadcast of the machine's own, and that one takes part in one of another
    /// root: neither ever begins.
    OtherRoot {
        /// World rank of the root.
        root: u32,
        /// That of the root whose broadcast the other rank is in.
        other: u32,
    },
}

/// A message that a rank waits for, or a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sought {
    /// What it is to do.
    pub awaited: Awaited,
    /// World rank of the other end; none = anybody.
    pub peer: Option<u32>,
    /// Its tag; none = any, or a message of a collective.
    pub tag: Option<i32>,
    /// The communicator's name; empty where that is not known any more.
    pub comm: String,
}

/// A rank that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StuckRank {
    /// Which.
    pub rank: u32,
    /// The call that it is in.
    pub call: &'static str,
    /// What it waits for; nothing where the call does not say.
    pub sought: Vec<Sought>,
}

/// Messages of one rank that are told.
const TOLD: usize = 2;

impl StuckRank {
    /// Asks all ranks that wait for an answer; those that wait for each other in a circle
    /// first. Ranks whose processes have gone already, and whose messages nobody takes, are among the
    /// machine's; those of a core together come to their end with the last of them.
    #[must_use]
    pub fn all(ranks: &MpiRanks<'_>, blocked: &[Blocked], sharing: Sharing) -> Vec<Self> {
        let asked: Vec<_> = (0..sharing.ranks())
            .map(|rank| ranks.question(rank))
            .collect();
        let gone = |rank: u32| {
            let core = sharing.core_of(rank);
            let ranks = sharing.ranks_of(core);
            let is_last = rank + 1 == ranks.end;
            let is_over = is_last && ranks.clone().all(|rank| asked[rank as usize].is_none());
            let mut blocked = blocked.iter().filter(|one| one.awaits == Await::Send);
            let found = blocked.find(|one| is_over && one.rank.0 == core)?;
            let peer = sharing.is_alone().then_some(found.peer.0);
            Some(Self::ending(rank, peer))
        };
        let tell = |(rank, told): (u32, &Option<(u16, String)>)| {
            let Some((call, text)) = told else {
                return gone(rank);
            };
            let mut sought: Vec<Sought> = text.lines().filter_map(Sought::read).collect();
            let mut blocked = blocked.iter();
            let launch = blocked.find(|one| one.rank.0 == rank && one.awaits == Await::Launch);
            if let Some(launch) = launch {
                join(&mut sought, launch.peer.0);
            }
            Some(Self {
                rank,
                call: calls::name(*call),
                sought,
            })
        };
        circle_first(roots_apart((0..).zip(&asked).filter_map(tell).collect()))
    }

    /// A rank that has come to its end, and whose message for this one nobody takes; none = one of several.
    fn ending(rank: u32, peer: Option<u32>) -> Self {
        Self {
            rank,
            call: "MPI_Finalize",
            sought: vec![Sought {
                awaited: Awaited::Receipt,
                peer,
                tag: None,
                comm: String::new(),
            }],
        }
    }

    /// The rank that it waits for, if that is a certain one.
    fn peer(&self) -> Option<u32> {
        self.sought.first()?.peer
    }
}

/// A rank's process tells of a broadcast of the machine's own as of a message of its root; the machine knows
/// who is not there.
fn join(sought: &mut [Sought], missing: u32) {
    let is_collective = |one: &&mut Sought| one.awaited == Awaited::Message && one.tag.is_none();
    let mut named = sought.iter_mut().filter(is_collective);
    let named = named.find_map(|one| Some((one.peer?, one)));
    if let Some((root, one)) = named {
        one.awaited = Awaited::Member { root };
        one.peer = Some(missing);
    }
}

/// Finds ranks that wait for each other in broadcasts of one communicator that have different roots. The
/// machine, which knows broadcasts by their roots and members, takes these for two, and says of who is in
/// one that it is missing in the other.
fn roots_apart(mut stuck: Vec<StuckRank>) -> Vec<StuckRank> {
    let cast = |one: &StuckRank| {
        one.sought.iter().find_map(|sought| match sought.awaited {
            Awaited::Member { root } => Some((one.rank, root, sought.peer, sought.comm.clone())),
            _ => None,
        })
    };
    // Communicators that are apart may have one name; who waits for a rank is in one with it.
    let casts: Vec<_> = stuck.iter().filter_map(cast).collect();
    for (rank, root, missing, comm) in &casts {
        let differs = |&&(who, other, peer, ref of): &&(u32, u32, Option<u32>, String)| {
            let are_together = *missing == Some(who) || peer == Some(*rank);
            who != *rank && other != *root && of == comm && are_together
        };
        let Some(&(who, other, ..)) = casts.iter().find(differs) else {
            continue;
        };
        let mut own = stuck.iter_mut().filter(|one| one.rank == *rank);
        let sought = own.find_map(|one| {
            let mut all = one.sought.iter_mut();
            all.find(|sought| matches!(sought.awaited, Awaited::Member { .. }))
        });
        if let Some(sought) = sought {
            let root = *root;
            sought.awaited = Awaited::OtherRoot { root, other };
            sought.peer = Some(who);
        }
    }
    stuck
}

/// Puts ranks that wait for each other in a circle in front.
fn circle_first(mut stuck: Vec<StuckRank>) -> Vec<StuckRank> {
    let mut path: Vec<usize> = Vec::new();
    let mut next = (!stuck.is_empty()).then_some(0);
    while let Some(at) = next {
        if let Some(start) = path.iter().position(|&seen| seen == at) {
            let circle: Vec<StuckRank> =
                path[start..].iter().map(|&at| stuck[at].clone()).collect();
            stuck.retain(|one| !circle.contains(one));
            stuck.splice(0..0, circle);
            break;
        }
        path.push(at);
        let peer = stuck[at].peer();
        next = peer.and_then(|peer| stuck.iter().position(|one| one.rank == peer));
    }
    stuck
}

impl Sought {
    /// A line of what a rank tells.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.splitn(4, '\t');
        Some(Self {
            awaited: match words.next()? {
                "recv" => Awaited::Message,
                _ => Awaited::Receipt,
            },
            peer: words.next()?.parse().ok(),
            tag: words.next()?.parse().ok(),
            comm: words.next()?.to_owned(),
        })
    }
}

impl fmt::Display for Sought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            awaited,
            peer,
            tag,
            comm,
        } = self;
        let rank = |nobody: &str| peer.map_or(nobody.to_owned(), |peer| format!("rank {peer}"));
        match awaited {
            Awaited::Message => write!(f, "a message from {}", rank("any rank"))?,
            Awaited::Receipt => write!(f, "{} to receive", rank("anybody"))?,
            Awaited::Member { .. } => write!(f, "{} to take part", rank("somebody"))?,
            Awaited::OtherRoot { root, other } => {
                let who = rank("somebody");
                write!(
                    f,
                    "{who} to take part with root {root}, and not with root {other},"
                )?;
            }
        }
        if let Some(tag) = tag {
            write!(f, " with tag {tag}")?;
        }
        match &**comm {
            "" => Ok(()),
            comm => write!(f, " in {comm}"),
        }
    }
}

impl fmt::Display for StuckRank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.sought.is_empty() {
            "is"
        } else {
            "waits"
        };
        write!(f, "rank {} {verb} in {}", self.rank, self.call)?;
        for (index, sought) in self.sought.iter().take(TOLD).enumerate() {
            let word = if index == 0 { " for" } else { " and for" };
            write!(f, "{word} {sought}")?;
        }
        match self.sought.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(rank: u32, line: &str) -> StuckRank {
        StuckRank {
            rank,
            call: "MPI_Recv",
            sought: line.lines().filter_map(Sought::read).collect(),
        }
    }

    #[test]
    fn who_waits_for_whom_is_told_in_words() {
        let lines = "recv\t3\t7\tMPI_COMM_WORLD\nrecv\t*\t*\trows\nsend\t1\t-2\tx\n";
        let expected = "rank 0 waits in MPI_Recv for a message from rank 3 with tag 7 in \
                        MPI_COMM_WORLD and for a message from any rank in rows and 1 more";
        assert_eq!(waits(0, lines).to_string(), expected);
        let expected = "rank 2 waits in MPI_Recv for rank 1 to receive with tag -2 in x";
        assert_eq!(waits(2, "send\t1\t-2\tx").to_string(), expected);
        assert_eq!(waits(5, "").to_string(), "rank 5 is in MPI_Recv");
        let expected = "rank 2 waits in MPI_Finalize for rank 7 to receive";
        assert_eq!(StuckRank::ending(2, Some(7)).to_string(), expected);
    }

    #[test]
    fn of_a_broadcast_it_is_told_who_is_not_there() {
        let mut stuck = waits(1, "recv\t4\t7\tours\nrecv\t0\t*\tMPI_COMM_WORLD");
        join(&mut stuck.sought, 2);
        let expected = "rank 1 waits in MPI_Recv for a message from rank 4 with tag 7 in ours and for \
                        rank 2 to take part in MPI_COMM_WORLD";
        assert_eq!(stuck.to_string(), expected);
    }

    #[test]
    fn of_broadcasts_with_different_roots_it_is_told_that_they_differ() {
        let cast = |rank, root: u32, missing, comm: &str| {
            let mut stuck = waits(rank, &format!("recv\t{root}\t*\t{comm}"));
            join(&mut stuck.sought, missing);
            stuck
        };
        let told = |stuck: Vec<StuckRank>| {
            let told = roots_apart(stuck);
            told.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            told(vec![
                cast(0, 0, 1, "x"),
                cast(1, 1, 1, "x"),
                cast(2, 0, 1, "x")
            ]),
            [
                "rank 0 waits in MPI_Recv for rank 1 to take part with root 0, and not with root 1, in x",
                "rank 1 waits in MPI_Recv for rank 0 to take part with root 1, and not with root 0, in x",
                "rank 2 waits in MPI_Recv for rank 1 to take part with root 0, and not with root 1, in x",
            ]
        );
        // Two communicators of one name, each with a rank that is elsewhere.
        assert_eq!(
            told(vec![cast(0, 0, 4, "x"), cast(1, 1, 5, "x")]),
            [
                "rank 0 waits in MPI_Recv for rank 4 to take part in x",
                "rank 1 waits in MPI_Recv for rank 5 to take part in x",
            ]
        );
    }

    #[test]
    fn a_circle_comes_first() {
        let to = |rank, peer: u32| waits(rank, &format!("recv\t{peer}\t0\tc"));
        let ranks = |stuck: Vec<StuckRank>| -> Vec<u32> {
            circle_first(stuck).iter().map(|one| one.rank).collect()
        };
        assert_eq!(
            ranks(vec![to(0, 2), to(1, 0), to(2, 3), to(3, 2)]),
            [2, 3, 0, 1]
        );
        assert_eq!(ranks(vec![to(0, 1), waits(1, "recv\t*\t0\tc")]), [0, 1]);
        assert_eq!(ranks(vec![to(1, 9)]), [1]);
        assert!(ranks(vec![]).is_empty());
    }
}
