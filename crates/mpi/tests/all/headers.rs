// SPDX-License-Identifier: MIT OR Apache-2.0
//! The committed headers are those that the tables give. `CORECAST_BLESS=1` writes them.

use std::fs;
use std::path::Path;

use corecast_mpi::abi::header::{Interface, header};

#[test]
fn headers_are_of_today() {
    let interfaces = [(Interface::Standard, "abi"), (Interface::Mpich, "mpich")];
    for (interface, folder) in interfaces {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = root.join("include").join(folder).join("mpi.h");
        let expected = header(interface);
        if std::env::var_os("CORECAST_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &expected).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        let line = found
            .lines()
            .zip(expected.lines())
            .position(|(one, other)| one != other);
        assert!(
            found == expected,
            "{}: line {:?} is not today's; CORECAST_BLESS=1 writes it",
            path.display(),
            line.map(|line| line + 1)
        );
    }
}
