// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program that does something wrong is told. All calls with all their errors are tried on both
//! machines (`rcce_errors.rs` of the host's crate); here is what needs two ends, or an end.

use corecast_core::Rank;
use corecast_machine::{Await, LibraryCall, RunError};
use corecast_rcce::{Misuse, Rcce, RcceError};

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
