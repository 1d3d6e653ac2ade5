// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes a C program that calls every function with random arguments.
//!
//! Arguments that no library can check are as they should be: memory is there, arrays are as long as
//! counts say, strings end, and calls that wait are given nothing to wait for. All others are random.

use std::fmt::Write;

/// Functions that end the process or the library, or are of no use here.
const EXCEPT: [&str; 12] = [
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Abort",
    "MPI_Pcontrol",
    "MPI_Session_finalize",
    // They wait for other ranks, of which there is none.
    "MPI_Win_start",
    "MPI_Win_wait",
    // It waits for what is under way on its communicator, and others leave some.
    "MPI_Comm_disconnect",
    // It would read from files of the test.
    "MPI_Comm_join",
    // They give as many error codes as processes are asked for, however many those are.
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
];

/// Functions whose requests may stay under way.
const PENDING: [&str; 12] = [
    "MPI_Isend",
    "MPI_Isend_c",
    "MPI_Issend",
    "MPI_Ibsend",
    "MPI_Irsend",
    "MPI_Irecv",
    "MPI_Irecv_c",
    "MPI_Isendrecv",
    "MPI_Isendrecv_replace",
    "MPI_Iprobe",
    "MPI_Improbe",
    "MPI_Grequest_start",
];

/// What begins with an error handler that ends the program, as functions name it.
fn ends_the_program(pool: &str) -> Option<&'static str> {
    match pool {
        "win" => Some("MPI_Win"),
        "session" => Some("MPI_Session"),
        _ => None,
    }
}

/// Functions that only look at requests.
fn looks(name: &str) -> bool {
    let looking = ["MPI_Test", "MPI_Request_get", "MPI_Grequest_complete"];
    looking.iter().any(|start| name.starts_with(start))
}

/// The program.
pub fn program(functions: &str) -> String {
    let mut cases = String::new();
    let mut count = 0;
    for line in functions.lines() {
        let (head, arguments) = line.split_once('(').unwrap();
        let (returns, name) = head.rsplit_once(' ').unwrap();
        if EXCEPT.contains(&name) {
            continue;
        }
        let arguments = arguments.strip_suffix(");").unwrap();
        case(&mut cases, count, (returns, name), arguments);
        count += 1;
    }
    format!(
        "#define FUNCTIONS {count}\n#include \"fuzz.h\"\n\n\
         static void one_call(unsigned which)\n{{\n    switch (which) {{\n{cases}    }}\n}}\n"
    )
}

fn case(out: &mut String, number: usize, (returns, name): (&str, &str), arguments: &str) {
    let _ = writeln!(out, "    case {number}: {{\n        now = \"{name}\";");
    if PENDING.contains(&name) {
        let _ = writeln!(out, "        is_pending = 1;");
    }
    let mut given = Vec::new();
    let mut keeps = String::new();
    let all = arguments
        .split(", ")
        .filter(|it| !["void", "..."].contains(it));
    for (index, argument) in all.enumerate() {
        let (kind, place) = kind(argument);
        let picked = pick(name, argument, &kind, place);
        let _ = writeln!(out, "        {} = {picked};", declared(argument, index));
        given.push(format!("a{index}"));
        if let Some(pool) = pool(name, &kind).filter(|_| place == Place::Result) {
            let _ = writeln!(keeps, "            keep_{pool}(a{index});");
            if let Some(kind) = ends_the_program(pool) {
                let _ = writeln!(
                    keeps,
                    "            if (a{index}) {kind}_set_errhandler(*a{index}, MPI_ERRORS_RETURN);"
                );
            }
        }
    }
    let call = format!("{name}({})", given.join(", "));
    let _ = match returns {
        "int" => writeln!(
            out,
            "        int code = {call};\n        {}\n        if (code == MPI_SUCCESS) {{\n{keeps}        }}",
            if returns_code(name) {
                "check(code);"
            } else {
                "(void) code;"
            }
        ),
        _ => writeln!(out, "        (void) {call};"),
    };
    let _ = writeln!(out, "        break;\n    }}");
}

/// Whether the `int` is an error code of MPI.
fn returns_code(name: &str) -> bool {
    !name.ends_with("_toint")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    Array,
    Result,
    Deeper,
}

/// The type of C without `const` and stars, and what of it there is.
fn kind(argument: &str) -> (String, Place) {
    let text = argument.trim_start_matches("const ");
    let name = text.split([' ', '*']).next().unwrap();
    let stars = argument.matches('*').count() + argument.matches("[").count();
    let place = match stars {
        0 => Place::Value,
        1 if argument.starts_with("const ") => Place::Array,
        1 => Place::Result,
        _ => Place::Deeper,
    };
    (name.to_owned(), place)
}

/// The declaration of a variable for an argument.
fn declared(argument: &str, index: usize) -> String {
    if argument.contains("[3]") {
        return format!("int (*a{index})[3]");
    }
    let array = argument.ends_with("[]");
    let argument = argument.trim_end_matches("[]");
    let at = argument.rfind([' ', '*']).unwrap() + 1;
    // A function that is an argument is a pointer to it.
    let of = match argument[..at].trim_end() {
        of if of.ends_with("_function") => format!("{of} *"),
        of => format!("{of} "),
    };
    format!("{of}{}a{index}", if array { "*" } else { "" })
}

/// Where handles of a type are picked from.
fn pool(name: &str, kind: &str) -> Option<&'static str> {
    Some(match kind {
        "MPI_Comm" => "comm",
        "MPI_Group" => "group",
        "MPI_Errhandler" => "errhandler",
        "MPI_Op" => "op",
        "MPI_Info" => "info",
        "MPI_Message" => "message",
        "MPI_Win" => "win",
        "MPI_Session" => "session",
        "MPI_Request" if PENDING.contains(&name) => "pending",
        "MPI_Request" => "request",
        // What is made of a derived datatype could be as large as the memory of all machines.
        "MPI_Datatype" if name.starts_with("MPI_Type_c") || name.starts_with("MPI_Type_i") => {
            "derived"
        }
        "MPI_Datatype" if name.starts_with("MPI_Type_v") => "derived",
        "MPI_Datatype" => "basic",
        _ => return None,
    })
}

fn pick(name: &str, argument: &str, kind: &str, place: Place) -> String {
    if let Some(function) = function(kind) {
        return format!("is_one_in(10) ? NULL : ({kind} *) {function}");
    }
    if place == Place::Deeper && argument.contains("[3]") {
        return "(int (*)[3]) some_ints()".to_owned();
    }
    if place == Place::Deeper || kind.starts_with("MPI_T_") || kind == "MPI_File" {
        return "0".to_owned();
    }
    match (kind, place) {
        ("MPI_Datatype", Place::Value) if makes_types(name) => "a_basic()".to_owned(),
        ("MPI_Datatype", Place::Value) => "has_derived ? a_derived() : a_basic()".to_owned(),
        ("MPI_Datatype", _) if makes_types(name) => "some_basic()".to_owned(),
        ("MPI_Datatype", Place::Array) => "has_derived ? some_derived() : some_basic()".to_owned(),
        ("MPI_Datatype", _) => "some_derived()".to_owned(),
        ("MPI_Request", Place::Value) if looks(name) => {
            "is_one_in(2) ? a_pending() : a_request()".to_owned()
        }
        ("MPI_Request", Place::Array | Place::Result) if looks(name) => {
            "is_one_in(2) ? some_pending() : some_request()".to_owned()
        }
        ("MPI_Request", _) if name.starts_with("MPI_Wait") => "settled(some_request())".to_owned(),
        ("MPI_Status", _) => "a_status()".to_owned(),
        ("void", _) => "a_buffer()".to_owned(),
        ("char", Place::Array) => "a_string()".to_owned(),
        ("char", _) => "a_text()".to_owned(),
        ("int", Place::Value) => number(argument),
        ("MPI_Count" | "MPI_Aint" | "MPI_Offset", Place::Value) => number(argument),
        ("int", _) if reaches(argument) => "near_ints()".to_owned(),
        ("int", _) => "some_ints()".to_owned(),
        ("MPI_Count" | "MPI_Offset", _) => "some_counts()".to_owned(),
        ("MPI_Aint", _) => "some_aints()".to_owned(),
        (_, Place::Value) => format!("a_{}()", pool("", kind).unwrap()),
        _ => format!("some_{}()", pool("", kind).unwrap()),
    }
}

/// Whether numbers say how far memory reaches.
fn reaches(argument: &str) -> bool {
    let words = ["counts", "displs", "array_of_"];
    words.iter().any(|word| argument.contains(word))
}

fn makes_types(name: &str) -> bool {
    name.starts_with("MPI_Type_") && pool(name, "MPI_Datatype") == Some("derived")
}

/// A number by the name of the argument.
fn number(argument: &str) -> String {
    let name = argument.rsplit(' ').next().unwrap();
    let picker = match name {
        "dest" | "source" | "target_rank" => "a_rank",
        "root" | "rank" | "local_leader" | "remote_leader" => "a_root",
        "tag" | "sendtag" | "recvtag" => "a_tag",
        // Numbers of elements, and what determines how far a datatype reaches.
        _ if name.contains("count") || ["n", "len", "size", "nnodes"].contains(&name) => "a_count",
        "insize" | "outsize" => "a_size",
        "blocklength" | "stride" | "lb" | "extent" | "ndims" | "maxdims" | "length" => "small",
        _ if argument.starts_with("int ") => "any_int",
        _ => "small",
    };
    format!("{picker}()")
}

/// A function of the program for an argument of this type.
fn function(kind: &str) -> Option<&'static str> {
    let base = kind.strip_prefix("MPI_")?;
    if !base.ends_with("_function") && !base.ends_with("_function_c") {
        return None;
    }
    Some(match base {
        "User_function" => "an_operation",
        "User_function_c" => "an_operation_c",
        "Type_copy_attr_function" => "a_copy_of_type",
        "Type_delete_attr_function" => "a_delete_of_type",
        _ if base.contains("opy_") => "a_copy",
        _ if base.contains("elete_") => "a_delete",
        "Grequest_query_function" => "a_query",
        "Grequest_free_function" => "a_free",
        "Grequest_cancel_function" => "a_cancel",
        _ => "a_handler",
    })
}
