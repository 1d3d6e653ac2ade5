// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the exported functions of a library from the prototypes: what both libraries' build
//! scripts share.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The lists of prototypes: the standard's, and what the ABI of MPICH has besides.
const LISTS: [&str; 2] = ["functions.txt", "functions-mpich.txt"];

/// Functions of MPI-1 that have another name since.
const RENAMED: [(&str, &str); 12] = [
    ("address", "get_address"),
    ("attr_delete", "comm_delete_attr"),
    ("attr_get", "comm_get_attr"),
    ("attr_put", "comm_set_attr"),
    ("errhandler_create", "comm_create_errhandler"),
    ("errhandler_get", "comm_get_errhandler"),
    ("errhandler_set", "comm_set_errhandler"),
    ("keyval_create", "comm_create_keyval"),
    ("keyval_free", "comm_free_keyval"),
    ("type_hindexed", "type_create_hindexed"),
    ("type_hvector", "type_create_hvector"),
    ("type_struct", "type_create_struct"),
];

/// What `exports.rs` in `OUT_DIR` needs around it: a type alias `A` for the ABI, and `attach`.
pub fn write(lists: &[&str]) {
    let mpi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mpi");
    let face = mpi.join("src/face");
    println!("cargo::rerun-if-changed={}", face.display());
    let written = Written::read(&face);
    let mut out = String::new();
    let mut names = Vec::new();
    for list in LISTS {
        let path = mpi.join(list);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect("the list of functions");
        for prototype in text.lines().filter_map(Prototype::parse) {
            if lists.contains(&list) {
                prototype.export(&written, names.len(), &mut out);
            }
            names.push(prototype.face_name());
        }
    }
    for name in written.functions.keys() {
        assert!(names.contains(name), "{name} is in no list of functions");
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("exports.rs"), out).expect("a file in OUT_DIR");
}

/// The functions of the face: module and number of generic parameters, by name.
struct Written {
    functions: BTreeMap<String, (String, usize)>,
}

impl Written {
    fn read(folder: &Path) -> Self {
        let mut functions = BTreeMap::new();
        for entry in fs::read_dir(folder).expect("the face").flatten() {
            let path = entry.path();
            let module = path
                .file_stem()
                .expect("a file")
                .to_string_lossy()
                .into_owned();
            let text = fs::read_to_string(&path).unwrap_or_default();
            if module == "mod" {
                continue;
            }
            for line in text.lines() {
                let Some(rest) = line.strip_prefix("pub fn ") else {
                    continue;
                };
                let Some((name, rest)) = rest.split_once("<A: Abi") else {
                    continue;
                };
                let Some((generic, _)) = rest.split_once('>') else {
                    continue;
                };
                // `failed` and its like are helpers: they have no module that is public.
                if module == "errors" || module == "library" || module == "c" {
                    continue;
                }
                let parameters = generic.matches(',').count();
                functions.insert(name.to_owned(), (module.clone(), parameters));
            }
        }
        Self { functions }
    }

    /// Where a function is, or the one that does the same for other numbers or by another name.
    fn find(&self, name: &str) -> Option<(&str, &str, usize)> {
        let twin = name.strip_suffix("_c").or_else(|| name.strip_suffix("_x"));
        let to_int = name
            .strip_suffix("_c2f")
            .map(|kind| format!("{kind}_toint"));
        let from_int = name
            .strip_suffix("_f2c")
            .map(|kind| format!("{kind}_fromint"));
        let renamed = RENAMED.iter().find(|&&(old, _)| old == name);
        let found = [
            Some(name),
            twin,
            to_int.as_deref(),
            from_int.as_deref(),
            renamed.map(|&(_, new)| new),
        ];
        let found = found.into_iter().flatten();
        let mut found = found.filter_map(|name| self.functions.get_key_value(name));
        found
            .next()
            .map(|(name, (module, parameters))| (module.as_str(), name.as_str(), *parameters))
    }
}

/// One line: `int MPI_Comm_rank(MPI_Comm comm, int *rank);`.
struct Prototype<'a> {
    returns: &'a str,
    name: &'a str,
    arguments: Vec<&'a str>,
}

impl<'a> Prototype<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (head, rest) = line.split_once('(')?;
        let (returns, name) = head.rsplit_once(' ')?;
        let arguments = rest.strip_suffix(");")?;
        let arguments = match arguments {
            "void" => Vec::new(),
            _ => arguments.split(", ").filter(|&it| it != "...").collect(),
        };
        Some(Self {
            returns,
            name,
            arguments,
        })
    }

    fn face_name(&self) -> String {
        self.name["MPI_".len()..].to_ascii_lowercase()
    }

    /// Its number among all calls is that of `corecast_mpi::calls`.
    fn export(&self, written: &Written, number: usize, out: &mut String) {
        let mut parameters = String::new();
        let mut given = String::new();
        for (index, argument) in self.arguments.iter().enumerate() {
            let _ = write!(parameters, "a{index}: {}, ", rust_type(argument));
            let _ = write!(given, "a{index}, ");
        }
        let returns = base(self.returns);
        let body = match written.find(&self.face_name()) {
            Some((module, name, more)) => {
                let more = ", _".repeat(more);
                format!("face::{module}::{name}::<A{more}>({given})")
            }
            None => panic!("{} has to be written", self.name),
        };
        let attach = match self.name {
            "MPI_Init" | "MPI_Init_thread" | "MPI_Session_init" => "face::set_transport(attach); ",
            _ => "",
        };
        for prefix in ["", "P"] {
            let _ = writeln!(
                out,
                "#[unsafe(no_mangle)] pub extern \"C\" fn {prefix}{}({parameters}) -> {returns} {{ \
                 {attach}let _watch = face::watch({number}); {body} }}",
                self.name,
            );
        }
    }
}

/// The Rust type of an argument of C.
fn rust_type(argument: &str) -> String {
    let dimensions = argument.matches('[').count();
    let rows = match argument.contains("[3]") {
        true => dimensions - 1,
        false => dimensions,
    };
    let text = argument.split('[').next().unwrap_or(argument);
    let is_const = text.starts_with("const ");
    let text = text.trim_start_matches("const ");
    let stars = text.matches('*').count() + rows;
    let name = text.split([' ', '*']).next().unwrap_or(text);
    if name.ends_with("_function") || name.ends_with("_function_c") {
        return "Function".to_owned();
    }
    let base = match argument.contains("[3]") {
        true => format!("[{}; 3]", base(name)),
        false => base(name),
    };
    match stars {
        0 => base,
        _ if name == "void" => "Address".to_owned(),
        1 if is_const => format!("In<{base}>"),
        1 => format!("Out<{base}>"),
        _ => "Address".to_owned(),
    }
}

/// The Rust type of a type of C without stars.
fn base(name: &str) -> String {
    let handles = [
        "Comm",
        "Group",
        "Datatype",
        "Errhandler",
        "Op",
        "Info",
        "Win",
        "Request",
        "Message",
        "Session",
    ];
    let short = name.strip_prefix("MPI_").unwrap_or(name);
    match short {
        "int" | "Fint" => "c_int".to_owned(),
        "char" => "c_char".to_owned(),
        "double" => "f64".to_owned(),
        "void" => "()".to_owned(),
        "Aint" => "isize".to_owned(),
        "Count" | "Offset" => "i64".to_owned(),
        "Status" => "<A as Abi>::Status".to_owned(),
        "File" => "File".to_owned(),
        "T_cb_safety" | "T_source_order" => "c_int".to_owned(),
        _ if handles.contains(&short) => format!("face::{short}<A>"),
        _ if short.starts_with("T_") => "Address".to_owned(),
        _ => panic!("the type {name} is not known"),
    }
}
