// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that a program makes again.
//!
//! Programs make the same small calls thousands of times: as many elements of the same type, by the same
//! operator and root, perhaps in another place. What was found out when such a call was made first (that
//! its arguments make sense, that boards are its way, by which kernel it combines) holds as long as the
//! communicator lives if type and operator are predefined, since nobody can change or free these. Only
//! where the buffers lie is looked at again.
#![forbid(unsafe_code)]

use super::run::Buffers;
use super::shared::{PAGE, Task, What};
use super::side::{Cut, Side};
use crate::buffer::{is_nowhere, meet};
use crate::handle::{OpId, TypeId};
use crate::op::Kernel;

/// A collective call by everything but where its buffers lie; both sides have blocks of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The collective.
    pub what: What,
    /// Elements of a block.
    pub count: i64,
    /// Their type.
    pub datatype: TypeId,
    /// The operator, or the null handle.
    pub op: OpId,
    /// The root, or 0.
    pub root: i32,
}

/// What was found out about a call.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    signature: Signature,
    task: Task,
    kernel: Option<Kernel>,
    /// Bytes of all blocks of a side that has some.
    send: Option<usize>,
    recv: Option<usize>,
}

impl Known {
    /// Of a call through boards; none where something of it can be another one the next time.
    #[must_use]
    pub fn new(
        signature: Signature,
        task: Task,
        kernel: Option<Kernel>,
        (send, recv): (Option<&Side>, Option<&Side>),
    ) -> Option<Self> {
        let is_lasting = signature.datatype.is_predefined() && signature.op.is_predefined();
        let is_combined = kernel.is_some() || signature.op == OpId::NULL;
        // Whether longer ones go through boards depends on what the transport learns meanwhile.
        if !is_lasting || !is_combined || task.in_place || task.bytes > PAGE {
            return None;
        }
        Some(Self {
            signature,
            task,
            kernel,
            send: send.map_or(Some(None), |side| plain_bytes(side).map(Some))?,
            recv: recv.map_or(Some(None), |side| plain_bytes(side).map(Some))?,
        })
    }
}

/// Bytes of all blocks, if they lie in one piece from the address on.
pub(super) fn plain_bytes(side: &Side) -> Option<usize> {
    match &side.cut {
        Cut::Even {
            count,
            datatype,
            blocks,
        } if datatype.true_lower() == 0 => datatype.contiguous_bytes(count.checked_mul(*blocks)?),
        _ => None,
    }
}

/// Calls of a kind that are known at a time: programs have a few in turns, such as a length and then as
/// many elements.
const CALLS: usize = 4;

/// The last calls of every kind.
#[derive(Default, Debug)]
pub struct Again {
    known: [[Option<Known>; CALLS]; What::COUNT],
    /// Of each kind the place of the next one.
    next: [usize; What::COUNT],
}

impl Again {
    /// Keeps what was found out, in the place of what has been known for longest of all calls of this kind.
    pub fn learn(&mut self, known: Known) {
        let kind = known.signature.what as usize;
        let (calls, next) = (&mut self.known[kind], &mut self.next[kind]);
        let mut all = calls.iter_mut().flatten();
        if let Some(call) = all.find(|call| call.signature == known.signature) {
            // Its buffers were not in order the last time.
            *call = known;
            return;
        }
        calls[*next] = Some(known);
        *next = (*next + 1) % CALLS;
    }

    /// What is to be done, where and by which kernel, if the call is one of those of its kind before and
    /// its buffers are in order.
    #[inline]
    #[must_use]
    pub fn find(
        &self,
        signature: &Signature,
        buffers: Buffers,
    ) -> Option<(Task, Buffers, Option<Kernel>)> {
        let mut known = self.known[signature.what as usize].iter().flatten();
        let known = known.find(|known| known.signature == *signature)?;
        let range = |address: *const u8, bytes: Option<usize>| {
            let start = if bytes.is_some() { address.addr() } else { 0 };
            start..start + bytes.unwrap_or(0)
        };
        let (send, recv) = (buffers.send, buffers.recv);
        // `MPI_IN_PLACE` is nowhere, too.
        if known.send.is_some() && is_nowhere(send)
            || known.recv.is_some() && is_nowhere(recv)
            || meet(range(send, known.send), range(recv, known.recv))
        {
            return None;
        }
        let none = Buffers::NONE;
        let buffers = Buffers {
            send: known.send.map_or(none.send, |_| send),
            recv: known.recv.map_or(none.recv, |_| recv),
        };
        Some((known.task, buffers, known.kernel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(count: i64) -> Known {
        Known {
            signature: Signature {
                what: What::Bcast,
                count,
                datatype: TypeId::NULL,
                op: OpId::NULL,
                root: 0,
            },
            task: Task {
                what: What::Bcast,
                root: 0,
                bytes: count as usize,
                element_bytes: 1,
                in_place: false,
                is_free: false,
            },
            kernel: None,
            send: None,
            recv: None,
        }
    }

    #[test]
    fn calls_in_turns_are_all_known_until_others_come() {
        let mut again = Again::default();
        let knows = |again: &Again, count| {
            let found = again.find(&call(count).signature, Buffers::NONE);
            found.is_some_and(|(task, ..)| task.bytes == count as usize)
        };
        for count in [1, 2, 3, 2, 1, 4] {
            again.learn(call(count));
        }
        assert!([1, 2, 3, 4].iter().all(|&count| knows(&again, count)));
        again.learn(call(5));
        assert!([2, 3, 4, 5].iter().all(|&count| knows(&again, count)));
        assert!(!knows(&again, 1));
    }
}
