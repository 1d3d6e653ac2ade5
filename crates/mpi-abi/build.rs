// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the exported functions, and names the library as programs that are linked to it do.

#[path = "../mpi/build/exports.rs"]
mod exports;

fn main() {
    exports::write(&["functions.txt"]);
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
}
