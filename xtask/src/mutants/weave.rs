// SPDX-License-Identifier: MIT OR Apache-2.0
//! Puts all mutants of a file into one text: each behind a number that is chosen when a program
//! starts.
//!
//! `a + b` becomes `(match (a, b) { (l, r) => if active(7) { l - r } else { l + r } })`, a function
//! begins with `if active(8) { return 0; }`. Operands are written once, so that the text grows with
//! the number of mutants and not with a power of it; they keep their grouping: of `a * b / c` the
//! mutant `+` is `(a + b) / c`, where replacing characters would give `a + b / c`.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use syn::visit::Visit as _;

use super::list::Mutant;
use super::sites::{Choice, Finder, Form, Site};

/// The module of [`RUNTIME`], and what asks it.
const ACTIVE: &str = "crate::mutant_number::active";

/// Goes to the end of a crate's root. A number that is asked for is compared with one word; asked
/// to, the program notes each number once, where it first meets it.
pub const RUNTIME: &str = r#"
#[doc(hidden)]
pub mod mutant_number {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    /// No number yet; and the one that says to note which are met.
    const UNREAD: u32 = u32::MAX;
    const NOTE: u32 = u32::MAX - 1;
    const LEN: usize = 1 << 14;

    static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);
    static MET: [AtomicBool; LEN] = [const { AtomicBool::new(false) }; LEN];

    #[inline(always)]
    pub fn active(number: u32) -> bool {
        let chosen = CHOSEN.load(Relaxed);
        if chosen < NOTE { chosen == number } else { slow(number) }
    }

    #[cold]
    #[inline(never)]
    fn slow(number: u32) -> bool {
        if CHOSEN.load(Relaxed) == UNREAD {
            let chosen = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok());
            let note = std::env::var_os("MUTANTS_MET").is_some();
            let otherwise = if note { NOTE } else { NOTE - 1 };
            CHOSEN.store(chosen.unwrap_or(otherwise), Relaxed);
            return active(number);
        }
        if !MET[number as usize].swap(true, Relaxed) {
            let path = std::env::var_os("MUTANTS_MET").unwrap();
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            file.unwrap().write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        false
    }
}
"#;

/// A file with its mutants.
#[derive(Debug, Default)]
pub struct Woven {
    pub text: String,
    /// Which part of the text belongs to which mutants: those of one place, or only one of them.
    pub parts: Vec<(Range<usize>, Vec<usize>)>,
    /// Mutants that do not build wherever they stand: `||` beside `let`.
    pub unbuildable: Vec<usize>,
    /// Mutants for which there is no place: in constants, and where a function's type hides.
    pub unwoven: Vec<usize>,
}

impl Woven {
    /// The mutants of the smallest part around a range of the text.
    pub fn mutants_at(&self, range: &Range<usize>) -> &[usize] {
        let around = self.parts.iter();
        let around = around.filter(|(part, _)| part.start <= range.start && range.end <= part.end);
        let smallest = around.min_by_key(|(part, _)| part.len());
        smallest.map_or(&[], |(_, mutants)| mutants)
    }
}

/// Weaves the mutants with these numbers into a file. A `const fn` that has some is one without
/// `const`, unless its name is among those that constants call.
///
/// # Errors
/// Why the file cannot be read as Rust.
pub fn weave(
    source: &str,
    mutants: &[(usize, &Mutant)],
    constant: &BTreeSet<String>,
) -> Result<Woven, String> {
    let file = syn::parse_file(source).map_err(|error| error.to_string())?;
    let mut wanted: HashMap<(&str, usize), Vec<Choice>> = HashMap::new();
    for (number, mutant) in mutants {
        let choices = wanted.entry((&mutant.genre, mutant.range.start));
        choices.or_default().push(Choice {
            number: *number,
            text: &mutant.replacement,
        });
    }
    let mut finder = Finder::new(wanted, constant);
    finder.visit_file(&file);
    let mut unwoven: Vec<usize> = finder
        .wanted
        .values()
        .flatten()
        .map(|of| of.number)
        .collect();
    unwoven.sort_unstable();
    let mut sites = finder.sites;
    // The outer first; of those at one place what only inserts.
    sites.sort_by_key(|site| {
        let Range { start, end } = site.whole;
        (start, start != end, usize::MAX - end)
    });
    let mut writer = Writer {
        source,
        sites: &sites,
        out: Woven {
            unbuildable: finder.unbuildable,
            unwoven,
            ..Woven::default()
        },
    };
    writer.copy(0..source.len(), 0);
    Ok(writer.out)
}

/// Writes the text.
struct Writer<'a> {
    source: &'a str,
    sites: &'a [Site<'a>],
    out: Woven,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.out.text += text;
    }

    /// Writes a part of the source with the sites in it, of which those before `first` are done or
    /// around it.
    fn copy(&mut self, part: Range<usize>, first: usize) {
        let (source, sites) = (self.source, self.sites);
        let mut at = part.start;
        for (index, site) in sites.iter().enumerate().skip(first) {
            let Range { start, end } = site.whole;
            if start < at || end > part.end {
                continue;
            }
            self.push(&source[at..start]);
            self.site(site, index + 1);
            at = end;
        }
        self.push(&source[at..part.end]);
    }

    /// What is written for one mutant, and noted as its.
    fn choice(&mut self, number: usize, write: impl FnOnce(&mut Self)) {
        let start = self.out.text.len();
        write(self);
        let end = self.out.text.len();
        self.out.parts.push((start..end, vec![number]));
    }

    /// `if active(1) { ... } else if active(2) { ... } else { ... }`.
    fn chain(&mut self, choices: &[Choice<'_>], one: impl Fn(&str) -> String, otherwise: &str) {
        for choice in choices {
            self.push(&format!("if {ACTIVE}({}) {{ ", choice.number));
            self.choice(choice.number, |writer| writer.push(&one(choice.text)));
            self.push(" } else ");
        }
        self.push(&format!("{{ {} }}", one(otherwise)));
    }

    fn site(&mut self, site: &Site<'_>, next: usize) {
        let begin = self.out.text.len();
        let source = self.source;
        let choices = &site.choices;
        match &site.form {
            Form::Lazy(pair) => {
                self.push("(match (");
                self.copy(pair.left.clone(), next);
                let goes_on = match &source[pair.operator.clone()] {
                    "&&" => "!=",
                    _ => "==",
                };
                let number = choices[0].number;
                self.push(&format!(") {{ l => if l {goes_on} {ACTIVE}({number}) {{ "));
                self.copy(pair.right.clone(), next);
                self.push(" } else { l } })");
            }
            Form::Comparison(pair) => {
                self.push("(match (&(");
                self.copy(pair.left.clone(), next);
                self.push("), &(");
                self.copy(pair.right.clone(), next);
                self.push(")) { (l, r) => ");
                let operator = &source[pair.operator.clone()];
                self.chain(choices, |operator| format!("*l {operator} *r"), operator);
                self.push(" })");
            }
            Form::Arithmetic(pair) => {
                self.push("(match ((");
                self.copy(pair.left.clone(), next);
                self.push("), (");
                self.copy(pair.right.clone(), next);
                self.push(")) { (l, r) => ");
                let operator = &source[pair.operator.clone()];
                self.chain(choices, |operator| format!("l {operator} r"), operator);
                self.push(" })");
            }
            Form::Assignment(pair) => {
                self.push("(match (");
                self.copy(pair.right.clone(), next);
                self.push(") { r => ");
                let mut place = Writer {
                    source,
                    sites: self.sites,
                    out: Woven::default(),
                };
                place.copy(pair.left.clone(), next);
                let place = place.out.text;
                let operator = &source[pair.operator.clone()];
                self.chain(
                    choices,
                    |operator| format!("{place} {operator} r"),
                    operator,
                );
                self.push(" })");
            }
            Form::Unary(operator, operand) => {
                self.push("(match (");
                self.copy(operand.clone(), next);
                self.push(") { v => ");
                let operator = &source[operator.clone()];
                self.chain(choices, |operator| format!("{operator}v"), operator);
                self.push(" })");
            }
            Form::Body => {
                for choice in choices {
                    self.push(&format!(" if {ACTIVE}({}) {{ ", choice.number));
                    self.choice(choice.number, |writer| {
                        writer.push(&format!("return {};", choice.text));
                    });
                    self.push(" }");
                }
            }
            Form::Arm => self.push(&format!(" if !{ACTIVE}({})", choices[0].number)),
            Form::Guard(gone) => {
                if let Some(number) = gone {
                    self.push(&format!("!{ACTIVE}({number}) && "));
                }
                self.push("(");
                let of = |text| choices.iter().find(move |of| of.text == text);
                if let Some(choice) = of("true") {
                    self.push(&format!("{ACTIVE}({}) || ", choice.number));
                }
                if let Some(choice) = of("false") {
                    self.push(&format!("!{ACTIVE}({}) && ", choice.number));
                }
                self.push("(");
                self.copy(site.whole.clone(), next);
                self.push("))");
            }
            Form::Field {
                name,
                is_short,
                base,
            } => {
                if *is_short {
                    self.push(&format!("{name}: "));
                }
                self.push(&format!("if {ACTIVE}({}) {{ ", choices[0].number));
                self.choice(choices[0].number, |writer| {
                    writer.push(&format!("({}).{name}", &source[base.clone()]));
                });
                self.push(" } else { ");
                self.copy(site.whole.clone(), next);
                self.push(" }");
            }
            Form::Match => self.copy(site.whole.clone(), next),
            Form::Const => {}
        }
        let end = self.out.text.len();
        let numbers = choices.iter().map(|of| of.number).collect();
        self.out.parts.push((begin..end, numbers));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Mutants of a source, each by its genre, the text where it begins (the first like it) and what
    /// replaces it.
    fn woven(source: &str, of: &[(&str, &str, &str)], constant: &[&str]) -> Woven {
        let mutant = |&(genre, text, replacement): &(&str, &str, &str)| {
            let start = source.find(text).expect("it stands there");
            Mutant {
                name: String::new(),
                file: String::new(),
                package: String::new(),
                genre: genre.to_owned(),
                replacement: replacement.to_owned(),
                range: start..start + 1,
            }
        };
        let mutants: Vec<Mutant> = of.iter().map(mutant).collect();
        let numbered: Vec<(usize, &Mutant)> = mutants.iter().enumerate().collect();
        let constant = constant.iter().map(|&name| name.to_owned()).collect();
        weave(source, &numbered, &constant).expect("it is Rust")
    }

    #[test]
    fn operands_are_written_once() {
        let of = [("+", "-"), ("*", "/"), ("<", "<=")];
        let of = of.map(|(text, with)| ("BinaryOperator", text, with));
        let found = woven("fn f() -> bool { a + b * 2 < 7 }", &of, &[]);
        assert_eq!(
            found.text.replace(ACTIVE, "active"),
            "fn f() -> bool { (match (&((match ((a), ((match ((b), (2)) \
             { (l, r) => if active(1) { l / r } else { l * r } }))) \
             { (l, r) => if active(0) { l - r } else { l + r } })), &(7)) \
             { (l, r) => if active(2) { *l <= *r } else { *l < *r } }) }"
        );
        let at = |text: &str| {
            let start = found.text.find(text).expect("it is written");
            found.mutants_at(&(start..start + text.len()))
        };
        assert_eq!(at("l - r"), [0]);
        assert_eq!(at("l / r"), [1]);
        assert_eq!(at("(match ((b), (2))"), [1]);
        assert_eq!(at("fn f"), [0; 0]);
    }

    #[test]
    fn some_have_no_place() {
        let source = "const A: u8 = 1 + 2; fn f() -> impl Sized { A } const fn g() -> u8 { 3 % 1 } \
                      fn h(a: bool) -> bool { if a && let 1 = A { a } else { !a } }";
        let of = [
            ("BinaryOperator", "+", "-"),
            ("FnValue", "A }", "0"),
            ("BinaryOperator", "%", "+"),
            ("BinaryOperator", "&&", "||"),
        ];
        let found = woven(source, &of, &["g"]);
        assert_eq!(found.text, source);
        assert_eq!(found.unwoven, [0, 1, 2]);
        assert_eq!(found.unbuildable, [3]);
        let found = woven(source, &of, &[]);
        assert_eq!(found.unwoven, [0, 1]);
        assert!(!found.text.contains("const fn"));
    }

    /// What a program prints for every mutant in turn, and without one.
    #[test]
    fn the_number_chooses() {
        let source = r#"
struct Three { a: u8, b: u8, c: u8 }
fn sum(a: i32, b: i32) -> i32 { a + b }
fn both(a: bool, b: bool) -> bool { a && b }
fn either(a: bool, b: bool) -> bool { a || b }
fn least(a: &str, b: &str) -> bool { *a < *b }
fn not(a: bool) -> bool { !a }
fn count(many: [u32; 2]) -> u32 { let mut of = many; of[0 ^ 1] += 3; of[1] }
fn arm(a: u8) -> u8 {
    match a { 1 => 10, 2 if a.is_power_of_two() => 20, n if n > 4 => 40, _ => 0 }
}
const fn body() -> u8 { 9 }
fn field(base: Three) -> Three { let b = 7; Three { b, ..base } }
fn main() {
    let three = field(Three { a: 1, b: 2, c: 3 });
    assert_eq!((three.a, three.c), (1, 3));
    println!(
        "{} {} {} {} {} {} {} {} {} {} {}",
        sum(5, 3), both(true, false), either(true, false), least("a", "b"), not(true),
        count([0, 4]), arm(1), arm(2), arm(5), body(), three.b,
    );
}
"#;
        let of = [
            ("BinaryOperator", "+ b }", "*"),
            ("BinaryOperator", "&&", "||"),
            ("BinaryOperator", "||", "&&"),
            ("BinaryOperator", "< *b", ">"),
            ("UnaryOperator", "!a", ""),
            ("BinaryOperator", "+= 3", "-="),
            ("MatchArm", "1 => 10", ""),
            ("MatchArm", "2 if a", ""),
            ("MatchArmGuard", "n > 4", "false"),
            ("FnValue", "9 }", "0"),
            ("StructField", "b, ..", ""),
            ("BinaryOperator", "^", "|"),
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let [file, program, notes] = ["a.rs", "a", "met"].map(|name| folder.path().join(name));
        std::fs::write(&file, woven(source, &of, &[]).text + RUNTIME).expect("a file");
        let rustc = Command::new("rustc")
            .args(["--edition=2024", "--cap-lints=allow", "-o"])
            .args([&program, &file])
            .output()
            .expect("rustc");
        let said = String::from_utf8_lossy(&rustc.stderr);
        assert!(rustc.status.success(), "{said}");
        let run = |variable: &str, value: &str| {
            let output = Command::new(&program).env(variable, value).output();
            let output = output.expect("it starts").stdout;
            String::from_utf8_lossy(&output).trim_end().to_owned()
        };
        let plain = "8 false true true false 7 10 20 40 9 7";
        assert_eq!(run("MUTANT", "none"), plain);
        let changed = "15 true false false true 1 0 0 0 0 2";
        for (number, changed) in changed.split(' ').enumerate() {
            let mut words: Vec<&str> = plain.split(' ').collect();
            words[number] = changed;
            let found = run("MUTANT", &number.to_string());
            assert_eq!(found, words.join(" "), "{:?}", of[number]);
        }
        assert_eq!(run("MUTANTS_MET", &notes.to_string_lossy()), plain);
        let met = std::fs::read_to_string(notes).expect("notes");
        let mut met: Vec<usize> = met.lines().flat_map(str::parse).collect();
        met.sort_unstable();
        assert_eq!(met, (0..of.len()).collect::<Vec<_>>());
    }
}
