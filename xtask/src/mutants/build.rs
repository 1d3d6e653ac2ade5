// SPDX-License-Identifier: MIT OR Apache-2.0
//! A copy of the tree in which all mutants of an area are woven, and its test programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::areas::Area;
use super::list::{CRATE_ROOT, List, Mutant};
use super::weave::{self, RUNTIME, Woven};

/// Mutants of an area that no test program has.
#[derive(Default)]
pub struct LeftOut {
    /// They do not compile.
    pub unbuildable: BTreeSet<usize>,
    /// There is no place for them in a program that has others.
    pub unwoven: BTreeSet<usize>,
    /// Functions that stay `const`, because constants call them.
    constant: BTreeSet<String>,
}

/// A program of tests, and the folder in which it is started.
pub struct Program {
    pub path: PathBuf,
    pub folder: PathBuf,
}

impl LeftOut {
    /// What was left out of the same sources the last time: found at once, and without building
    /// anything again.
    fn read(path: &Path, key: &str) -> Option<Self> {
        let known: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        let numbers = |of: &str| {
            let numbers = known[of].as_array()?.iter();
            let numbers = numbers.filter_map(|number| usize::try_from(number.as_u64()?).ok());
            Some(numbers.collect())
        };
        let names = known["constant"].as_array()?.iter();
        let names = names.filter_map(|name| name.as_str().map(str::to_owned));
        (known["key"] == key).then_some(Self {
            unbuildable: numbers("unbuildable")?,
            unwoven: numbers("unwoven")?,
            constant: names.collect(),
        })
    }

    fn write(&self, path: &Path, key: &str) -> Result<(), String> {
        let known = json!({
            "key": key,
            "unbuildable": self.unbuildable,
            "unwoven": self.unwoven,
            "constant": self.constant,
        });
        put(path, known.to_string().as_bytes())
    }

    fn len(&self) -> usize {
        self.unbuildable.len() + self.unwoven.len() + self.constant.len()
    }

    pub fn has(&self, number: usize) -> bool {
        self.unbuildable.contains(&number) || self.unwoven.contains(&number)
    }
}

/// What the compiler calls a call of a function that is not `const` where it has to be.
const NOT_CONST: &str = "E0015";

/// Times that the compiler may refuse mutants before something else is wrong.
const ROUNDS_MAX: usize = 40;

/// Builds the test programs of an area; what cannot be built is left out.
///
/// # Errors
/// What went wrong, in one line, or what the compiler says.
pub fn build(
    root: &Path,
    tree: &Path,
    area: &Area,
    list: &List,
) -> Result<(Vec<Program>, LeftOut), String> {
    copy_tree(root, tree, &list.sources)?;
    let known = tree.with_file_name("left-out.json");
    let key = key(list);
    let mut left_out = LeftOut::read(&known, &key).unwrap_or_default();
    let packages: BTreeSet<&str> = list.mutants.iter().map(|of| &*of.package).collect();
    for _ in 0..ROUNDS_MAX {
        let woven = write(tree, list, &mut left_out)?;
        let mut check = cargo(tree, "check");
        check.args(packages.iter().map(|of| format!("--package={of}")));
        check.arg("--lib");
        let (is_built, messages) = messages(check)?;
        if is_built {
            left_out.write(&known, &key)?;
            return Ok((test_programs(tree, area)?, left_out));
        }
        let before = left_out.len();
        for message in &messages {
            refuse(message, &woven, &mut left_out);
        }
        let many = left_out.unbuildable.len();
        println!("{}: {many} mutants do not compile", area.name);
        if left_out.len() == before {
            return Err(rendered(&messages));
        }
    }
    Err(format!(
        "{}: after {ROUNDS_MAX} rounds it does not compile",
        area.name
    ))
}

/// What the mutants depend on.
fn key(list: &List) -> String {
    let mut hasher = DefaultHasher::new();
    list.sources.hash(&mut hasher);
    let names = list.mutants.iter().map(|mutant| &mutant.name);
    names.for_each(|name| name.hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

fn test_programs(tree: &Path, area: &Area) -> Result<Vec<Program>, String> {
    let mut test = cargo(tree, "test");
    test.args(area.packages.iter().map(|of| format!("--package={of}")));
    test.args(["--lib", "--tests", "--no-run"]);
    let (is_built, messages) = messages(test)?;
    match is_built {
        true => Ok(programs(&messages)),
        false => Err(rendered(&messages)),
    }
}

/// Copies what belongs to the workspace, but for the files that mutants are woven into. What has not
/// changed is left alone, so that it is not compiled again.
fn copy_tree(root: &Path, tree: &Path, woven: &BTreeMap<String, String>) -> Result<(), String> {
    let listed = Command::new("git")
        .current_dir(root)
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut files: BTreeSet<&str> = listed.split_terminator('\0').collect();
    files.retain(|file| root.join(file).is_file());
    for gone in files_below(tree, tree) {
        if !files.contains(&*gone) {
            remove(&tree.join(gone))?;
        }
    }
    for file in files {
        if woven.contains_key(file) {
            continue;
        }
        let contents = fs::read(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        put(&tree.join(file), &contents)?;
    }
    Ok(())
}

fn files_below(folder: &Path, tree: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path, tree));
        } else if let Ok(file) = path.strip_prefix(tree) {
            found.push(file.to_string_lossy().into_owned());
        }
    }
    found
}

fn remove(path: &Path) -> Result<(), String> {
    fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file unless it is like that.
fn put(path: &Path, contents: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|before| before == contents) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, contents))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Weaves the mutants that are not left out.
fn write(
    tree: &Path,
    list: &List,
    left_out: &mut LeftOut,
) -> Result<BTreeMap<String, Woven>, String> {
    let mut found = BTreeMap::new();
    for (file, source) in &list.sources {
        let here: Vec<(usize, &Mutant)> = (0..)
            .zip(&list.mutants)
            .filter(|(number, of)| of.file == *file && !left_out.has(*number))
            .collect();
        let woven = weave::weave(source, &here, &left_out.constant);
        let mut woven = woven.map_err(|error| format!("{file}: {error}"))?;
        left_out.unbuildable.extend(&woven.unbuildable);
        left_out.unwoven.extend(&woven.unwoven);
        if file.ends_with(CRATE_ROOT) {
            woven.text += RUNTIME;
        }
        put(&tree.join(file), woven.text.as_bytes())?;
        found.insert(file.clone(), woven);
    }
    Ok(found)
}

/// Cargo on the copy; warnings about what is written there are of no use.
fn cargo(tree: &Path, verb: &str) -> Command {
    let mut command = Command::new("cargo");
    command
        .current_dir(tree)
        .args([verb, "--message-format=json"])
        // Its profile is for long sweeps, which are left out: to build it would take longer than to
        // run its tests.
        .arg("--config=profile.dev.package.corecast-machine-sim.opt-level=1")
        // One for each area: Cargo takes crates of two copies of one workspace for the same.
        .env("CARGO_TARGET_DIR", tree.with_file_name("build"))
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("RUSTFLAGS", "--cap-lints=warn");
    command
}

/// Whether it works, and what Cargo and the compiler say.
fn messages(mut command: Command) -> Result<(bool, Vec<Value>), String> {
    let output = command.stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("cargo: {error}"))?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let parsed = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok((output.status.success(), parsed.collect()))
}

/// The compiler's errors as it prints them.
fn rendered(messages: &[Value]) -> String {
    let errors = messages.iter().map(|of| &of["message"]);
    let errors = errors.filter(|of| of["level"] == "error");
    let errors: String = errors.filter_map(|of| of["rendered"].as_str()).collect();
    format!("the copy does not compile:\n{errors}")
}

fn programs(messages: &[Value]) -> Vec<Program> {
    let tests = messages.iter().filter(|of| of["profile"]["test"] == true);
    let found = tests.filter_map(|of| {
        Some(Program {
            path: of["executable"].as_str()?.into(),
            folder: Path::new(of["manifest_path"].as_str()?).parent()?.into(),
        })
    });
    found.collect()
}

/// Leaves out the mutants that an error is about, or makes a function that constants call one for
/// them again.
fn refuse(message: &Value, woven: &BTreeMap<String, Woven>, left_out: &mut LeftOut) {
    let message = &message["message"];
    if message["level"] != "error" {
        return;
    }
    let mutants = mutants_of(message, woven);
    if message["code"]["code"] == NOT_CONST {
        let text = message["message"].as_str().unwrap_or_default();
        let path = text.split('`').nth(1).unwrap_or_default();
        match path.rsplit("::").next() {
            Some("active") | None => left_out.unwoven.extend(mutants),
            Some(name) => drop(left_out.constant.insert(name.to_owned())),
        }
        return;
    }
    left_out.unbuildable.extend(mutants);
}

fn mutants_of(message: &Value, woven: &BTreeMap<String, Woven>) -> Vec<usize> {
    for is_primary in [true, false] {
        for span in message["spans"].as_array().into_iter().flatten() {
            let bytes = span["byte_start"].as_u64().zip(span["byte_end"].as_u64());
            let file = span["file_name"].as_str().unwrap_or_default();
            if let (Some((start, end)), Some(file)) = (bytes, woven.get(file))
                && span["is_primary"] == is_primary
            {
                let mutants = file.mutants_at(&(start as usize..end as usize));
                if !mutants.is_empty() {
                    return mutants.to_vec();
                }
            }
        }
    }
    Vec::new()
}
