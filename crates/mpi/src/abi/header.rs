// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mpi.h` of both ABIs, written from the tables and the list of functions.
#![forbid(unsafe_code)]

use std::fmt::Write;

use super::names::{self, Row};
use super::{Abi, CONSTANTS, ERRORS, Mpich, Standard, UNWEIGHTED, WEIGHTS_EMPTY};

/// Which header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interface {
    /// Of the standard ABI.
    Standard,
    /// Of the ABI of MPICH.
    Mpich,
}

/// Prototypes of all functions of the standard.
const FUNCTIONS: &str = include_str!("../../functions.txt");
/// Prototypes that the ABI of MPICH has besides.
const MORE_FUNCTIONS: &str = include_str!("../../functions-mpich.txt");

const HANDLES: [(&str, &[Row]); 10] = [
    ("Comm", names::COMMS),
    ("Group", names::GROUPS),
    ("Datatype", names::DATATYPES),
    ("Op", names::OPS),
    ("Errhandler", names::ERRHANDLERS),
    ("Info", names::INFOS),
    ("Request", names::REQUESTS),
    ("Message", names::MESSAGES),
    ("Win", names::WINS),
    ("Session", names::SESSIONS),
];

const TOOL_HANDLES: [&str; 6] = [
    "enum",
    "cvar_handle",
    "pvar_handle",
    "pvar_session",
    "event_registration",
    "event_instance",
];

const FUNCTION_TYPES: &str = "\
typedef void (MPI_User_function)(void *, void *, int *, MPI_Datatype *);
typedef void (MPI_User_function_c)(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int (MPI_Comm_copy_attr_function)(MPI_Comm, int, void *, void *, void *, int *);
typedef int (MPI_Comm_delete_attr_function)(MPI_Comm, int, void *, void *);
typedef int (MPI_Type_copy_attr_function)(MPI_Datatype, int, void *, void *, void *, int *);
typedef int (MPI_Type_delete_attr_function)(MPI_Datatype, int, void *, void *);
typedef int (MPI_Win_copy_attr_function)(MPI_Win, int, void *, void *, void *, int *);
typedef int (MPI_Win_delete_attr_function)(MPI_Win, int, void *, void *);
typedef int (MPI_Copy_function)(MPI_Comm, int, void *, void *, void *, int *);
typedef int (MPI_Delete_function)(MPI_Comm, int, void *, void *);
typedef void (MPI_Comm_errhandler_function)(MPI_Comm *, int *, ...);
typedef void (MPI_File_errhandler_function)(MPI_File *, int *, ...);
typedef void (MPI_Win_errhandler_function)(MPI_Win *, int *, ...);
typedef void (MPI_Session_errhandler_function)(MPI_Session *, int *, ...);
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef int (MPI_Grequest_query_function)(void *, MPI_Status *);
typedef int (MPI_Grequest_free_function)(void *);
typedef int (MPI_Grequest_cancel_function)(void *, int);
typedef int (MPI_Datarep_extent_function)(MPI_Datatype, MPI_Aint *, void *);
typedef int (MPI_Datarep_conversion_function)(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
typedef int (MPI_Datarep_conversion_function_c)(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
typedef void (MPI_T_event_cb_function)(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void (MPI_T_event_free_cb_function)(MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void (MPI_T_event_dropped_cb_function)(MPI_Count, MPI_T_event_registration, int, MPI_T_cb_safety, void *);
";

/// The text of `mpi.h`.
#[must_use]
pub fn header(interface: Interface) -> String {
    let (library, about) = match interface {
        Interface::Standard => ("libmpi_abi.so.1", "the standard ABI of MPI 5.0"),
        Interface::Mpich => ("libmpi.so.12", "the ABI of MPICH"),
    };
    let mut text = format!(
        "/* MPI behind {about} ({library}). Written by corecast from its tables. */\n\
         #ifndef CORECAST_MPI_H\n#define CORECAST_MPI_H\n\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    );
    types(interface, &mut text);
    handles(interface, &mut text);
    constants(interface, &mut text);
    pointers(interface, &mut text);
    section(&mut text, "Functions");
    for prefix in ["", "P"] {
        functions(FUNCTIONS, prefix, &mut text);
        if interface == Interface::Mpich {
            functions(MORE_FUNCTIONS, prefix, &mut text);
        }
    }
    if interface == Interface::Standard {
        fortran(&mut text);
    }
    text.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// What MPI 5.0 (19.3.4) has in C for handles of Fortran, and the standard ABI under other names: a
/// library behind it need not know how long an integer of Fortran is. A status has the same words.
fn fortran(text: &mut String) {
    section(text, "Handles and statuses of Fortran");
    let handles = HANDLES.iter().map(|&(name, _)| name).chain(["File"]);
    let names = handles.map(|name| if name == "Datatype" { "Type" } else { name });
    let names: Vec<_> = names.collect();
    for prefix in ["MPI", "PMPI"] {
        for name in &names {
            let _ = write!(
                text,
                "#define {prefix}_{name}_c2f(handle) ((MPI_Fint) {prefix}_{name}_toint(handle))\n\
                 #define {prefix}_{name}_f2c(handle) {prefix}_{name}_fromint((int) (handle))\n"
            );
        }
        let _ = write!(
            text,
            "#define {prefix}_Status_c2f(c, f) (*(MPI_Status *) (f) = *(c), MPI_SUCCESS)\n\
             #define {prefix}_Status_f2c(f, c) (*(c) = *(const MPI_Status *) (f), MPI_SUCCESS)\n"
        );
    }
    text.push_str(
        "#define MPI_F_STATUS_IGNORE ((MPI_Fint *) 0)\n\
         #define MPI_F_STATUSES_IGNORE ((MPI_Fint *) 0)\n",
    );
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n/* {title} */\n");
}

fn types(interface: Interface, text: &mut String) {
    text.push_str(
        "typedef intptr_t MPI_Aint;\ntypedef int64_t MPI_Offset;\ntypedef int64_t MPI_Count;\n\
         typedef int MPI_Fint;\n\n",
    );
    for (name, _) in HANDLES {
        let _ = match interface {
            Interface::Standard => {
                writeln!(text, "typedef struct MPI_ABI_{name} *MPI_{name};")
            }
            Interface::Mpich => writeln!(text, "typedef int MPI_{name};"),
        };
    }
    let _ = writeln!(text, "typedef struct MPI_ABI_File *MPI_File;");
    for name in TOOL_HANDLES {
        let _ = writeln!(text, "typedef struct MPI_ABI_T_{name} *MPI_T_{name};");
    }
    text.push_str("typedef int MPI_T_cb_safety;\ntypedef int MPI_T_source_order;\n\n");
    text.push_str(match interface {
        Interface::Standard => {
            "typedef struct MPI_Status {\n    int MPI_SOURCE;\n    int MPI_TAG;\n    \
             int MPI_ERROR;\n    int MPI_internal[5];\n} MPI_Status;\n"
        }
        Interface::Mpich => {
            "typedef struct MPI_Status {\n    int count_lo;\n    int count_hi_and_cancelled;\n    \
             int MPI_SOURCE;\n    int MPI_TAG;\n    int MPI_ERROR;\n} MPI_Status;\n"
        }
    });
    section(text, "Functions of programs");
    text.push_str(FUNCTION_TYPES);
}

fn handles(interface: Interface, text: &mut String) {
    for (name, rows) in HANDLES {
        section(text, &format!("MPI_{name}"));
        for &(constant, standard, mpich) in rows {
            let _ = match interface {
                _ if names::OF_MPICH.contains(&constant) => continue,
                Interface::Standard if names::OF_MPI_1.contains(&constant) => continue,
                Interface::Standard => {
                    writeln!(text, "#define MPI_{constant} ((MPI_{name}) {standard:#x})")
                }
                Interface::Mpich => {
                    writeln!(text, "#define MPI_{constant} ((MPI_{name}) {mpich:#010x})")
                }
            };
        }
        if name == "Datatype" {
            text.push_str(
                "#define MPI_LONG_LONG_INT MPI_LONG_LONG\n\
                 #define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX\n",
            );
        }
    }
    section(text, "MPI_File");
    let null = match interface {
        Interface::Standard => "0x118",
        Interface::Mpich => "0",
    };
    let _ = writeln!(text, "#define MPI_FILE_NULL ((MPI_File) {null})");
}

fn constants(interface: Interface, text: &mut String) {
    let (version, abi_version) = match interface {
        Interface::Standard => (Standard::VERSION, Standard::ABI_VERSION),
        Interface::Mpich => (Mpich::VERSION, Mpich::ABI_VERSION),
    };
    section(text, "Constants");
    let versions = [
        ("VERSION", version.0),
        ("SUBVERSION", version.1),
        ("ABI_VERSION", abi_version.0),
        ("ABI_SUBVERSION", abi_version.1),
    ];
    for (name, value) in versions {
        let _ = writeln!(text, "#define MPI_{name} {value}");
    }
    for &(name, standard, mpich) in CONSTANTS.iter().chain(ERRORS) {
        let value = match interface {
            Interface::Standard => standard,
            Interface::Mpich => mpich,
        };
        let _ = match value {
            ..0 => writeln!(text, "#define MPI_{name} ({value})"),
            _ => writeln!(text, "#define MPI_{name} {value}"),
        };
    }
    let current = match interface {
        Interface::Standard => -1,
        Interface::Mpich => -54_278_278,
    };
    let _ = writeln!(
        text,
        "#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset) {current})"
    );
}

fn pointers(interface: Interface, text: &mut String) {
    let (in_place, automatic, ignore) = match interface {
        Interface::Standard => ("1", "2", "0"),
        Interface::Mpich => ("-1", "-2", "1"),
    };
    section(text, "Addresses");
    let _ = write!(
        text,
        "#define MPI_BOTTOM ((void *) 0)\n\
         #define MPI_IN_PLACE ((void *) {in_place})\n\
         #define MPI_BUFFER_AUTOMATIC ((void *) {automatic})\n\
         #define MPI_STATUS_IGNORE ((MPI_Status *) {ignore})\n\
         #define MPI_STATUSES_IGNORE ((MPI_Status *) {ignore})\n\
         #define MPI_ERRCODES_IGNORE ((int *) 0)\n\
         #define MPI_ARGV_NULL ((char **) 0)\n\
         #define MPI_ARGVS_NULL ((char ***) 0)\n"
    );
    for name in ["enum", "cvar_handle", "pvar_handle", "pvar_session"] {
        let upper = name.to_ascii_uppercase();
        let _ = writeln!(text, "#define MPI_T_{upper}_NULL ((MPI_T_{name}) 0)");
    }
    match interface {
        Interface::Standard => {
            let _ = write!(
                text,
                "#define MPI_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle) 1)\n\
                 #define MPI_UNWEIGHTED ((int *) {UNWEIGHTED})\n\
                 #define MPI_WEIGHTS_EMPTY ((int *) {WEIGHTS_EMPTY})\n"
            );
        }
        Interface::Mpich => text.push_str(
            "extern struct MPI_ABI_T_pvar_handle *const MPI_T_PVAR_ALL_HANDLES;\n\
             extern int *const MPI_UNWEIGHTED;\n\
             extern int *const MPI_WEIGHTS_EMPTY;\n\
             extern MPI_Fint *MPI_F_STATUS_IGNORE;\n\
             extern MPI_Fint *MPI_F_STATUSES_IGNORE;\n\
             int MPIR_Dup_fn(MPI_Comm, int, void *, void *, void *, int *);\n",
        ),
    }
    section(text, "Functions for attributes");
    let duplicate = match interface {
        Interface::Standard => "1",
        Interface::Mpich => "MPIR_Dup_fn",
    };
    for kind in ["Comm", "Type", "Win"] {
        let upper = kind.to_ascii_uppercase();
        let _ = write!(
            text,
            "#define MPI_{upper}_NULL_COPY_FN ((MPI_{kind}_copy_attr_function *) 0)\n\
             #define MPI_{upper}_NULL_DELETE_FN ((MPI_{kind}_delete_attr_function *) 0)\n\
             #define MPI_{upper}_DUP_FN ((MPI_{kind}_copy_attr_function *) {duplicate})\n"
        );
    }
    let _ = write!(
        text,
        "#define MPI_NULL_COPY_FN ((MPI_Copy_function *) 0)\n\
         #define MPI_NULL_DELETE_FN ((MPI_Delete_function *) 0)\n\
         #define MPI_DUP_FN ((MPI_Copy_function *) {duplicate})\n\
         #define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function *) 0)\n\
         #define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *) 0)\n"
    );
}

fn functions(list: &str, prefix: &str, text: &mut String) {
    for line in list.lines() {
        let Some((head, arguments)) = line.split_once('(') else {
            continue;
        };
        let Some((returns, name)) = head.rsplit_once(' ') else {
            continue;
        };
        // The interface for Fortran has statuses of integers.
        let arguments = match name.starts_with("MPI_Status_") && name.contains('2') {
            true => arguments.replace("MPI_Status *f_", "MPI_Fint *f_"),
            false => arguments.to_owned(),
        };
        let arguments: Vec<_> = arguments.split(", ").map(as_pointer).collect();
        let arguments = arguments.join(", ");
        let _ = writeln!(text, "{returns} {prefix}{name}({arguments}");
    }
}

/// `int *it` for `int it[]`: compilers warn about arrays at addresses like that of
/// `MPI_UNWEIGHTED`.
fn as_pointer(argument: &str) -> String {
    let (argument, end) = match argument.strip_suffix(");") {
        Some(argument) => (argument, ");"),
        None => (argument, ""),
    };
    let array = argument
        .strip_suffix("[]")
        .filter(|array| !array.contains('['));
    match array.and_then(|array| array.rsplit_once(' ')) {
        Some((of, name)) => format!("{of} *{name}{end}"),
        None => format!("{argument}{end}"),
    }
}
