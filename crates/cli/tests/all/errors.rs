// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every refusal as users see it: the files of `tests/errors` hold the arguments, the exit code
//! and the exact standard error. `CORECAST_BLESS=1` rewrites what is expected.

use std::path::Path;
use std::process::Command;

#[test]
fn refusals_are_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let arguments = text.lines().next().expect("arguments in the first line");
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(arguments.split_whitespace().skip(2))
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("the binary runs");
        let code = output.status.code().expect("not killed");
        let errors = String::from_utf8(output.stderr).expect("text");
        let found = format!("{arguments}\nexit {code}\n{errors}");
        assert!(output.stdout.is_empty(), "{arguments}: nothing on stdout");
        assert!(errors.starts_with("error: "), "{arguments}: {errors}");
        assert!(errors.contains("\n  help: "), "{arguments}: {errors}");
        if std::env::var_os("CORECAST_BLESS").is_some() {
            std::fs::write(&path, found).expect("writable");
        } else {
            assert_eq!(text, found, "{}", path.display());
        }
        cases += 1;
    }
    assert!(cases >= 15, "only {cases} cases");
}
