// SPDX-License-Identifier: MIT OR Apache-2.0
//! The datatypes of a process: making, committing and freeing them.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::datatype::{Combiner, Form, Recipe, Type};
use crate::error::{Class, Error, Result};
use crate::handle::TypeId;
use crate::process::Process;

impl Process {
    /// Makes a datatype.
    ///
    /// # Errors
    /// Those of [`Type::new`]; [`Class::NoMem`] if there are too many datatypes.
    pub fn make_type(&mut self, recipe: Recipe, form: Form) -> Result<TypeId> {
        if let Some(known) = self.same_kind_of_fortran(&recipe) {
            return Ok(known);
        }
        let is_committed = match &recipe {
            Recipe::Dup { of } => of.is_committed(),
            recipe => is_of_fortran(recipe.combiner()),
        };
        let mut made = Type::new(recipe)?;
        made.set_form(form);
        if is_committed {
            made.commit();
        }
        self.keep_type(made)
    }

    /// A handle of a datatype that another one was made of: a predefined one has its own, others
    /// get a new one, which the program frees.
    ///
    /// # Errors
    /// [`Class::NoMem`] if there are too many datatypes.
    pub fn handle_of(&mut self, datatype: &Type) -> Result<TypeId> {
        match datatype.is_permanent() {
            true => Ok(datatype.handle()),
            false => self.keep_type(datatype.clone()),
        }
    }

    /// Messages can be of the datatype from now on.
    ///
    /// # Errors
    /// [`Class::Type`] if there is none of this handle.
    pub fn commit_type(&mut self, datatype: TypeId) -> Result<()> {
        if !self.datatype(datatype)?.is_committed() {
            self.change_type(datatype, Type::commit);
        }
        Ok(())
    }

    /// Names a datatype.
    ///
    /// # Errors
    /// [`Class::Type`] if there is none of this handle.
    pub fn name_type(&mut self, datatype: TypeId, name: &str) -> Result<()> {
        self.datatype(datatype)?;
        self.change_type(datatype, |ty| ty.set_name(name));
        Ok(())
    }

    /// Whether a handle is the program's to give up.
    ///
    /// # Errors
    /// [`Class::Type`] if there is none of this handle, or it is not.
    pub fn may_free_type(&self, datatype: TypeId) -> Result<()> {
        let found = self.datatype(datatype)?;
        if found.is_permanent() {
            let what = match found.name() {
                "" => "a datatype of a kind of Fortran is the library's; it cannot be freed".into(),
                name => format!("{name} is predefined; it cannot be freed"),
            };
            return Err(Error::new(Class::Type, what));
        }
        Ok(())
    }

    /// Gives a handle up; what is under way, or made of the datatype, keeps it.
    ///
    /// # Errors
    /// Those of [`Process::may_free_type`].
    pub fn free_type(&mut self, datatype: TypeId) -> Result<()> {
        self.may_free_type(datatype)?;
        self.types.remove(datatype);
        Ok(())
    }

    fn change_type(&mut self, datatype: TypeId, change: impl FnOnce(&mut Type)) {
        if let Some(found) = self.types.get_mut(datatype) {
            change(Arc::make_mut(found));
        }
    }

    fn keep_type(&mut self, made: Type) -> Result<TypeId> {
        let handle = self.types.insert(Arc::new(made)).ok_or_else(too_many)?;
        self.change_type(handle, |ty| ty.set_handle(handle));
        Ok(handle)
    }

    /// The same arguments give the same handle (MPI 5.0, 19.1.5).
    fn same_kind_of_fortran(&self, recipe: &Recipe) -> Option<TypeId> {
        if !is_of_fortran(recipe.combiner()) {
            return None;
        }
        let arguments = |recipe: &Recipe| recipe.contents(Form::Int, &|_| i32::MIN).integers;
        let wanted = (recipe.combiner(), arguments(recipe));
        let mut all = self.types.dynamic();
        let found = all.find(|(_, ty)| {
            let made = ty.recipe();
            made.combiner() == wanted.0 && arguments(made) == wanted.1
        });
        found.map(|(handle, _)| handle)
    }
}

fn is_of_fortran(combiner: Combiner) -> bool {
    matches!(
        combiner,
        Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer
    )
}

#[cold]
fn too_many() -> Error {
    let what = "there are four million datatypes; free some";
    Error::new(Class::NoMem, what)
}
