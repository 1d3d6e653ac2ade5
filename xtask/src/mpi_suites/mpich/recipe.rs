// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program is made of, out of its folder's `Makefile.am`.
//!
//! ```text
//! fetch_and_op_int_SOURCES  = fetch_and_op.c
//! fetch_and_op_int_CPPFLAGS = -DFOP_TYPE_INT $(AM_CPPFLAGS)
//! ```
//!
//! A program that is not mentioned is one file of its name.

use std::collections::BTreeMap;

/// The rules of one folder.
#[derive(Debug, Default)]
pub struct Recipes {
    /// Whether its programs are linked with what starts threads.
    pub has_threads: bool,
    variables: BTreeMap<String, String>,
}

/// What one program takes.
#[derive(Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Files in the folder.
    pub sources: Vec<String>,
    /// Such as `-DTEST_PUT`.
    pub flags: Vec<String>,
}

impl Recipes {
    pub fn of(makefile: &str) -> Self {
        let mut recipes = Self::default();
        for line in makefile.replace("\\\n", " ").lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.starts_with("include") && line.contains("Makefile_threads.mtest") {
                recipes.has_threads = true;
            }
            if let Some((name, value)) = line.split_once('=') {
                let name = name.trim_end_matches('+').trim().to_owned();
                let variable = recipes.variables.entry(name).or_default();
                *variable = format!("{variable} {}", value.trim());
            }
        }
        recipes
    }

    pub fn program(&self, program: &str) -> Recipe {
        let words = |suffix: &str, is_wanted: fn(&str) -> bool| -> Vec<String> {
            let name = format!("{program}_{suffix}");
            let words = self.variables.get(&name).map_or("", String::as_str);
            let words = words.split_whitespace().filter(|word| is_wanted(word));
            words.map(str::to_owned).collect()
        };
        let mut sources = words("SOURCES", |word| word.ends_with(".c"));
        if sources.is_empty() {
            sources.push(format!("{program}.c"));
        }
        let flags = words("CPPFLAGS", |word| word.starts_with("-D"));
        Recipe { sources, flags }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_its_rules_or_one_file() {
        let makefile = "include $(top_srcdir)/Makefile_threads.mtest\n\
                        noinst_PROGRAMS = a \\\n  b\n\
                        a_SOURCES = x.c \\\n y.c y.h  # and z.c\n\
                        a_CPPFLAGS = -DONE -DTWO=2 $(AM_CPPFLAGS)\n";
        let recipes = Recipes::of(makefile);
        assert!(recipes.has_threads);
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let (sources, flags) = (words(&["x.c", "y.c"]), words(&["-DONE", "-DTWO=2"]));
        assert_eq!(recipes.program("a"), Recipe { sources, flags });
        let (sources, flags) = (words(&["b.c"]), Vec::new());
        assert_eq!(recipes.program("b"), Recipe { sources, flags });
        assert!(!Recipes::of("include $(top_srcdir)/Makefile_single.mtest").has_threads);
    }
}
