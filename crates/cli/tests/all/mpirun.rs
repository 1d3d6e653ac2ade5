// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corecast mpirun` as a launcher: output, input, exit codes, signals, and that nothing is left.
//! The programs here are shell scripts; they never call MPI.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

fn mpirun(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command.arg("mpirun").args(arguments);
    command.stdin(Stdio::null()).env_remove("CLICOLOR_FORCE");
    command
}

fn run(arguments: &[&str]) -> Output {
    mpirun(arguments).output().expect("the binary runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("not killed")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// It has no answer of its own that could be JSON or go into a file.
#[test]
fn help_lists_no_option_that_is_always_refused() {
    let told = out(&run(&["--help"]));
    assert!(told.contains("--tag-output"), "{told}");
    assert!(!told.contains("--json"), "{told}");
    assert!(!told.contains("--output"), "{told}");
    for option in [&["--json"][..], &["-o", "answer"]] {
        let output = run(&[option, &["true"]].concat());
        assert_eq!(code(&output), 2);
        let expected = "leave --json and -o away, or write them behind the program's name";
        assert!(err(&output).contains(expected), "{}", err(&output));
    }
}

#[test]
fn lines_are_whole_and_tagged_and_streams_are_kept_apart() {
    let script = "echo a; printf 'b '; echo c; echo $CORECAST_RANK of $CORECAST_RANKS >&2";
    let output = run(&["-n", "3", "--tag-output", "sh", "-c", script]);
    assert_eq!(code(&output), 0);
    let expected = ["[0] a", "[0] b c", "[1] a", "[1] b c", "[2] a", "[2] b c"];
    assert_eq!(sorted(&out(&output)), expected);
    let expected = ["[0] 0 of 3", "[1] 1 of 3", "[2] 2 of 3"];
    assert_eq!(sorted(&err(&output)), expected);
}

#[test]
fn large_output_of_many_ranks_arrives_whole() {
    let script = "i=0; while [ $i -lt 2000 ]; do echo $CORECAST_RANK $i xxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done";
    let output = run(&["-n", "4", "sh", "-c", script]);
    let text = out(&output);
    for rank in 0..4 {
        let start = format!("{rank} ");
        let lines = text.lines().filter(|line| line.starts_with(&start));
        let expected = (0..2000).map(|i| format!("{rank} {i} xxxxxxxxxxxxxxxxxxxx"));
        assert!(lines.eq(expected), "rank {rank}");
    }
    assert_eq!(text.lines().count(), 8000);
}

#[test]
fn input_goes_to_rank_0_and_the_others_have_none() {
    let mut command = mpirun(&["-np", "3", "--tag-output", "cat"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"one\ntwo\n").expect("it is read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(out(&output), "[0] one\n[0] two\n");
}

#[test]
fn the_first_rank_that_fails_gives_the_exit_code_and_ends_the_others() {
    let script = "[ $CORECAST_RANK = 1 ] && exit 7; while :; do :; done";
    let output = run(&["-n", "3", "sh", "-c", script]);
    let sentence = "error: rank 1 ended with exit code 7; the others were ended\n";
    assert_eq!((code(&output), err(&output).as_str()), (7, sentence));
    // Not even those who do not listen.
    let script = "trap '' TERM INT; [ $CORECAST_RANK = 2 ] && kill -9 $$; while :; do :; done";
    let output = run(&["-n", "3", "sh", "-c", script]);
    let sentence = "error: rank 2 was killed by signal 9 (SIGKILL); the others were ended\n";
    assert_eq!((code(&output), err(&output).as_str()), (137, sentence));
}

#[test]
fn several_programs_are_one_job() {
    let script = "echo $1 $CORECAST_RANK";
    let first = ["-n", "1", "sh", "-c", script, "sh", "a"];
    let then = [":", "-n", "2", "sh", "-c", script, "sh", "b"];
    let output = run(&[&first[..], &then[..]].concat());
    assert_eq!(sorted(&out(&output)), ["a 0", "b 1", "b 2"]);
}

#[test]
fn variables_reach_the_ranks() {
    let script = "echo $A $B $C";
    let mut command = mpirun(&["-x", "A=1=2", "-x", "B", "sh", "-c", script]);
    let output = command.env("B", "b").env("C", "c").output();
    assert_eq!(out(&output.expect("the binary runs")), "1=2 b c\n");
    let output = run(&["-x", "NOT_THERE", "true"]);
    let sentence = "error: the variable NOT_THERE is not set\n  help: `-x NOT_THERE=VALUE` sets it for the ranks\n";
    assert_eq!((code(&output), err(&output).as_str()), (2, sentence));
}

#[test]
fn what_cannot_be_started_is_refused() {
    let refusals = [
        (
            &["./nope"][..],
            "error: \"./nope\" cannot be executed: it is not there\n  help: give the path of a program, or the name of one in a folder of PATH\n",
        ),
        (
            &["-n", "0", "true"],
            "error: -n \"0\": there cannot be so many ranks\n  help: use 1 to 1024 ranks, of all programs together\n",
        ),
        (
            &["--json", "true"],
            "error: mpirun passes on what the program prints and has no other answer\n  help: leave --json and -o away, or write them behind the program's name\n",
        ),
        (
            &["--timeout", "-1", "true"],
            "error: --timeout takes seconds, such as 30 or 0.5, not -1\n",
        ),
    ];
    for (arguments, sentence) in refusals {
        let output = run(arguments);
        assert_eq!((code(&output), err(&output).as_str()), (2, sentence));
    }
}

#[test]
fn a_limit_that_forbids_shared_memory_is_told() {
    let limited = "ulimit -f 10; exec \"$0\" mpirun -n 2 true";
    let corecast = env!("CARGO_BIN_EXE_corecast");
    let output = Command::new("sh").args(["-c", limited, corecast]).output();
    let output = output.expect("there is a shell");
    let said = err(&output);
    assert!(
        said.starts_with("error: the system gives no shared memory of ")
            && said.contains(" bytes (ftruncate): File too large"),
        "{said}"
    );
    assert_eq!(code(&output), 2);
}

/// What nobody reads any more is not read from the ranks either, and the job goes on as before: here to
/// its time limit, with ranks that do not mind. They leave a file if they come to their end.
#[test]
fn a_reader_that_has_gone_hangs_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let late = folder.path().join("late");
    let writes = "trap '' PIPE; for i in 1 2 3 4; do echo $i 2> /dev/null; sleep 0.2; done
        sleep 20; : > \"$0\"";
    let file = late.to_str().expect("text");
    let mut command = mpirun(&["-n", "2", "--timeout", "2", "sh", "-c", writes, file]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 124, "{}", err(&output));
    assert!(!late.exists(), "a rank came to its end");
}

#[test]
fn a_job_whose_time_is_over_ends() {
    let output = run(&["-n", "2", "--timeout", "0.1", "sleep", "1000"]);
    let sentence = "error: the time of 0.1 s is over; the ranks were ended\n";
    assert_eq!((code(&output), err(&output).as_str()), (124, sentence));
}

#[test]
fn ranks_stay_in_the_session_and_have_a_group_of_their_own() {
    // Fields 5 and 6 of proc_pid_stat(5), behind the name.
    let script = "cat /proc/self/stat";
    let mine = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let fields = |line: &str| {
        let line = line.rsplit(')').next().unwrap_or_default().to_owned();
        let fields: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        (fields[2].clone(), fields[3].clone())
    };
    let output = run(&["-n", "2", "sh", "-c", script]);
    let ranks: Vec<_> = out(&output).lines().map(fields).collect();
    assert_eq!(ranks[0], ranks[1]);
    assert_ne!(ranks[0].0, fields(&mine).0, "the group");
    assert_eq!(ranks[0].1, fields(&mine).1, "the session");
}

/// A job of two ranks that each have a child and print the numbers of both processes; they ignore
/// what they can.
fn stubborn() -> (Child, Vec<u32>) {
    let script = "trap '' INT TERM HUP; sleep 1000 & echo $$; echo $!; wait; sleep 1000";
    let mut command = mpirun(&["-n", "2", "sh", "-c", script]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let numbers = (0..4).map(|_| number(&mut lines)).collect();
    (child, numbers)
}

fn number(lines: &mut BufReader<ChildStdout>) -> u32 {
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line");
    line.trim().parse().expect("a number")
}

fn kill(signal: &str, child: &Child) {
    let status = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Waits until none of these processes runs; a zombie does not.
fn all_gone(numbers: &[u32]) -> bool {
    let runs = |number: &u32| {
        let stat =
            std::fs::read_to_string(Path::new("/proc").join(number.to_string()).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        !numbers.iter().any(runs)
    })
}

#[test]
fn nothing_is_left_when_the_launcher_is_killed() {
    let (mut child, numbers) = stubborn();
    kill("-KILL", &child);
    child.wait().expect("it ends");
    assert!(all_gone(&numbers), "some of {numbers:?} still run");
}

#[test]
fn control_c_leaves_nothing() {
    let (child, numbers) = stubborn();
    kill("-INT", &child);
    let output = child.wait_with_output().expect("it ends");
    let sentence = "error: mpirun got SIGINT; the ranks were ended\n";
    assert_eq!((code(&output), err(&output).as_str()), (130, sentence));
    assert!(all_gone(&numbers), "some of {numbers:?} still run");
}

#[test]
fn what_a_rank_started_does_not_outlive_the_job() {
    let script = "sleep 1000 & echo $!";
    let output = run(&["-n", "2", "sh", "-c", script]);
    let numbers: Vec<u32> = out(&output)
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect();
    assert_eq!((code(&output), numbers.len()), (0, 2));
    assert!(all_gone(&numbers));
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_job() {
    let mut command = mpirun(&["yes"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line");
    assert_eq!(line, "y\n");
    drop(lines);
    assert_eq!(child.wait().expect("it ends").code(), Some(141));
}

#[test]
fn many_starts_leave_nothing() {
    let starts = std::env::var("CORECAST_STARTS").ok();
    let starts = starts.and_then(|text| text.parse().ok()).unwrap_or(50);
    let mut numbers = Vec::new();
    for _ in 0..starts {
        let output = run(&["-n", "3", "sh", "-c", "echo $$"]);
        assert_eq!(code(&output), 0);
        numbers.extend(
            out(&output)
                .lines()
                .map(|line| line.parse::<u32>().expect("a number")),
        );
    }
    assert_eq!(numbers.len(), 3 * starts);
    assert!(all_gone(&numbers));
}
