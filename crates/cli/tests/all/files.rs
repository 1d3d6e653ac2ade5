// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where answers go and chips come from: links, pipes, modes, and files that are named twice.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const RUN: &str = "run bcast --chip park2019-bus --ranks 4 --algorithm ap";

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("files")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("writable");
    folder
}

fn corecast(arguments: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE");
    command
}

fn run(arguments: &str, folder: &Path) -> Output {
    let output = corecast(arguments, folder).output();
    output.expect("the binary runs")
}

fn refused(arguments: &str, folder: &Path) -> String {
    let output = run(arguments, folder);
    let errors = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
    errors
}

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo runs").success());
}

#[test]
fn a_link_to_standard_output_is_written_through() {
    let folder = folder("stdout");
    let plain = run(RUN, &folder).stdout;
    assert!(!plain.is_empty());
    for (name, target) in [("self", "/proc/self/fd/1"), ("dev", "/dev/fd/1")] {
        symlink(target, folder.join(name)).expect("linked");
        symlink(name, folder.join("over")).expect("linked");
        for link in [name, "over"] {
            let output = run(&format!("{RUN} -o {link}"), &folder);
            assert_eq!(output.status.code(), Some(0));
            assert_eq!(output.stdout, plain, "{link} to {target}");
            let kind = fs::symlink_metadata(folder.join(link)).expect("there");
            assert!(kind.is_symlink(), "{link} to {target}");
        }
        fs::remove_file(folder.join("over")).expect("ours");
    }
    // As the shell's `>>`: what was there stays.
    let log = folder.join("log");
    fs::write(&log, "before\n").expect("written");
    let file = fs::OpenOptions::new().append(true).open(&log);
    let status = corecast(&format!("{RUN} -o self"), &folder)
        .stdout(file.expect("there"))
        .status();
    assert_eq!(status.expect("runs").code(), Some(0));
    let logged = [b"before\n".to_vec(), plain.clone()].concat();
    assert_eq!(fs::read(&log).expect("readable"), logged);
    assert_eq!(run(&format!("{RUN} -o -"), &folder).stdout, plain);
    assert!(!folder.join("-").exists());
}

#[test]
fn pipes_are_written_to_and_stay() {
    let folder = folder("pipe");
    let path = folder.join("fifo");
    fifo(&path);
    let child = corecast(&format!("{RUN} --json -o fifo"), &folder).spawn();
    let text = fs::read(&path).expect("readable");
    let status = child.expect("runs").wait().expect("ends");
    assert_eq!(status.code(), Some(0));
    assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok());
    let kind = fs::symlink_metadata(&path).expect("there").file_type();
    assert!(kind.is_fifo());
}

#[test]
fn replaced_files_keep_their_mode() {
    let folder = folder("mode");
    let file = folder.join("answer");
    fs::write(&file, "").expect("written");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("ours");
    symlink("answer", folder.join("link")).expect("linked");
    for arguments in ["-o answer", "-o link", "--svg link"] {
        assert_eq!(
            run(&format!("{RUN} {arguments}"), &folder).status.code(),
            Some(0)
        );
        let mode = fs::metadata(&file).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{arguments}");
        let link = fs::symlink_metadata(folder.join("link")).expect("there");
        assert!(link.is_symlink(), "{arguments}");
    }
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder("twice");
    symlink("x", folder.join("link")).expect("linked");
    for (arguments, told) in [
        ("-o x --svg x", "--svg and -o name one file"),
        ("-o x --svg link", "--svg and -o name one file"),
        ("--svg x --trace ./x", "--svg and --trace name one file"),
    ] {
        let errors = refused(&format!("{RUN} {arguments}"), &folder);
        assert!(errors.contains(told), "{arguments}: {errors}");
        assert!(!folder.join("x").exists(), "nothing has run");
    }
    let same = format!("{RUN} --svg /dev/null --trace /dev/null");
    assert_eq!(run(&same, &folder).status.code(), Some(0));
    let tune = "tune bcast --ranks 2 --bytes 4 -o x --plot x";
    assert!(refused(tune, &folder).contains("name one file"));
}

#[test]
fn inputs_are_not_replaced() {
    let folder = folder("inputs");
    let chip = "base = \"park2019-bus\"\nname = \"mine\"\n";
    fs::write(folder.join("mine.toml"), chip).expect("written");
    let command = "run bcast --chip mine.toml --ranks 4 --algorithm ap -o mine.toml";
    let errors = refused(command, &folder);
    assert!(
        errors.contains("-o would replace what --chip reads"),
        "{errors}"
    );
    let left = fs::read_to_string(folder.join("mine.toml"));
    assert_eq!(left.expect("readable"), chip);
    let errors = refused("verify a.xml --repair a.xml", &folder);
    assert!(
        errors.contains("--repair would replace what FILE reads"),
        "{errors}"
    );
}

/// Neither are files that are read because they belong to one that is named.
#[test]
fn what_belongs_to_an_input_is_not_replaced() {
    let folder = folder("belongs");
    let shown = "show schedule bcast --ranks 2 --bytes 8 --algorithm linear --format corecast";
    let shown = run(&format!("{shown} -o bcast.sched"), &folder);
    assert!(shown.status.success(), "{shown:?}");
    let made = run("convert bcast.sched g.et", &folder);
    assert!(made.status.success(), "{made:?}");
    fs::write(folder.join("list.txt"), "r0.ti\n./r1.ti\n").expect("written");
    fs::write(folder.join("r0.ti"), "0 init\n0 finalize\n").expect("written");
    fs::write(folder.join("r1.ti"), "1 init\n1 finalize\n").expect("written");
    let read = run("convert list.txt all.calls", &folder);
    assert!(read.status.success(), "{read:?}");
    for (command, option) in [
        ("verify g.0.et -o g.1.et", "-o"),
        ("verify g.et -o g.0.et", "-o"),
        ("replay g.0.et --report g.1.et", "--report"),
        ("convert g.0.et g.1.et --to goal", "FILE"),
        ("convert g.1.et g.et --to chakra", "FILE"),
        ("convert list.txt r1.ti --to calls", "FILE"),
        ("replay list.txt --matrix r0.ti", "--matrix"),
    ] {
        let kept: Vec<_> = ["g.0.et", "g.1.et", "r0.ti", "r1.ti"]
            .map(|name| fs::read(folder.join(name)).expect("readable"))
            .into();
        let errors = refused(command, &folder);
        let told = format!("{option} would replace what FILE reads");
        assert!(errors.contains(&told), "{command}: {errors}");
        let left: Vec<_> = ["g.0.et", "g.1.et", "r0.ti", "r1.ti"]
            .map(|name| fs::read(folder.join(name)).expect("readable"))
            .into();
        assert!(kept == left, "{command}");
    }
    // An output may be there already, and so may what belongs to it.
    for name in ["g.0.et", "g.et"] {
        let again = run(&format!("convert bcast.sched {name}"), &folder);
        assert!(again.status.success(), "{name}: {again:?}");
    }
    // What only looks as if it did is written.
    fs::write(folder.join("x.0.calls"), "").expect("written");
    let written = run("convert list.txt x.0.calls", &folder);
    assert!(written.status.success(), "{written:?}");
}

/// Where there is a file per rank, all are named so that they are read again, and one that is missing is told.
#[test]
fn files_of_ranks_are_read_by_the_names_they_are_written_to() {
    let folder = folder("ranks");
    let shown = "show schedule bcast --ranks 3 --bytes 8 --algorithm linear --format corecast";
    let shown = run(&format!("{shown} -o bcast.sched"), &folder);
    assert!(shown.status.success(), "{shown:?}");
    for name in ["ch", "other.traces"] {
        let made = run(&format!("convert bcast.sched {name} --to chakra"), &folder);
        let told = String::from_utf8(made.stdout).expect("text");
        let expected = format!("wrote {name}.0.et to {name}.2.et (chakra)\n");
        assert_eq!(told, expected);
        let read = run(&format!("verify {name}.0.et"), &folder);
        assert!(read.status.success(), "{read:?}");
        for again in [name.to_owned(), format!("{name}.1.et")] {
            let made = run(&format!("convert bcast.sched {again} --to chakra"), &folder);
            assert!(made.status.success(), "{again}: {made:?}");
        }
    }
    let errors = refused("convert ch.0.et ch --to chakra", &folder);
    assert!(
        errors.contains("FILE would replace what FILE reads"),
        "{errors}"
    );
    fs::remove_file(folder.join("ch.1.et")).expect("it is there");
    for command in ["verify ch.0.et", "replay ch.2.et --chip nagam"] {
        let errors = refused(command, &folder);
        let expected = "`ch.1.et`: there is no such file, and there is ch.2.et";
        assert!(errors.contains(expected), "{command}: {errors}");
    }
    fs::remove_file(folder.join("ch.2.et")).expect("it is there");
    let errors = refused("verify ch.0.et", &folder);
    let expected = "its `comm_dst` is rank 1, of which there is no file";
    assert!(errors.contains(expected), "{errors}");
}

/// Packed files of ranks are found by the names of each other, too.
#[test]
fn packed_files_of_ranks_are_all_read() {
    let folder = folder("packed_ranks");
    let shown = "show schedule bcast --ranks 3 --bytes 8 --algorithm linear --format corecast";
    let shown = run(&format!("{shown} -o bcast.sched"), &folder);
    assert!(shown.status.success(), "{shown:?}");
    let made = run("convert bcast.sched ch.et", &folder);
    assert!(made.status.success(), "{made:?}");
    let names = ["ch.0.et", "ch.1.et", "ch.2.et"];
    let packed = Command::new("gzip")
        .args(names)
        .current_dir(&folder)
        .status();
    assert!(packed.expect("gzip runs").success());
    let read = run("replay ch.1.et.gz --chip scc", &folder);
    let told = String::from_utf8(read.stdout).expect("text");
    assert!(told.contains("3 ranks on scc"), "{told}");
}

/// What is written for fewer ranks than an earlier trace of the name had would be read with its rest; and
/// if one file cannot be written, none is.
#[test]
fn files_of_further_ranks_are_in_the_way() {
    let folder = folder("further_ranks");
    for ranks in [2, 4] {
        let shown = format!("show schedule bcast --ranks {ranks} --bytes 8 --algorithm linear");
        let shown = run(
            &format!("{shown} --format corecast -o {ranks}.sched"),
            &folder,
        );
        assert!(shown.status.success(), "{shown:?}");
    }
    let made = run("convert 4.sched z.et", &folder);
    assert!(made.status.success(), "{made:?}");
    let kept = fs::read(folder.join("z.0.et")).expect("written");
    let errors = refused("convert 2.sched z.et", &folder);
    let expected = "`z.2.et` is there, and would belong to what is written, which has 2 ranks";
    assert!(errors.contains(expected), "{errors}");
    assert!(kept == fs::read(folder.join("z.0.et")).expect("kept"));
    fs::create_dir(folder.join("y.2.et")).expect("a folder");
    let errors = refused("convert 4.sched y.et", &folder);
    assert!(errors.contains("cannot write `y.2.et`"), "{errors}");
    assert!(!folder.join("y.0.et").exists());
}

/// What is not correct is written, and a note says so; a format that only the ending has chosen, and that
/// cannot say the schedule, names the others of this ending.
#[test]
fn what_is_converted_is_judged() {
    let folder = folder("converted");
    let text = "corecast schedule 1\ncollective allreduce\nranks 2\nbytes 8\n\
                rank 0\nsend 1 [0]\nrank 1\nrecv 0 [0] reduce\n";
    fs::write(folder.join("half.sched"), text).expect("written");
    let made = run("convert half.sched half.goal", &folder);
    let told = String::from_utf8(made.stderr).expect("text");
    assert!(
        made.status.success() && told.contains("half.sched is not correct: rank 0 ends"),
        "{told}"
    );
    let told = refused("convert half.sched half.json", &folder);
    assert!(told.contains("`--to mscclpp` end in .json, too"), "{told}");
}

/// Where connections of a file's format hold messages and the sends of a machine wait, a note says so; and
/// that what chooses how algorithms are built changes no file.
#[test]
fn what_a_chip_does_not_have_of_a_file_is_noted() {
    let folder = folder("noted");
    let shown = "show schedule allreduce --ranks 4 --bytes 64 --algorithm ring --format msccl";
    let shown = run(&format!("{shown} -o ring.xml"), &folder);
    assert!(shown.status.success(), "{shown:?}");
    for verb in ["run", "explain"] {
        let done = run(&format!("{verb} ring.xml --chip scc"), &folder);
        let told = String::from_utf8(done.stderr).expect("text");
        assert!(
            told.contains("it counts on 1; sends wait for their receivers"),
            "{told}"
        );
    }
    let beside = "run ring.xml --chip scc --algorithm ring --flow-control off";
    let told = String::from_utf8(run(beside, &folder).stderr).expect("text");
    assert!(
        told.contains("--flow-control is for algorithms: ring.xml is run as it is"),
        "{told}"
    );
}

/// Neither are programs that are to run, by whatever name they are found, and what they are told to read.
#[test]
fn a_program_that_runs_is_not_replaced() {
    let folder = folder("programs");
    for name in ["victim", "other"] {
        fs::write(folder.join(name), "#!/bin/sh\n").expect("written");
        let mode = Permissions::from_mode(0o755);
        fs::set_permissions(folder.join(name), mode).expect("the mode is set");
    }
    fs::write(folder.join("script"), "exit 0\n").expect("written");
    let options = ["--report", "--trace", "--matrix", "--capture", "--svg"];
    let mut commands: Vec<String> = options
        .iter()
        .map(|option| format!("{option} victim ./victim"))
        .collect();
    commands.push("--report victim victim".to_owned());
    commands.push("--report victim ./other : -n 2 ./victim".to_owned());
    commands.push("--report script sh script".to_owned());
    commands.push("--vary network.flit=4,8 --csv victim ./victim".to_owned());
    for command in commands {
        let whole = format!("mpirun -n 2 --chip scc {command}");
        let output = corecast(&whole, &folder)
            .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
            .output()
            .expect("the binary runs");
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{command}: {errors}");
        assert!(
            errors.contains(" would replace what PROGRAM reads: "),
            "{command}: {errors}"
        );
    }
    for (name, contents) in [("victim", "#!/bin/sh\n"), ("script", "exit 0\n")] {
        let left = fs::read_to_string(folder.join(name)).expect("readable");
        assert_eq!(left, contents);
    }
}

/// Nobody writes to it, so reading it would never end.
#[test]
fn a_fifo_is_no_chip_and_standard_input_is_one() {
    let folder = folder("fifo");
    fifo(&folder.join("chip.toml"));
    let errors = refused("show chip ./chip.toml", &folder);
    assert!(errors.contains("it is a FIFO"), "{errors}");
    let errors = refused("run bcast --algorithm auto --table ./chip.toml", &folder);
    assert!(errors.contains("it is a FIFO"), "{errors}");
    for kept in [
        "compare bcast --ranks 4 --bytes 4 --keep ./chip.toml",
        "tune bcast --ranks 4 --bytes 4 -o ./chip.toml",
    ] {
        let errors = refused(kept, &folder);
        assert!(errors.contains("is a FIFO"), "{errors}");
    }
    let errors = refused("show chip /dev/zero", &folder);
    assert!(errors.contains("it is a device"), "{errors}");
    for (name, set) in [
        ("-", ""),
        ("/dev/stdin", ""),
        ("-", "--set endpoint.ready=2"),
    ] {
        let arguments = format!("{} {set}", RUN.replace("park2019-bus", name));
        let mut child = corecast(&arguments, &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let chip = include_bytes!("../../../../chips/park2019-bus.toml");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(chip).expect("read");
        drop(pipe);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("ap"));
    }
}
