// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask site`: the documentation as a site, in `target/site/html`.
//!
//! Every command in a `console` block of the pages named in [`RUN`] is run, by a shell that has
//! `corecast`; what stands below it is compared with what it prints (`CORECAST_BLESS=1` writes it), and
//! what it leaves in `pictures` is what the page shows. The page of chip files is made of what
//! `show chip` and `list keys` print, that of Python's interface of its docstrings; what `cargo doc`
//! says lies in `rust`. A link that leads nowhere fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command;
use crate::py::environment;

/// Pages whose commands are run.
const RUN: [&str; 3] = ["tutorial.md", "guides.md", "gallery.md"];

/// Builds the site.
///
/// # Errors
/// What is missing or went wrong: of commands the page and the line.
pub fn run(root: &Path) -> Result<(), String> {
    let site = root.join("target/site");
    let bin = environment(root, &site.join("venv"), &["docs/site/requirements.txt"])?;
    command(root)?;
    let docs = site.join("docs");
    for folder in [&docs, &site.join("run")] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| error.to_string())?;
        }
    }
    fs::create_dir_all(docs.join("pictures")).map_err(|error| error.to_string())?;
    for page in RUN {
        commands(root, &site.join("run").join(page), page)?;
        copy(
            &site.join("run").join(page).join("pictures"),
            &docs.join("pictures"),
        )?;
    }
    copy(&root.join("docs"), &docs)?;
    write(&docs.join("chip-files.md"), &chip_files(root)?)?;
    let settings = root.join("docs/site");
    for (file, to) in [
        ("mkdocs.yml", &site),
        ("docstrings.py", &site),
        ("python-api.md", &docs),
    ] {
        fs::copy(settings.join(file), to.join(file)).map_err(|error| error.to_string())?;
    }
    let python = site.join("python");
    replace_link(&root.join("crates/py/python"), &python)?;
    rust(root, &docs.join("rust"))?;
    let mut mkdocs = Command::new(bin.join("mkdocs"));
    mkdocs
        .current_dir(&site)
        .args(["build", "--strict", "--quiet"]);
    // Its maker's remarks about other programs are no part of this.
    mkdocs.env("NO_MKDOCS_2_WARNING", "1");
    match mkdocs.status() {
        Ok(status) if status.success() => {
            println!("{}", site.join("html/index.html").display());
            Ok(())
        }
        _ => Err("mkdocs build --strict".to_owned()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn replace_link(to: &Path, link: &Path) -> Result<(), String> {
    if link.is_symlink() {
        fs::remove_file(link).map_err(|error| error.to_string())?;
    }
    std::os::unix::fs::symlink(to, link).map_err(|error| error.to_string())
}

/// What `cargo doc` says of the crates, as a folder of pages.
fn rust(root: &Path, to: &Path) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings");
    if !cargo.status().is_ok_and(|status| status.success()) {
        return Err("cargo doc --workspace --no-deps".to_owned());
    }
    copy_all(&root.join("target/doc"), to)
}

/// Copies a folder with everything in it.
fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| error.to_string())?;
    copy(from, to)?;
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if let Some(name) = path.file_name().filter(|_| path.is_dir()) {
            copy_all(&path, &to.join(name))?;
        }
    }
    Ok(())
}

/// Copies the files of a folder, not its folders.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, to.join(name)).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Runs the commands of a page in a folder of their own, and compares what they print.
fn commands(root: &Path, folder: &Path, page: &str) -> Result<(), String> {
    fs::create_dir_all(folder.join("pictures")).map_err(|error| error.to_string())?;
    let source = root.join("docs").join(page);
    let text = fs::read_to_string(&source).map_err(|error| error.to_string())?;
    let mut found = String::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((_, line)) = lines.next() {
        found += &format!("{line}\n");
        if line != "```console" {
            continue;
        }
        while let Some(&(number, line)) = lines.peek() {
            let Some(first) = line.strip_prefix("$ ") else {
                break;
            };
            let mut command = first.to_owned();
            found += &format!("{line}\n");
            lines.next();
            while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with("> ")) {
                command += &format!("\n{}", &line[2..]);
                found += &format!("{line}\n");
            }
            let printed = shell(root, folder, &command)
                .map_err(|error| format!("docs/{page}:{number}: `{first}`: {error}"))?;
            let is_output = |line: &str| !line.starts_with("$ ") && line != "```";
            let mut expected = String::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| is_output(line)) {
                expected += &format!("{line}\n");
            }
            if expected.is_empty() {
                continue;
            }
            found += &printed;
            if expected != printed && std::env::var_os("CORECAST_BLESS").is_none() {
                return Err(format!(
                    "docs/{page}:{number}: `{first}` prints\n{printed}CORECAST_BLESS=1 writes that"
                ));
            }
        }
    }
    match found == text {
        true => Ok(()),
        false => write(&source, &found),
    }
}

/// What a command prints; that it fails is an error.
fn shell(root: &Path, folder: &Path, command: &str) -> Result<String, String> {
    let old = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{old}", root.join("target/debug").display());
    let output = Command::new("bash")
        .args(["-c", &format!("{command}\n")])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn json(root: &Path, arguments: &[&str]) -> Result<Value, String> {
    let binary: PathBuf = root.join("target/debug/corecast");
    let output = Command::new(binary).args(arguments).arg("--json").output();
    let output = output.map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{arguments:?}: {error}"))
}

/// The page of chip files: every number of every built-in chip.
fn chip_files(root: &Path) -> Result<String, String> {
    let mut text = "# Chip files\n\nA chip is a TOML file whose numbers have a unit, a kind (published, \
        measured, derived, fitted or assumed) and a source. Another file can have it as its `base` and \
        say only what differs, and `--set KEY=VALUE` changes one number of a run. A key that a chip does \
        not have is refused with those that it has.\n\nThis page is made of what `corecast show chip` \
        and `corecast list keys` print.\n\n## Keys\n\nThese have to be there, but for those with a default. \
        `of` says of which kind of network or endpoint a key is. A number is written as `{ value = ..., \
        unit = \"...\", kind = \"...\", source = \"...\" }`; one of kind `fitted` says to what by `fitted_to`.\n\n\
        | key | of | unit | accepted | default | means |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for entry in json(root, &["list", "keys"])?
        .as_array()
        .into_iter()
        .flatten()
    {
        let fields = ["key", "of", "unit", "accepted", "default", "means"];
        let [key, of, unit, accepted, default, means] =
            fields.map(|field| cell(entry[field].as_str().unwrap_or_default()));
        text += &format!("| `{key}` | {of} | {unit} | {accepted} | {default} | {means} |\n");
    }
    let chips = json(root, &["list", "chips"])?;
    for chip in chips.as_array().into_iter().flatten() {
        let name = chip["name"].as_str().unwrap_or_default();
        let record = json(root, &["show", "chip", name])?;
        let word = |value: &Value| match value {
            Value::String(text) => cell(text),
            other => other.to_string(),
        };
        text += &format!("\n## {name}\n\n{}.\n", word(&record["summary"]));
        text += "\n| key | value | unit | kind | source |\n|---|---|---|---|---|\n";
        for number in record["parameters"].as_array().into_iter().flatten() {
            let [key, value, unit, kind, source] =
                ["key", "value", "unit", "kind", "source"].map(|field| word(&number[field]));
            text += &format!("| `{key}` | {value} | {unit} | {kind} | {source} |\n");
        }
        text += "\n| key | word | said by |\n|---|---|---|\n";
        for entry in record["words"].as_array().into_iter().flatten() {
            let [key, value, origin] = ["key", "value", "origin"].map(|field| word(&entry[field]));
            text += &format!("| `{key}` | {value} | {origin} |\n");
        }
        text += "\n| what follows | value | unit | how |\n|---|---|---|---|\n";
        for entry in record["derived"].as_array().into_iter().flatten() {
            let [key, value, unit, how] =
                ["key", "value", "unit", "how"].map(|field| word(&entry[field]));
            text += &format!("| `{key}` | {value} | {unit} | {how} |\n");
        }
    }
    Ok(text)
}

/// A text that cannot end a cell of a table or begin markup.
fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    text.replace('<', "&lt;").replace('*', "\\*")
}
