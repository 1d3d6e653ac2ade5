// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program that does something wrong is told. All calls with all their errors are tried on both
//! machines (`rcce_errors.rs` of the host's crate); here is what needs two ends, or an end.

use corecast_core::{Help as _, Rank};
use corecast_machine::{Await, LibraryCall, RunError};
use corecast_rcce::{CallSite, Flag, Misuse, Rcce, RcceError, Until};

use crate::cores::{PRIVATE_BYTES, PlainCore, run};

/// The error of a program of two ranks, which does not depend on the order of turns.
fn error_of(program: impl AsyncFn(&mut Rcce<PlainCore>) -> Result<(), RcceError>) -> RcceError {
    let of = |seed| run(2, seed, &program).expect_err("it is wrong");
    let error = of(0);
    assert!((1..20).all(|seed| of(seed) == error), "{error}");
    error
}

fn misuse_of(error: RcceError) -> (Rank, &'static str, Misuse) {
    match error {
        RcceError::Call { rank, call, misuse } => (rank, call.name, misuse),
        other => panic!("{other}"),
    }
}

#[test]
fn two_ends_of_different_sizes() {
    let error = error_of(async |rcce| {
        let (small, large) = (rcce.alloc(4)?, rcce.alloc(300)?);
        match rcce.ue() {
            Rank(0) => rcce.send(Rank(1), large).await,
            _ => rcce.recv(Rank(0), small).await,
        }
    });
    let misuse = Misuse::Length {
        from: Rank(0),
        sent: 300,
        expected: 4,
    };
    assert_eq!(misuse_of(error), (Rank(1), "RCCE_recv", misuse));
}

#[test]
fn two_ends_of_different_chunks() {
    let error = error_of(async |rcce| {
        let buffer = rcce.alloc(64)?;
        match rcce.ue() {
            Rank(0) => {
                let request = rcce.isend(Rank(1), buffer).await?;
                rcce.wait(request).await
            }
            _ => {
                rcce.malloc(32)?;
                let request = rcce.irecv(Rank(0), buffer).await?;
                rcce.wait(request).await
            }
        }
    });
    let misuse = Misuse::Chunks {
        from: Rank(0),
        theirs: 96,
        ours: 64,
    };
    assert_eq!(misuse_of(error), (Rank(1), "iRCCE_wait", misuse));
}

#[test]
fn a_deadlock_names_both_calls() {
    let error = error_of(async |rcce| {
        let buffer = rcce.alloc(8)?;
        let other = Rank(1 - rcce.ue().0);
        rcce.recv(other, buffer).await
    });
    let RcceError::Run(RunError::Deadlock { blocked, .. }) = error else {
        panic!("{error}");
    };
    let told: Vec<_> = blocked
        .iter()
        .map(|b| (b.rank, b.peer, b.awaits, b.call))
        .collect();
    let call = Some(LibraryCall::OfRank("RCCE_recv"));
    let expected = [
        (Rank(0), Rank(1), Await::Recv, call),
        (Rank(1), Rank(0), Await::Recv, call),
    ];
    assert_eq!(told, expected);
}

#[test]
fn looking_for_ever_ends_with_the_run() {
    let error = error_of(async |rcce| {
        let flag = rcce.flag_alloc()?;
        while !rcce.flag_read(flag, rcce.ue()).await? {}
        Ok(())
    });
    assert!(
        matches!(error, RcceError::Run(ref run) if run.is_limit()),
        "{error}"
    );
}

#[test]
fn who_does_not_wait_for_a_request_hears_of_it_at_the_end() {
    let error = error_of(async |rcce| {
        let buffer = rcce.alloc(8)?;
        if rcce.ue() == Rank(0) {
            rcce.irecv(Rank(1), buffer).await?;
        }
        Ok(())
    });
    let misuse = Misuse::Pending { count: 1, first: 0 };
    assert_eq!(misuse_of(error), (Rank(0), "RCCE_finalize", misuse));
}

#[test]
fn memory_and_buffers_are_finite_and_are_given_back() {
    let error = error_of(async |rcce| {
        if rcce.ue() == Rank(1) {
            return Ok(());
        }
        // The same again: a reduction gives back what it takes for itself.
        let half = rcce.alloc(PRIVATE_BYTES as usize / 2)?;
        let group = rcce.comm_split(|rank| rank)?;
        let (element, op) = (corecast_core::ElementType::U8, corecast_core::ReduceOp::Max);
        for _ in 0..3 {
            rcce.allreduce((half, half), element, op, &group).await?;
        }
        rcce.alloc(PRIVATE_BYTES as usize / 2 + 1).map(drop)
    });
    let misuse = Misuse::OutOfMemory {
        bytes: PRIVATE_BYTES as usize / 2 + 1,
        used: PRIVATE_BYTES as usize / 2,
        max: PRIVATE_BYTES,
    };
    assert_eq!(misuse_of(error), (Rank(0), "malloc", misuse));
}

#[test]
fn a_communicator_of_another_run_is_refused() {
    let kept = run(2, 0, async |rcce| rcce.comm_split(|rank| rank));
    let kept = kept.expect("it runs").outputs;
    let error = error_of(async |rcce| match rcce.ue() {
        Rank(0) => rcce.barrier(&kept[0]).await,
        _ => Ok(()),
    });
    let told = (Rank(0), "RCCE_barrier", Misuse::ForeignComm);
    assert_eq!(misuse_of(error), told);
}

/// Its flags are those of every run, but not all of its members exist.
#[test]
fn a_communicator_of_more_ranks_is_refused() {
    let kept = run(3, 0, async |rcce| Ok(rcce.world()));
    let kept = kept.expect("it runs").outputs;
    let error = error_of(async |rcce| match rcce.ue() {
        Rank(0) => rcce.barrier(&kept[0]).await,
        _ => Ok(()),
    });
    let told = (Rank(0), "RCCE_barrier", Misuse::ForeignComm);
    assert_eq!(misuse_of(error), told);
}

/// What would be right stands beside what is wrong.
#[test]
fn errors_come_with_advice() {
    let (rank, from, bytes) = (Rank(7), Rank(0), 9);
    let rows = [
        (
            Misuse::UnknownRank { rank, ranks: 4 },
            "rank 7 does not exist",
            "with 4 ranks it must be 0 to 3",
        ),
        (
            Misuse::Itself,
            "a rank exchanges no messages with itself",
            "copy the bytes",
        ),
        (
            Misuse::BufferInUse {
                start: 1,
                end: 3,
                request: 2,
                is_receive: true,
            },
            "bytes 1 to 3 of private memory belong to pending request 2 (a receive)",
            "wait for it first",
        ),
        (
            Misuse::Overlap,
            "the buffers overlap",
            "they must be one and the same or have no byte in common",
        ),
        (
            Misuse::SizesDiffer { from: 1, to: 2 },
            "the buffers have 1 and 2 bytes",
            "they must have the same size",
        ),
        (
            Misuse::Chunks {
                from,
                theirs: 96,
                ours: 64,
            },
            "rank 0 sends chunks of 96 bytes and this rank receives chunks of 64",
            "all ranks must allocate the same in their buffers (RCCE_malloc)",
        ),
        (
            Misuse::NotPending { request: 3 },
            "request 3 is not pending",
            "it was waited for, tested or cancelled before",
        ),
        (
            Misuse::Pending { count: 2, first: 1 },
            "requests are pending (2, first request 1)",
            "wait for them or cancel them",
        ),
        (
            Misuse::OutOfBuffer { bytes, free: 64 },
            "9 bytes do not fit into the message passing buffer",
            "64 are free",
        ),
        (
            Misuse::UnknownFlag { flag: 5 },
            "flag 5 is not allocated",
            "it was freed before",
        ),
        (
            Misuse::OutOfFlags { max: 254 },
            "all 254 flags are in use",
            "",
        ),
    ];
    for (misuse, says, advises) in rows {
        assert_eq!(
            (misuse.to_string().as_str(), misuse.help().as_str()),
            (says, advises)
        );
        let call = CallSite {
            name: "RCCE_send",
            index: 1,
        };
        let error = RcceError::Call { rank, call, misuse };
        assert_eq!(error.help(), advises);
    }
    let chip = "tilepro64".to_owned();
    let advice = "RCCE needs a chip that does, such as scc";
    assert_eq!(RcceError::NoBuffers { chip }.help(), advice);
    let run = RunError::NotPending { rank, call: 1 };
    assert_eq!(RcceError::Run(run.clone()).help(), run.help());
    assert!(!run.help().is_empty());
}

/// Parts of buffers may be empty and reach to their ends, and no further.
#[test]
fn parts_lie_inside() {
    let all = run(1, 0, async |rcce| {
        let (first, buffer, space) = (rcce.alloc(3)?, rcce.alloc(40)?, rcce.malloc(40)?);
        assert_eq!((first.address(), buffer.address()), (0, 32));
        assert_eq!((buffer.len(), space.len()), (40, 40));
        assert!(!buffer.is_empty() && !space.is_empty());
        for (start, end) in [(0, 40), (40, 40), (7, 9), (0, 0)] {
            let (part, of_space) = (buffer.slice(start..end)?, space.slice(start..end)?);
            assert_eq!((part.len(), of_space.len()), (end - start, end - start));
            assert_eq!(part.address(), 32 + start as u64);
            assert_eq!(
                (part.is_empty(), of_space.is_empty()),
                (start == end, start == end)
            );
            // And parts of them.
            assert_eq!(of_space.slice(0..0)?.len(), 0);
            assert!(part.slice(0..end - start + 1).is_err());
        }
        for (start, end) in [(0, 41), (41, 41), (9, 7)] {
            let error = RcceError::Slice {
                start,
                end,
                bytes: 40,
            };
            assert_eq!(buffer.slice(start..end), Err(error.clone()));
            assert_eq!(space.slice(start..end), Err(error));
        }
        Ok(())
    });
    all.expect("it runs");
}

/// A flag belongs to the pair that it is numbered after, or to nobody.
#[test]
fn flags_are_numbered_by_pair() {
    let cores = 3;
    let all: Vec<Flag> = (0..cores)
        .flat_map(|core| [Flag::sent(Rank(core)), Flag::ready(Rank(core))])
        .chain((0..2).map(|index| Flag::other(cores, index)))
        .collect();
    assert_eq!(all, (0..8).map(Flag).collect::<Vec<_>>());
    let setters: Vec<_> = all.iter().map(|flag| flag.setter(cores)).collect();
    let [zero, one, two] = [0, 1, 2].map(|core| Some(Rank(core)));
    assert_eq!(setters, [zero, zero, one, one, two, two, None, None]);
}

/// Counts go round: ahead is up to half of the way.
#[test]
fn a_count_is_reached_up_to_half_a_round_ahead() {
    for wanted in [0, 1, 200, 255_u8] {
        for (ahead, holds) in [
            (0, true),
            (1, true),
            (127, true),
            (128, false),
            (255, false),
        ] {
            let value = wanted.wrapping_add(ahead);
            assert_eq!(
                Until::Reached(wanted).holds(value),
                holds,
                "{wanted} + {ahead}"
            );
            assert_eq!(Until::Is(wanted).holds(value), ahead == 0);
        }
    }
}
