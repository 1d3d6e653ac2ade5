// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports and services of a job: who waits for whom.
//!
//! A port is a name that the launcher deals; two groups of ranks that ask for the two sides of one are
//! told each other's greeting, in the order in which they have come.

use std::collections::{BTreeMap, VecDeque};

use corecast_mpi::launcher::{Answer, Refusal};

/// Who has asked, and the number by which it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asker {
    pub rank: u32,
    pub number: u64,
}

/// An answer that is due.
pub type Due = (Asker, Answer);

/// Ports and services.
#[derive(Debug)]
pub struct Desk {
    /// What the names of this job's ports begin with.
    prefix: String,
    dealt: u64,
    ports: BTreeMap<Vec<u8>, Port>,
    services: BTreeMap<Vec<u8>, Service>,
}

#[derive(Debug)]
struct Port {
    owner: u32,
    /// All of one side.
    waiting: VecDeque<Side>,
}

#[derive(Debug)]
struct Side {
    asker: Asker,
    accepts: bool,
    greeting: Vec<u8>,
}

#[derive(Debug)]
struct Service {
    owner: u32,
    port: Vec<u8>,
}

fn shown(name: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(name))
}

impl Desk {
    /// That of the launcher which is this process.
    pub fn new(process: u32) -> Self {
        Self {
            prefix: format!("corecast-{process}-"),
            dealt: 0,
            ports: BTreeMap::new(),
            services: BTreeMap::new(),
        }
    }

    pub fn open(&mut self, owner: u32) -> Answer {
        self.dealt += 1;
        let name = format!("{}{}", self.prefix, self.dealt).into_bytes();
        let waiting = VecDeque::new();
        self.ports.insert(name.clone(), Port { owner, waiting });
        Answer::Bytes(name)
    }

    /// The answer to who closes a port, and to those who wait there.
    pub fn close(&mut self, asker: Asker, name: &[u8]) -> Vec<Due> {
        match self.ports.remove(name) {
            None => vec![(asker, self.no_port(name))],
            Some(port) => {
                let closed = format!("the port {} was closed", shown(name));
                let sides = port.waiting.into_iter().map(|side| side.asker);
                let sides = sides.map(|side| (side, Answer::No(Refusal::Port, closed.clone())));
                sides.chain([(asker, Answer::Done)]).collect()
            }
        }
    }

    fn no_port(&self, name: &[u8]) -> Answer {
        let (name, prefix) = (String::from_utf8_lossy(name), &self.prefix);
        let why = match name.starts_with("corecast-") && !name.starts_with(prefix) {
            true => "it is of another mpirun; ports connect ranks of one",
            false => "it was closed, or never opened",
        };
        let why = format!("there is no port {name:?}: {why}");
        Answer::No(Refusal::Port, why)
    }

    /// What is due once one more is at a port.
    pub fn meet(
        &mut self,
        (asker, accepts): (Asker, bool),
        name: &[u8],
        greeting: Vec<u8>,
    ) -> Vec<Due> {
        let Some(port) = self.ports.get_mut(name) else {
            return vec![(asker, self.no_port(name))];
        };
        let first = port.waiting.front();
        if first.is_some_and(|first| first.accepts != accepts)
            && let Some(first) = port.waiting.pop_front()
        {
            return vec![
                (asker, Answer::Bytes(first.greeting)),
                (first.asker, Answer::Bytes(greeting)),
            ];
        }
        port.waiting.push_back(Side {
            asker,
            accepts,
            greeting,
        });
        Vec::new()
    }

    pub fn publish(&mut self, owner: u32, name: Vec<u8>, port: Vec<u8>) -> Answer {
        if let Some(known) = self.services.get(&name) {
            let what = format!(
                "the service {} was published by rank {} before",
                shown(&name),
                known.owner
            );
            return Answer::No(Refusal::Service, what);
        }
        self.services.insert(name, Service { owner, port });
        Answer::Done
    }

    pub fn unpublish(&mut self, name: &[u8], port: &[u8]) -> Answer {
        match self.services.get(name) {
            Some(known) if known.port == port => {
                self.services.remove(name);
                Answer::Done
            }
            Some(known) => {
                let (name, known) = (shown(name), shown(&known.port));
                let what = format!("the service {name} is of port {known}");
                Answer::No(Refusal::Service, what)
            }
            None => {
                let what = format!("there is no service {}", shown(name));
                Answer::No(Refusal::Service, what)
            }
        }
    }

    pub fn look_up(&self, name: &[u8]) -> Answer {
        match self.services.get(name) {
            Some(known) => Answer::Bytes(known.port.clone()),
            None => {
                let what = format!("there is no service {}", shown(name));
                Answer::No(Refusal::Name, what)
            }
        }
    }

    /// A rank has ended: its ports and services are gone, and it waits no more. What is due to others.
    pub fn forget(&mut self, rank: u32) -> Vec<Due> {
        self.services.retain(|_, service| service.owner != rank);
        for port in self.ports.values_mut() {
            port.waiting.retain(|side| side.asker.rank != rank);
        }
        let of_it = self.ports.iter().filter(|(_, port)| port.owner == rank);
        let of_it: Vec<Vec<u8>> = of_it.map(|(name, _)| name.clone()).collect();
        let mut due = Vec::new();
        for name in of_it {
            let what = format!("rank {rank}, which opened port {}, has ended", shown(&name));
            let port = self.ports.remove(&name);
            let sides = port.into_iter().flat_map(|port| port.waiting);
            due.extend(sides.map(|side| (side.asker, Answer::No(Refusal::Port, what.clone()))));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(rank: u32) -> Asker {
        let number = u64::from(rank) * 100;
        Asker { rank, number }
    }

    fn opened(desk: &mut Desk, rank: u32) -> Vec<u8> {
        match desk.open(rank) {
            Answer::Bytes(name) => name,
            other => panic!("{other:?}"),
        }
    }

    fn sentences(due: &[Due]) -> Vec<String> {
        let of = |(asker, answer): &Due| match answer {
            Answer::No(refusal, why) => format!("{}: {refusal:?}: {why}", asker.rank),
            other => format!("{}: {other:?}", asker.rank),
        };
        due.iter().map(of).collect()
    }

    #[test]
    fn two_sides_get_each_others_greeting_in_order() {
        let mut desk = Desk::new(7);
        let port = opened(&mut desk, 0);
        assert_eq!(port, b"corecast-7-1");
        assert_eq!(desk.meet((asker(1), false), &port, vec![1]), []);
        assert_eq!(desk.meet((asker(2), false), &port, vec![2]), []);
        for late in [1, 2] {
            let due = desk.meet((asker(0), true), &port, vec![9]);
            let expected = [
                (asker(0), Answer::Bytes(vec![late])),
                (asker(u32::from(late)), Answer::Bytes(vec![9])),
            ];
            assert_eq!(due, expected);
        }
    }

    #[test]
    fn who_waits_for_what_is_gone_is_told_why() {
        let mut desk = Desk::new(7);
        let (one, two) = (opened(&mut desk, 0), opened(&mut desk, 1));
        assert_eq!(desk.meet((asker(2), false), &one, vec![]), []);
        assert_eq!(desk.meet((asker(3), false), &two, vec![]), []);
        assert_eq!(
            sentences(&desk.close(asker(0), &one)),
            ["2: Port: the port \"corecast-7-1\" was closed", "0: Done"]
        );
        assert_eq!(
            sentences(&desk.forget(1)),
            ["3: Port: rank 1, which opened port \"corecast-7-2\", has ended"]
        );
        for (name, why) in [
            (&one[..], "it was closed, or never opened"),
            (b"nonsense", "it was closed, or never opened"),
            (
                b"corecast-8-1",
                "it is of another mpirun; ports connect ranks of one",
            ),
        ] {
            let name_shown = shown(name);
            assert_eq!(
                sentences(&desk.meet((asker(2), true), name, vec![])),
                [format!("2: Port: there is no port {name_shown}: {why}")]
            );
        }
    }

    #[test]
    fn a_service_has_one_port_until_its_owner_ends() {
        let mut desk = Desk::new(7);
        let publish = |desk: &mut Desk, rank| desk.publish(rank, b"s".to_vec(), b"p".to_vec());
        assert_eq!(publish(&mut desk, 0), Answer::Done);
        let taken = "the service \"s\" was published by rank 0 before".to_owned();
        assert_eq!(publish(&mut desk, 1), Answer::No(Refusal::Service, taken));
        assert_eq!(desk.look_up(b"s"), Answer::Bytes(b"p".to_vec()));
        let other = "the service \"s\" is of port \"p\"".to_owned();
        assert_eq!(
            desk.unpublish(b"s", b"q"),
            Answer::No(Refusal::Service, other)
        );
        assert_eq!(desk.forget(0), []);
        let none = "there is no service \"s\"".to_owned();
        assert_eq!(desk.look_up(b"s"), Answer::No(Refusal::Name, none.clone()));
        assert_eq!(
            desk.unpublish(b"s", b"p"),
            Answer::No(Refusal::Service, none)
        );
    }
}
