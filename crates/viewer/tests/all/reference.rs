// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/pages.md` has every field of a document: its tables are what the code says about them.
//! `CORECAST_BLESS=1` writes them.

use std::fmt::Write as _;
use std::path::Path;

/// What the tables come after.
const HEADING: &str = "\n## Fields\n";

/// A type of Rust in words.
fn words(kind: &str) -> String {
    let inner = |outer: &str| {
        let inner = kind.strip_prefix(outer)?;
        Some(words(inner.strip_prefix('<')?.strip_suffix('>')?))
    };
    if let Some(inner) = inner("Option") {
        return format!("{inner} or null");
    }
    if let Some(inner) = inner("Vec") {
        return format!("array of {}", plural(&inner));
    }
    match kind {
        "String" => "text".to_owned(),
        "bool" => "true or false".to_owned(),
        "f64" => "number".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "i64" => "whole number".to_owned(),
        "(u32, u32)" => "pair of whole numbers".to_owned(),
        "Map<String, Value>" => "object".to_owned(),
        "BTreeMap<String, f64>" => "object of numbers".to_owned(),
        name => {
            let name = name.trim_start_matches("Box<").trim_end_matches('>');
            format!("[{name}](#{})", name.to_lowercase())
        }
    }
}

fn plural(words: &str) -> String {
    match words.split_once(" of ") {
        Some((outer, inner)) => format!("{outer}s of {inner}"),
        None if words.starts_with('[') => words.to_owned(),
        None => format!("{words}s"),
    }
}

/// A sentence of the code as the documentation has it.
fn sentence(doc: &str) -> String {
    let plain = doc.trim().replace("[`", "`").replace("`]", "`");
    plain.replace("::", ".").replace('|', "\\|")
}

/// Every structure with its fields.
fn tables(code: &str) -> String {
    let (mut text, mut doc) = (String::new(), String::new());
    for line in code
        .lines()
        .skip_while(|line| !line.starts_with("/// Several documents"))
    {
        let line = line.trim();
        if let Some(more) = line.strip_prefix("///") {
            doc += more;
            continue;
        }
        let named = line
            .strip_prefix("pub struct ")
            .or(line.strip_prefix("pub enum "));
        let field = line
            .strip_prefix("pub ")
            .and_then(|line| line.split_once(": "));
        let variant = line
            .strip_suffix("),")
            .and_then(|line| line.split_once('('));
        if let Some(name) = named.and_then(|name| name.strip_suffix(" {")) {
            let (first, view) = match line.contains("enum") {
                true => ("`view`", "whose other fields are those of"),
                false => ("field", "type"),
            };
            let about = sentence(&doc);
            write!(
                text,
                "\n### {name}\n\n{about}\n\n| {first} | {view} | |\n|---|---|---|\n"
            )
            .expect("memory");
        } else if let Some((name, kind)) = field {
            let kind = words(kind.trim_end_matches(','));
            writeln!(text, "| `{name}` | {kind} | {} |", sentence(&doc)).expect("memory");
        } else if let Some((name, kind)) = variant {
            let name = name.to_lowercase();
            writeln!(
                text,
                "| `\"{name}\"` | {} | {} |",
                words(kind),
                sentence(&doc)
            )
            .expect("memory");
        } else if line.starts_with("#[") {
            continue;
        }
        doc.clear();
    }
    text
}

#[test]
fn the_reference_has_every_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let code = std::fs::read_to_string(root.join("src/document.rs")).expect("readable");
    let path = root.join("../../docs/pages.md");
    let page = std::fs::read_to_string(&path).expect("readable");
    let (head, _) = page.split_once(HEADING).expect("the heading");
    let expected = format!("{head}{HEADING}{}", tables(&code));
    if std::env::var_os("CORECAST_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("writable");
    }
    let page = std::fs::read_to_string(&path).expect("readable");
    assert!(
        page == expected,
        "docs/pages.md does not say what the code says: CORECAST_BLESS=1 writes it again"
    );
    let fields = code
        .lines()
        .filter(|line| line.trim().starts_with("pub ") && line.contains(": "));
    let rows = expected
        .lines()
        .filter(|line| line.starts_with("| `") && !line.contains("| `\""));
    assert_eq!(
        fields.count(),
        rows.filter(|row| !row.contains("`view` |")).count()
    );
}
