// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives of RCCE against values computed here, on both machines.

use crate::common;

use corecast_core::random::SplitMix64;
use corecast_core::{ElementType, Rank, ReduceOp};
use corecast_machine::{RunOptions, Time};
use corecast_machine_host::HostMachine;
use corecast_rcce::{Core, Rcce, RcceError, RcceProgram};

/// Operands of a rank: floats in `[1, 2)`, so that sums round and their order matters.
fn operands(rank: Rank) -> Vec<u8> {
    let mut mix = SplitMix64::new(u64::from(rank.0));
    let values = (0..1200).map(|_| 1.0 + (mix.next() >> 11) as f64 / (1_u64 << 53) as f64);
    values.flat_map(f64::to_le_bytes).collect()
}

/// The operands of `members`, those of number `root` first, then in order.
fn reduced(members: &[Rank], root: usize, op: ReduceOp) -> Vec<u8> {
    let mut result = operands(members[root]);
    for (index, &rank) in members.iter().enumerate() {
        if index != root {
            op.apply(ElementType::F64, &mut result, &operands(rank));
        }
    }
    result
}

struct Reductions {
    op: ReduceOp,
}

impl RcceProgram for Reductions {
    /// The result of a reduction to the last member, and of one for all.
    type Output = [Vec<u8>; 2];

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Self::Output, RcceError> {
        let world = rcce.world();
        let mine = operands(rcce.ue());
        let (from, to) = (rcce.alloc(mine.len())?, rcce.alloc(mine.len())?);
        rcce.bytes_mut(from)?.copy_from_slice(&mine);
        let last = Rank(world.size() - 1);
        rcce.reduce((from, to), ElementType::F64, self.op, last, &world)
            .await?;
        let reduced = rcce.bytes(to)?.to_vec();
        // In place.
        rcce.allreduce((from, from), ElementType::F64, self.op, &world)
            .await?;
        Ok([reduced, rcce.bytes(from)?.to_vec()])
    }
}

#[test]
fn reductions_have_every_operand_once_and_in_order() {
    for op in ReduceOp::ALL {
        for ranks in 1..=12 {
            let members: Vec<Rank> = (0..ranks).map(Rank).collect();
            let last = ranks as usize - 1;
            let outputs = common::outputs(ranks, &Reductions { op });
            for (rank, [to_last, to_all]) in outputs.into_iter().enumerate() {
                let untouched = vec![0; to_last.len()];
                let wanted = if rank == last {
                    reduced(&members, last, op)
                } else {
                    untouched
                };
                assert!(to_last == wanted, "{op:?} to rank {last} of {ranks}");
                assert!(
                    to_all == reduced(&members, 0, op),
                    "{op:?} for all of {ranks}"
                );
            }
        }
    }
}

struct Broadcasts;

impl RcceProgram for Broadcasts {
    /// The sum of what was received from every root.
    type Output = u64;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<u64, RcceError> {
        let world = rcce.world();
        let mut sum = 0;
        for root in (0..rcce.num_ues()).map(Rank) {
            let buffer = rcce.alloc(8100)?;
            if rcce.ue() == root {
                rcce.bytes_mut(buffer)?.fill(root.0 as u8 + 1);
            }
            rcce.bcast(buffer, root, &world).await?;
            sum += rcce
                .bytes(buffer)?
                .iter()
                .map(|&byte| u64::from(byte))
                .sum::<u64>();
        }
        Ok(sum)
    }
}

#[test]
fn everybody_has_what_the_root_had() {
    for ranks in 1..=12 {
        let numbers = u64::from(ranks * (ranks + 1) / 2);
        assert_eq!(
            common::outputs(ranks, &Broadcasts),
            vec![8100 * numbers; ranks as usize]
        );
    }
}

/// Two groups, of even and of odd ranks, reduce at once; then all meet.
struct Groups;

impl RcceProgram for Groups {
    type Output = (u32, u32, Vec<u8>);

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Self::Output, RcceError> {
        let group = rcce.comm_split(|rank| rank.0 % 2)?;
        let mine = operands(rcce.ue());
        let buffer = rcce.alloc(mine.len())?;
        rcce.bytes_mut(buffer)?.copy_from_slice(&mine);
        rcce.barrier(&group).await?;
        let both = (buffer, buffer);
        rcce.allreduce(both, ElementType::F64, ReduceOp::Sum, &group)
            .await?;
        rcce.barrier(&rcce.world()).await?;
        rcce.barrier(&group).await?;
        Ok((group.rank().0, group.size(), rcce.bytes(buffer)?.to_vec()))
    }
}

#[test]
fn groups_do_not_disturb_each_other() {
    for ranks in 1..=9 {
        for (rank, (number, size, sum)) in (0..).zip(common::outputs(ranks, &Groups)) {
            let members = (0..ranks).filter(|other| other % 2 == rank % 2);
            let members: Vec<Rank> = members.map(Rank).collect();
            assert_eq!((number, size), (rank / 2, members.len() as u32));
            assert!(
                sum == reduced(&members, 0, ReduceOp::Sum),
                "rank {rank} of {ranks}"
            );
        }
    }
}

/// Barriers between phases of different length.
struct Phases;

impl RcceProgram for Phases {
    /// When each barrier was entered and left.
    type Output = Vec<[Time; 2]>;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Self::Output, RcceError> {
        let world = rcce.world();
        let mut times = Vec::new();
        for phase in 0..5 {
            let us = u64::from((rcce.ue().0 + phase) % rcce.num_ues());
            rcce.compute(Time::from_ps(us * 1_000_000)).await;
            let begin = rcce.wtime();
            rcce.barrier(&world).await?;
            times.push([begin, rcce.wtime()]);
        }
        Ok(times)
    }
}

#[test]
fn nobody_leaves_a_barrier_before_everybody_is_there() {
    for ranks in 1..=12 {
        let late = vec![Time::from_ps(5_000_000); ranks as usize / 2];
        let options = RunOptions {
            late,
            ..RunOptions::default()
        };
        let sim = common::scc().run_rcce(ranks, &Phases, &options);
        let host = HostMachine.run_rcce(ranks, &Phases, &options);
        for run in [sim, host] {
            let run = run.expect("it runs");
            for phase in 0..5 {
                let times = || run.outputs.iter().map(|times| times[phase]);
                let last_in = times().map(|[entered, _]| entered).max();
                let first_out = times().map(|[_, left]| left).min();
                assert!(last_in <= first_out, "phase {phase} of {ranks} ranks");
            }
        }
    }
}

/// The first barrier of two ranks, step by step: the head reads the other's flag at its pace, then
/// releases it.
#[test]
fn a_barrier_takes_the_time_of_its_flags() {
    let chip = corecast_chip::find("scc").expect("a built-in chip");
    let corecast_chip::System::Mpb { mesh, rcce, .. } = chip.system() else {
        panic!("the SCC has message passing buffers")
    };
    let core = |cycles: u64| rcce.clock.to_ps(cycles);
    // Ranks 0 and 1 are the cores of one tile: no hops.
    assert_eq!(mesh.grid.per_node, 2);
    let (own_read, own_write) = rcce.own_cycles();
    let read_remote = core(rcce.mpb_read_cycles);
    let set_own = core(own_write) + core(own_write);
    let set_remote = core(rcce.mpb_write_cycles) + core(own_write);
    // Both read and set their own flag, both are there; the head finds it at its first reading.
    let together = core(own_read) + set_own;
    let head = together + read_remote + set_remote;
    // The flag is there after half of its line's time. The other one reads it at the end of a turn;
    // its turns began when it was there itself.
    let released = head - core(rcce.mpb_write_cycles) / 2;
    let turn = core(own_read);
    let other = together + turn * (released - together).div_ceil(turn);

    struct Once;
    impl RcceProgram for Once {
        type Output = ();

        async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(), RcceError> {
            rcce.barrier(&rcce.world()).await
        }
    }
    let run = common::scc().run_rcce(2, &Once, &RunOptions::default());
    let finish = run.expect("it runs").finish;
    assert_eq!(finish, [Time::from_ps(head), Time::from_ps(other)]);
}
