// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of tests: `program ranks key=value ...`, one a line, or the name of a folder with a list of its own.
//!
//! ```text
//! allred 4 arg=-count=10
//! truncmsg1 2 env=MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD=16384
//! @rmadir@
//! ```
//!
//! `@names@` are what MPICH's `configure` fills in: a folder, nothing, or a `#` that switches the line off.

use std::collections::BTreeSet;
use std::path::Path;

/// Ranks of a line that names none.
const RANKS: u32 = 2;

/// Seconds that a test may take whose line says `init=InitQuickTimeout`.
const QUICK_S: u32 = 10;

/// What `configure` would put in the place of a name: text, or why lines with it do not run.
const NAMES: [(&str, Result<&str, &str>); 17] = [
    ("rmadir", Ok("rma")),
    ("spawndir", Ok("spawn")),
    ("iodir", Ok("io")),
    ("partdir", Ok("part")),
    ("threadsdir", Ok("threads")),
    ("errordir", Ok("errors")),
    ("namepub_tests", Ok("")),
    ("comm_overlap", Ok("")),
    (
        "coll_error",
        Err("MPICH does not run it either: ranks disagree on a collective call"),
    ),
    (
        "faultsdir",
        Err("MPICH does not run it either: faults of ranks"),
    ),
    (
        "ftdir",
        Err("MPICH does not run it either: faults of ranks"),
    ),
    ("perfdir", Err("measures MPICH")),
    ("ckpointdir", Err("checkpoints of MPICH")),
    ("f77dir", Err("Fortran")),
    ("f90dir", Err("Fortran")),
    ("f08dir", Err("Fortran")),
    (
        "cxxdir",
        Err("bindings for C++, which are in no standard since MPI 3"),
    ),
];

/// What a run must look like to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Says `No Errors` and nothing else, and ends with 0.
    NoErrors,
    /// The same, but may say that something was left.
    NoErrorsButWarnings,
    /// Says `No Errors` and does not end with 0.
    NoErrorsButStatus,
    /// Does not end with 0.
    Status,
}

/// A line that is a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Below `test/mpi`, such as `errors/comm`.
    pub folder: String,
    pub program: String,
    pub ranks: u32,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// Seconds; `None` is the runner's own limit.
    pub limit_s: Option<u32>,
    /// What it takes, if the line says it.
    pub memory_gb: Option<f64>,
    pub expected: Expected,
    /// What MPICH says about why it fails there.
    pub xfail: Option<String>,
    /// Why it does not run here.
    pub skipped: Option<String>,
}

impl Test {
    /// Folder and program.
    pub fn path(&self) -> String {
        format!("{}/{}", self.folder, self.program)
    }

    /// With ranks and arguments.
    pub fn name(&self) -> String {
        let mut name = format!("{} {}", self.path(), self.ranks);
        for argument in &self.arguments {
            name = format!("{name} {argument}");
        }
        for (variable, value) in &self.environment {
            name = format!("{name} {variable}={value}");
        }
        name
    }
}

/// All tests of a folder and of those that its list names, in their order.
///
/// # Errors
/// When there is no list, or a line of one cannot be read.
pub fn load(suite: &Path, folder: &str) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    load_into(suite, folder, &mut tests)?;
    let mut seen = BTreeSet::new();
    for test in &mut tests {
        // Another algorithm, threshold or network of MPICH's; here it is the same test once more.
        let is_mpich = |variable: &str| variable.starts_with("MPIR_CVAR_");
        let mut plain = test.clone();
        plain.environment.retain(|(name, _)| !is_mpich(name));
        let is_new = seen.insert(plain.name());
        if !is_new && plain.environment.len() < test.environment.len() {
            let reason = "another line with other variables of MPICH's (MPIR_CVAR_...)";
            test.skipped.get_or_insert_with(|| reason.to_owned());
        }
    }
    Ok(tests)
}

fn load_into(suite: &Path, folder: &str, tests: &mut Vec<Test>) -> Result<(), String> {
    let lists = ["testlist", "testlist.in"].map(|name| suite.join(folder).join(name));
    let Some(list) = lists.iter().find(|list| list.exists()) else {
        return Err(format!(
            "{} has no testlist; folders are those of test/mpi in MPICH's repository",
            suite.join(folder).display()
        ));
    };
    let text =
        std::fs::read_to_string(list).map_err(|error| format!("{}: {error}", list.display()))?;
    for (number, line) in text.lines().enumerate() {
        let place = |error| format!("{}:{}: {error}", list.display(), number + 1);
        let Some(test) = read(line, folder).map_err(place)? else {
            continue;
        };
        let below = test.path();
        match suite.join(&below).is_dir() {
            true => load_into(suite, &below, tests)?,
            false => tests.push(test),
        }
    }
    Ok(())
}

/// What a line says; `None` for one that says nothing. A folder looks like a test without ranks.
fn read(line: &str, folder: &str) -> Result<Option<Test>, String> {
    let (line, skipped) = fill_in(line)?;
    let line = line.split('#').next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let Some(program) = words.next() else {
        return Ok(None);
    };
    if program.starts_with('!') {
        return Err(format!(
            "{program:?}: lines that build something are not known here"
        ));
    }
    let ranks = words.next().map_or(Ok(RANKS), |word| {
        let ranks = word.parse().ok().filter(|&ranks: &u32| ranks > 0);
        ranks.ok_or_else(|| format!("{word:?} is no number of ranks"))
    })?;
    let mut test = Test {
        folder: folder.to_owned(),
        program: program.to_owned(),
        ranks,
        arguments: Vec::new(),
        environment: Vec::new(),
        limit_s: None,
        memory_gb: None,
        expected: Expected::NoErrors,
        xfail: None,
        skipped,
    };
    for word in words {
        test.key(word)?;
    }
    Ok(Some(test))
}

impl Test {
    /// Takes one `key=value`.
    fn key(&mut self, word: &str) -> Result<(), String> {
        // Three lines of MPICH's lists have left out `arg=`; its own runner goes without them.
        if word.starts_with('-') {
            return Ok(());
        }
        let wrong = || format!("{word:?} cannot be read; keys are as in `arg=-count=10`");
        let (key, value) = word.split_once('=').ok_or_else(wrong)?;
        let mut skip = |reason: &str| {
            self.skipped.get_or_insert_with(|| reason.to_owned());
        };
        match key {
            "arg" => self.arguments.push(value.to_owned()),
            "env" => {
                let (name, value) = value.split_once('=').ok_or_else(wrong)?;
                self.environment.push((name.to_owned(), value.to_owned()));
            }
            "timeLimit" => self.limit_s = Some(value.parse().map_err(|_| wrong())?),
            "mem" => self.memory_gb = Some(value.parse().map_err(|_| wrong())?),
            "resultTest" => {
                self.expected = match value {
                    "TestAllowWarnings" => Expected::NoErrorsButWarnings,
                    "TestStatusNoErrors" => Expected::NoErrorsButStatus,
                    "TestStatus" | "TestErrFatal" => Expected::Status,
                    _ => return Err(wrong()),
                };
            }
            "init" if value == "InitQuickTimeout" => self.limit_s = Some(QUICK_S),
            "xfail" => self.xfail = Some(value.to_owned()),
            "strict" if value.eq_ignore_ascii_case("false") => skip("not of the standard"),
            "mpix" if value.eq_ignore_ascii_case("true") => skip("not of the standard"),
            "strict" | "mpix" => {}
            "mpiexecarg" => skip("an option of MPICH's own mpiexec"),
            "hasgpu" => skip("a GPU"),
            // Tests run one after the other, and the libraries have all versions up to 5.0.
            "lock" | "mpiversion" => {}
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

/// The line as `configure` would have written it, and why it would have switched it off.
fn fill_in(line: &str) -> Result<(String, Option<String>), String> {
    let (mut line, mut skipped) = (line.to_owned(), None);
    while let Some((before, rest)) = line.split_once('@') {
        if before.contains('#') {
            break;
        }
        let wrong = || format!("{line:?} has an @ without another");
        let (name, after) = rest.split_once('@').ok_or_else(wrong)?;
        let known = NAMES.iter().find(|(known, _)| *known == name);
        let text = match known.map(|(_, value)| *value) {
            Some(Ok(text)) => text,
            Some(Err(reason)) => {
                skipped = Some(reason.to_owned());
                if after.trim().is_empty() { name } else { "" }
            }
            None => {
                skipped = Some(format!("what `configure` of MPICH calls {name}"));
                if after.trim().is_empty() { name } else { "" }
            }
        };
        line = format!("{before}{text}{after}");
    }
    Ok((line, skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Test {
        read(line, "coll").unwrap().unwrap()
    }

    #[test]
    fn a_line_says_what_to_start_and_what_to_expect() {
        let test =
            one("allred 7 arg=-a=1 arg=b env=X=1=2 timeLimit=30 mem=1.5 resultTest=TestStatus");
        assert_eq!(test.name(), "coll/allred 7 -a=1 b X=1=2");
        assert_eq!(test.environment, [("X".to_owned(), "1=2".to_owned())]);
        assert_eq!((test.limit_s, test.memory_gb), (Some(30), Some(1.5)));
        assert_eq!((test.expected, test.skipped), (Expected::Status, None));
        let plain = one("  bcast  # four of them");
        assert_eq!((plain.program.as_str(), plain.ranks), ("bcast", RANKS));
        assert_eq!(plain.expected, Expected::NoErrors);
        assert_eq!(one("rdwrord 2 -large-count").name(), "coll/rdwrord 2");
        assert_eq!(
            one("x 1 init=InitQuickTimeout lock=many").limit_s,
            Some(QUICK_S)
        );
        for nothing in ["", "   ", "# red3 10", "#@coll_error@ red 4"] {
            assert_eq!(read(nothing, "coll"), Ok(None), "{nothing}");
        }
    }

    #[test]
    fn what_does_not_run_has_a_reason() {
        let reason = |line: &str| one(line).skipped.unwrap();
        assert_eq!(reason("x 1 strict=FALSE"), "not of the standard");
        assert_eq!(reason("x 1 mpix=true"), "not of the standard");
        assert_eq!(reason("x 1 hasgpu=any"), "a GPU");
        assert_eq!(
            reason("x 1 mpiexecarg=-quick"),
            "an option of MPICH's own mpiexec"
        );
        assert_eq!(one("x 1 xfail=ticket1").xfail, Some("ticket1".to_owned()));
        let switched_off = one("@coll_error@bcastlength 4 arg=-x");
        assert_eq!(
            (switched_off.program.as_str(), switched_off.ranks),
            ("bcastlength", 4)
        );
        assert!(switched_off.skipped.unwrap().contains("disagree"));
        assert_eq!(reason("@f77dir@"), "Fortran");
        assert_eq!(reason("@moon@ x 2"), "what `configure` of MPICH calls moon");
        assert_eq!(one("@namepub_tests@namepub 2").skipped, None);
        assert_eq!(one("@comm_overlap@ allred 2").program, "allred");
        assert_eq!(one("@rmadir@").program, "rma");
    }

    #[test]
    fn what_cannot_be_read_is_quoted() {
        let error = |line: &str| read(line, "coll").unwrap_err();
        assert_eq!(error("x many"), "\"many\" is no number of ranks");
        assert_eq!(error("x 0"), "\"0\" is no number of ranks");
        let keys = "cannot be read; keys are as in `arg=-count=10`";
        for word in [
            "moon=1",
            "args",
            "mem=much",
            "env=X",
            "resultTest=Luck",
            "init=Soon",
        ] {
            assert_eq!(error(&format!("x 1 {word}")), format!("{word:?} {keys}"));
        }
        assert_eq!(error("@rmadir"), "\"@rmadir\" has an @ without another");
        assert_eq!(
            error("!util:all"),
            "\"!util:all\": lines that build something are not known here"
        );
    }

    #[test]
    fn folders_are_followed_and_repetitions_found() {
        let suite = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = suite.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("errors/testlist.in", "attr\n@rmadir@\n@cxxdir@\n");
        write("errors/attr/testlist", "keys 1\n");
        let repeated = "win 2 env=MPIR_CVAR_A=1\nwin 2 env=MPIR_CVAR_A=2\nwin 2\nwin 3 bad\n";
        write("errors/rma/testlist", repeated);
        let error = load(suite.path(), "errors").unwrap_err();
        assert!(
            error.ends_with(
                "rma/testlist:4: \"bad\" cannot be read; keys are as in `arg=-count=10`"
            )
        );
        write("errors/rma/testlist", &repeated.replace("bad", ""));
        let tests = load(suite.path(), "errors").unwrap();
        let paths: Vec<String> = tests.iter().map(Test::path).collect();
        let win = "errors/rma/win";
        assert_eq!(
            paths,
            ["errors/attr/keys", win, win, win, win, "errors/cxxdir"]
        );
        let skipped: Vec<bool> = tests.iter().map(|test| test.skipped.is_some()).collect();
        assert_eq!(skipped, [false, false, true, false, false, true]);
        let error = load(suite.path(), "moon").unwrap_err();
        assert!(error.contains("moon has no testlist"), "{error}");
    }
}
