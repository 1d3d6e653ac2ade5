// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operators of a process: making and freeing them.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::error::{Class, Error, Result};
use crate::handle::OpId;
use crate::op::{Op, UserFunction};
use crate::process::Process;

impl Process {
    /// Makes an operator of a program's function.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there are too many operators.
    pub fn make_op(
        &mut self,
        function: Arc<dyn UserFunction>,
        is_commutative: bool,
    ) -> Result<OpId> {
        let op = Arc::new(Op::user(function, is_commutative));
        self.ops.insert(op).ok_or_else(|| {
            let what = "there are four million operators; free some";
            Error::new(Class::NoMem, what)
        })
    }

    /// Gives a handle up; a reduction under way keeps the operator.
    ///
    /// # Errors
    /// [`Class::Op`] if there is none of this handle, or it is predefined.
    pub fn free_op(&mut self, op: OpId) -> Result<()> {
        if let Some(known) = self.op(op)?.as_predefined() {
            let what = format!("{} is predefined; it cannot be freed", known.name());
            return Err(Error::new(Class::Op, what));
        }
        self.ops.remove(op);
        Ok(())
    }
}
