// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs can do wrong, and what they are told, on both machines.

use crate::common;

use corecast_core::{ElementType, Help as _, Rank, ReduceOp};
use corecast_machine::{Limits, RunError, RunOptions, Time};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;
use corecast_rcce::{Buffer, Comm, Core, MpbBuffer, Rcce, RcceError, RcceProgram, WaitList};

/// What rank 0 does wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Wrong {
    UnknownRank,
    UnknownMember,
    Itself,
    OutOfMemory,
    Slice,
    Foreign(Buffer),
    TwoReceives,
    ReceiveOverSend,
    SendFromReceive,
    BlockingOverReceive,
    ReadReceiving,
    WriteSending,
    WaitTwice,
    TestCancelled,
    WaitForNone,
    EndPending,
    MallocPending,
    TooMuchBuffer,
    TooManyFlags,
    FreedFlag,
    PutBeyondEnd,
    GetFromUnknown,
    SizesDiffer,
    NotWhole,
    Overlap,
}

impl RcceProgram for Wrong {
    type Output = ();

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(), RcceError> {
        let other = Rank(1);
        if rcce.ue() == other {
            return Ok(());
        }
        if let Self::Foreign(buffer) = *self {
            return rcce.send(other, buffer).await;
        }
        let (a, b) = (rcce.alloc(100)?, rcce.alloc(100)?);
        let (element, op, world) = (ElementType::F64, ReduceOp::Sum, rcce.world());
        match self {
            Self::UnknownRank => rcce.send(Rank(7), a).await,
            Self::UnknownMember => rcce.bcast(a, Rank(2), &world).await,
            Self::Itself => rcce.irecv(Rank(0), a).await.map(drop),
            Self::OutOfMemory => rcce.alloc(320 << 20).map(drop),
            Self::Slice => a.slice(90..101).map(drop),
            Self::Foreign(_) => unreachable!("see above"),
            Self::TwoReceives => {
                rcce.irecv(other, a).await?;
                rcce.irecv(other, a.slice(99..100)?).await.map(drop)
            }
            Self::ReceiveOverSend => {
                rcce.isend(other, a).await?;
                rcce.irecv(other, a).await.map(drop)
            }
            Self::SendFromReceive => {
                rcce.irecv(other, a).await?;
                rcce.isend(other, a).await.map(drop)
            }
            Self::BlockingOverReceive => {
                rcce.irecv(other, a).await?;
                rcce.recv(other, a.slice(0..50)?).await
            }
            Self::ReadReceiving => {
                rcce.irecv(other, a).await?;
                rcce.bytes(a).map(drop)
            }
            Self::WriteSending => {
                rcce.isend(other, a).await?;
                rcce.isend(other, a).await?;
                rcce.bytes(a)?;
                rcce.bytes_mut(a).map(drop)
            }
            Self::WaitTwice => {
                let request = rcce.irecv(other, a).await?;
                rcce.cancel(request)?;
                rcce.wait(request).await
            }
            Self::TestCancelled => {
                let request = rcce.irecv(other, a).await?;
                rcce.cancel(request)?;
                rcce.test(request).await.map(drop)
            }
            Self::WaitForNone => rcce.wait_any(&mut WaitList::new()).await.map(drop),
            Self::EndPending => {
                rcce.irecv(other, a).await?;
                rcce.irecv(other, b).await.map(drop)
            }
            Self::MallocPending => {
                rcce.irecv(other, a).await?;
                rcce.malloc(32).map(drop)
            }
            Self::TooMuchBuffer => {
                rcce.malloc(7900)?;
                rcce.malloc(101).map(drop)
            }
            Self::TooManyFlags => loop {
                rcce.flag_alloc()?;
            },
            Self::FreedFlag => {
                let flag = rcce.flag_alloc()?;
                rcce.flag_free(flag)?;
                rcce.flag_write(flag, true, other).await
            }
            Self::PutBeyondEnd => {
                let space = rcce.malloc(99)?;
                rcce.put(space, a, other).await
            }
            Self::GetFromUnknown => {
                let space = rcce.malloc(100)?;
                rcce.get(a, space, Rank(2)).await
            }
            Self::SizesDiffer => {
                let to = b.slice(0..96)?;
                rcce.reduce((a, to), element, op, Rank(1), &world).await
            }
            Self::NotWhole => rcce.allreduce((a, b), element, op, &world).await,
            Self::Overlap => {
                let operands = (a.slice(0..80)?, a.slice(8..88)?);
                rcce.allreduce(operands, element, op, &world).await
            }
        }
    }
}

/// A buffer that nobody else has.
struct Allocate;

impl RcceProgram for Allocate {
    type Output = Buffer;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Buffer, RcceError> {
        rcce.alloc(64)
    }
}

#[test]
fn every_mistake_is_told() {
    let foreign = common::outputs(1, &Allocate)[0];
    let told = [
        (
            Wrong::UnknownRank,
            "rank 0, RCCE_send (call 2): rank 7 does not exist\n  with 2 ranks it must be 0 to 1",
        ),
        (
            Wrong::UnknownMember,
            "rank 0, RCCE_bcast (call 2): rank 2 does not exist\n  with 2 ranks it must be 0 to 1",
        ),
        (
            Wrong::Itself,
            "rank 0, iRCCE_irecv (call 2): a rank exchanges no messages with itself\n  copy the bytes",
        ),
        (
            Wrong::OutOfMemory,
            "rank 0, malloc (call 2): 335544320 bytes do not fit: 228 of the 335544320 bytes of private memory are in use",
        ),
        (
            Wrong::Slice,
            "bytes 90 to 101 do not lie in a buffer of 100 bytes",
        ),
        (
            Wrong::Foreign(foreign),
            "rank 0, RCCE_send (call 0): bytes 0 to 64 of private memory belong to no buffer of this rank",
        ),
        (
            Wrong::TwoReceives,
            "rank 0, iRCCE_irecv (call 3): bytes 99 to 100 of private memory belong to pending request 0 (a receive)\n  wait for it first",
        ),
        (
            Wrong::ReceiveOverSend,
            "rank 0, iRCCE_irecv (call 3): bytes 0 to 100 of private memory belong to pending request 0 (a send)\n  wait for it first",
        ),
        (
            Wrong::SendFromReceive,
            "rank 0, iRCCE_isend (call 3): bytes 0 to 100 of private memory belong to pending request 0 (a receive)\n  wait for it first",
        ),
        (
            Wrong::BlockingOverReceive,
            "rank 0, RCCE_recv (call 3): bytes 0 to 50 of private memory belong to pending request 0 (a receive)\n  wait for it first",
        ),
        (
            Wrong::ReadReceiving,
            "rank 0, access to memory (call 3): bytes 0 to 100 of private memory belong to pending request 0 (a receive)\n  wait for it first",
        ),
        (
            Wrong::WriteSending,
            "rank 0, access to memory (call 4): bytes 0 to 100 of private memory belong to pending request 0 (a send)\n  wait for it first",
        ),
        (
            Wrong::WaitTwice,
            "rank 0, iRCCE_wait (call 4): request 0 is not pending\n  it was waited for, tested or cancelled before",
        ),
        (
            Wrong::TestCancelled,
            "rank 0, iRCCE_test (call 4): request 0 is not pending\n  it was waited for, tested or cancelled before",
        ),
        (
            Wrong::WaitForNone,
            "rank 0, iRCCE_wait_any (call 2): the wait list is empty, so none of its requests can complete",
        ),
        (
            Wrong::EndPending,
            "rank 0, RCCE_finalize (call 4): requests are pending (2, first request 0)\n  wait for them or cancel them",
        ),
        (
            Wrong::MallocPending,
            "rank 0, RCCE_malloc (call 3): requests are pending (1, first request 0)\n  wait for them or cancel them",
        ),
        (
            Wrong::TooMuchBuffer,
            "rank 0, RCCE_malloc (call 3): 101 bytes do not fit into the message passing buffer\n  96 are free",
        ),
        (
            Wrong::TooManyFlags,
            "rank 0, RCCE_flag_alloc (call 256): all 254 flags are in use",
        ),
        (
            Wrong::FreedFlag,
            "rank 0, RCCE_flag_write (call 4): flag 2 is not allocated\n  it was freed before",
        ),
        (
            Wrong::PutBeyondEnd,
            "rank 0, RCCE_put (call 3): 100 bytes do not fit into the 99 bytes allocated in the buffer",
        ),
        (
            Wrong::GetFromUnknown,
            "rank 0, RCCE_get (call 3): rank 2 does not exist\n  with 2 ranks it must be 0 to 1",
        ),
        (
            Wrong::SizesDiffer,
            "rank 0, RCCE_reduce (call 2): the buffers have 100 and 96 bytes\n  they must have the same size",
        ),
        (
            Wrong::NotWhole,
            "rank 0, RCCE_allreduce (call 2): 100 bytes are not a whole number of f64 elements",
        ),
        (
            Wrong::Overlap,
            "rank 0, RCCE_allreduce (call 2): the buffers overlap\n  they must be one and the same or have no byte in common",
        ),
    ];
    for (wrong, text) in told {
        assert_eq!(common::errors(2, &wrong), [text; 2], "{wrong:?}");
    }
}

/// A communicator and space in the buffers, for others to misuse.
struct Lend;

impl RcceProgram for Lend {
    type Output = (Comm, MpbBuffer);

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(Comm, MpbBuffer), RcceError> {
        let group = rcce.comm_split(|_| 0)?;
        Ok((group, rcce.malloc(64)?))
    }
}

/// Uses what another run has lent.
struct Borrow(Comm, MpbBuffer);

impl RcceProgram for Borrow {
    type Output = [String; 3];

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<[String; 3], RcceError> {
        let buffer = rcce.alloc(64)?;
        let barrier = rcce.barrier(&self.0).await.map_err(|e| e.to_string());
        let bcast = rcce.bcast(buffer, Rank(0), &self.0).await;
        let put = rcce.put(self.1, buffer, Rank(0)).await;
        let told = [
            barrier,
            bcast.map_err(|e| e.to_string()),
            put.map_err(|e| e.to_string()),
        ];
        Ok(told.map(|outcome| outcome.expect_err("it is not this rank's")))
    }
}

#[test]
fn what_another_run_has_made_is_refused() {
    let (group, space) = common::outputs(3, &Lend).remove(0);
    let told = common::outputs(1, &Borrow(group, space)).remove(0);
    let foreign = "the communicator was made by another rank or in another run";
    assert_eq!(told[0], format!("rank 0, RCCE_barrier (call 1): {foreign}"));
    assert_eq!(told[1], format!("rank 0, RCCE_bcast (call 2): {foreign}"));
    assert_eq!(
        told[2],
        "rank 0, RCCE_put (call 3): bytes 7968 to 8032 of the buffer are not allocated by this \
         rank (RCCE_malloc)"
    );
}

/// The two ends of a message do not agree.
enum Disagree {
    /// Bytes that rank 0 sends and rank 1 receives, by requests or not.
    Sizes(usize, usize, bool),
    /// Only rank 0 allocates in the buffers.
    Chunks,
}

impl RcceProgram for Disagree {
    type Output = ();

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(), RcceError> {
        let is_first = rcce.ue() == Rank(0);
        let (bytes, is_blocking) = match *self {
            Self::Sizes(sent, _, is_blocking) if is_first => (sent, is_blocking),
            Self::Sizes(_, received, is_blocking) => (received, is_blocking),
            Self::Chunks => (10, true),
        };
        let buffer = rcce.alloc(bytes)?;
        if is_first {
            if matches!(self, Self::Chunks) {
                rcce.malloc(100)?;
            }
            return rcce.send(Rank(1), buffer).await;
        }
        if is_blocking {
            return rcce.recv(Rank(0), buffer).await;
        }
        let request = rcce.irecv(Rank(0), buffer).await?;
        rcce.wait(request).await
    }
}

#[test]
fn sizes_that_differ_are_told_by_the_receiver() {
    let told = [
        (
            Disagree::Sizes(20000, 100, true),
            "rank 1, RCCE_recv (call 1): rank 0 sends 20000 bytes, but 100 are to be received",
        ),
        (
            Disagree::Sizes(100, 20000, true),
            "rank 1, RCCE_recv (call 1): rank 0 sends 100 bytes, but 20000 are to be received",
        ),
        (
            Disagree::Sizes(0, 1, false),
            "rank 1, iRCCE_wait (call 2): rank 0 sends 0 bytes, but 1 are to be received",
        ),
        (
            Disagree::Chunks,
            "rank 1, RCCE_recv (call 1): rank 0 sends chunks of 7904 bytes and this rank receives chunks of 8032\n  all ranks must allocate the same in their buffers (RCCE_malloc)",
        ),
    ];
    for (program, text) in told {
        assert_eq!(common::errors(2, &program), [text; 2]);
    }
}

/// Two ranks that wait for each other, or for something that never comes.
#[derive(Clone, Copy)]
enum Stuck {
    BothSend,
    BothReceive,
    Requests,
    Barrier,
    Flag,
}

impl RcceProgram for Stuck {
    type Output = ();

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(), RcceError> {
        let (me, peer) = (rcce.ue(), Rank(1 - rcce.ue().0));
        let buffer = rcce.alloc(40)?;
        match self {
            Self::BothSend => rcce.send(peer, buffer).await,
            Self::BothReceive => rcce.recv(peer, buffer).await,
            Self::Requests if me == Rank(0) => {
                let mut list = WaitList::new();
                list.add(rcce.irecv(peer, buffer).await?);
                rcce.wait_all(&mut list).await
            }
            Self::Requests => rcce.bcast(buffer, Rank(0), &rcce.world()).await,
            Self::Barrier if me == Rank(0) => rcce.barrier(&rcce.world()).await,
            Self::Flag if me == Rank(0) => {
                let flag = rcce.flag_alloc()?;
                rcce.wait_until(flag, true).await
            }
            Self::Barrier | Self::Flag => Ok(()),
        }
    }
}

/// The lines about ranks, without times.
fn without_times(error: &str) -> Vec<String> {
    let lines = error.lines().skip(1);
    let line = |line: &str| {
        line.split(", since")
            .next()
            .unwrap_or(line)
            .trim()
            .to_owned()
    };
    lines.map(line).collect()
}

#[test]
fn a_deadlock_names_the_calls_of_both() {
    let told: [(Stuck, &[&str]); 5] = [
        (
            Stuck::BothSend,
            &[
                "rank 0 waits in RCCE_send for rank 1 (call 1",
                "rank 1 waits in RCCE_send for rank 0 (call 1",
            ],
        ),
        (
            Stuck::BothReceive,
            &[
                "rank 0 waits in RCCE_recv for rank 1 (call 1",
                "rank 1 waits in RCCE_recv for rank 0 (call 1",
            ],
        ),
        (
            Stuck::Requests,
            &[
                "rank 0 waits in iRCCE_wait_all for rank 1 (call 2",
                "rank 1 waits in RCCE_bcast for rank 0 (call 1",
            ],
        ),
        (
            Stuck::Barrier,
            &["rank 0 waits in RCCE_barrier for rank 1 (call 1"],
        ),
        (
            Stuck::Flag,
            &["rank 0 waits in RCCE_wait_until for a flag (call 2"],
        ),
    ];
    for (program, lines) in told {
        for error in common::errors(2, &program) {
            assert!(error.starts_with("deadlock at "), "{error}");
            assert_eq!(without_times(&error), lines, "{error}");
        }
    }
}

#[test]
fn a_deadlock_on_the_chip_has_its_times() {
    let [simulated, _] = common::errors(2, &Stuck::BothReceive);
    // Each waits once the software of its call is through.
    let chip = corecast_chip::find("scc").expect("built in");
    let corecast_chip::System::Mpb { rcce, .. } = chip.system() else {
        panic!("a chip with buffers");
    };
    let at = corecast_machine::Time::from_ps(rcce.clock.to_ps(rcce.rcce_cycles));
    assert_eq!(
        simulated,
        format!(
            "deadlock at {at}: no rank can go on\n  \
             rank 0 waits in RCCE_recv for rank 1 (call 1, since {at})\n  \
             rank 1 waits in RCCE_recv for rank 0 (call 1, since {at})"
        )
    );
}

/// Rank 0 looks again and again at a request that nobody answers.
struct Spin;

impl RcceProgram for Spin {
    type Output = ();

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(), RcceError> {
        if rcce.ue() == Rank(0) {
            let buffer = rcce.alloc(4)?;
            let request = rcce.irecv(Rank(1), buffer).await?;
            while !rcce.test(request).await? {}
        }
        loop {
            rcce.push().await?; // what is not there
        }
    }
}

#[test]
fn looking_for_ever_ends_at_the_limit() {
    let time = Time::from_ps(20_000_000_000);
    let limits = Limits {
        time,
        ..Limits::default()
    };
    let options = RunOptions {
        limits,
        ..RunOptions::default()
    };
    let sim = common::scc().run_rcce(2, &Spin, &options).err();
    let host = HostMachine.run_rcce(2, &Spin, &options).err();
    for error in [sim, host] {
        let is_limit = matches!(error, Some(RcceError::Run(RunError::TimeLimit { .. })));
        assert!(is_limit, "{error:?}");
    }
}

/// Rank 1 panics while the others wait for it.
struct Panic;

impl RcceProgram for Panic {
    type Output = ();

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(), RcceError> {
        assert_ne!(rcce.ue(), Rank(1), "rank 1 gives up");
        rcce.barrier(&rcce.world()).await
    }
}

#[test]
fn a_dead_thread_ends_everybody() {
    let error = HostMachine.run_rcce(4, &Panic, &RunOptions::default());
    let error = error.expect_err("a rank has died").to_string();
    assert!(
        error.starts_with("rank 1 failed: ") && error.contains("gives up"),
        "{error}"
    );
}

#[test]
fn only_chips_with_buffers_run_programs() {
    let chip = corecast_chip::find("tilepro64").expect("a built-in chip");
    let run = SimMachine::new(&chip).run_rcce(2, &Allocate, &RunOptions::default());
    assert_eq!(
        run.expect_err("it has none").with_help().to_string(),
        "tilepro64 has no message passing buffers\n  RCCE needs a chip that does, such as scc"
    );
}

#[test]
fn there_are_not_more_ranks_than_cores() {
    let [sim, host] = common::errors(257, &Allocate);
    assert_eq!(sim, "scc has 48 cores\n  257 ranks do not fit");
    assert_eq!(
        host,
        "machine threads has 256 cores\n  257 ranks do not fit"
    );
}
