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

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, UnOp};

use super::list::Mutant;

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
    let mut finder = Finder {
        wanted,
        constant,
        is_constant: false,
        sites: Vec::new(),
        unbuildable: Vec::new(),
    };
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

/// One mutant of a site.
#[derive(Clone, Copy, Debug)]
struct Choice<'a> {
    number: usize,
    text: &'a str,
}

/// A place in the source that is written differently.
struct Site<'a> {
    whole: Range<usize>,
    form: Form,
    choices: Vec<Choice<'a>>,
}

/// Two operands and what stands between them.
struct Pair {
    left: Range<usize>,
    operator: Range<usize>,
    right: Range<usize>,
}

enum Form {
    /// `&&` or `||`, each of which becomes the other.
    Lazy(Pair),
    /// Compares: operands stay where they are.
    Comparison(Pair),
    /// Takes its operands.
    Arithmetic(Pair),
    /// `a += b`.
    Assignment(Pair),
    /// Deletes an operator before an operand.
    Unary(Range<usize>, Range<usize>),
    /// The beginning of a body.
    Body,
    /// After the pattern of an arm without guard, which is deleted.
    Arm,
    /// The guard of an arm: which becomes a constant, and the number with which the arm is gone.
    Guard(Option<usize>),
    /// The value of a field, which is taken from a base.
    Field {
        name: String,
        is_short: bool,
        base: Range<usize>,
    },
    /// The `const` of a function.
    Const,
}

fn range(of: &impl Spanned) -> Range<usize> {
    of.span().byte_range()
}

/// Looks for the places of mutants.
struct Finder<'a> {
    /// By genre and first byte; what has found its place is gone.
    wanted: HashMap<(&'a str, usize), Vec<Choice<'a>>>,
    /// Names of functions that stay `const`.
    constant: &'a BTreeSet<String>,
    /// What is visited now is worked out by the compiler.
    is_constant: bool,
    sites: Vec<Site<'a>>,
    unbuildable: Vec<usize>,
}

impl<'a> Finder<'a> {
    fn take(&mut self, genre: &'static str, at: usize) -> Vec<Choice<'a>> {
        match self.is_constant {
            true => Vec::new(),
            false => self.wanted.remove(&(genre, at)).unwrap_or_default(),
        }
    }

    fn add(&mut self, whole: Range<usize>, form: Form, choices: Vec<Choice<'a>>) {
        if !choices.is_empty() {
            self.sites.push(Site {
                whole,
                form,
                choices,
            });
        }
    }

    fn constantly(&mut self, is_constant: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_constant, is_constant);
        visit(self);
        self.is_constant = before;
    }

    fn function(
        &mut self,
        signature: &syn::Signature,
        body: &syn::Block,
        more: impl FnOnce(&mut Self),
    ) {
        let stays = self.constant.contains(&signature.ident.to_string());
        let is_const = signature.constness.is_some();
        self.constantly(is_const && stays, |finder| {
            let sites = finder.sites.len();
            if let Some(first) = body.stmts.first()
                && !hides_type(&signature.output)
            {
                let choices = finder.take("FnValue", range(first).start);
                let at = body.brace_token.span.open().byte_range().end;
                finder.add(at..at, Form::Body, choices);
            }
            more(finder);
            if let Some(keyword) = &signature.constness
                && finder.sites.len() > sites
            {
                finder.sites.push(Site {
                    whole: range(keyword),
                    form: Form::Const,
                    choices: Vec::new(),
                });
            }
        });
    }
}

/// Whether all that a function returns must be of one type that its signature does not name.
fn hides_type(output: &syn::ReturnType) -> bool {
    struct Hides(bool);
    impl Visit<'_> for Hides {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut hides = Hides(false);
    hides.visit_return_type(output);
    hides.0
}

/// Whether an operand of `&&` binds names, and so is no value of its own.
fn binds(operand: &Expr) -> bool {
    match operand {
        Expr::Let(_) => true,
        Expr::Binary(pair) if matches!(pair.op, BinOp::And(_)) => {
            binds(&pair.left) || binds(&pair.right)
        }
        _ => false,
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.constantly(true, |finder| visit::visit_item_const(finder, item));
    }

    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.constantly(true, |finder| visit::visit_item_static(finder, item));
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.constantly(true, |finder| visit::visit_impl_item_const(finder, item));
    }

    fn visit_trait_item_const(&mut self, item: &'a syn::TraitItemConst) {
        self.constantly(true, |finder| visit::visit_trait_item_const(finder, item));
    }

    fn visit_variant(&mut self, item: &'a syn::Variant) {
        self.constantly(true, |finder| visit::visit_variant(finder, item));
    }

    fn visit_type_array(&mut self, array: &'a syn::TypeArray) {
        self.constantly(true, |finder| visit::visit_type_array(finder, array));
    }

    fn visit_expr_const(&mut self, block: &'a syn::ExprConst) {
        self.constantly(true, |finder| visit::visit_expr_const(finder, block));
    }

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
        self.constantly(true, |finder| finder.visit_expr(&repeat.len));
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig, &item.block, |finder| {
            visit::visit_item_fn(finder, item)
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(&item.sig, &item.block, |finder| {
            visit::visit_impl_item_fn(finder, item)
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body, |finder| {
                visit::visit_trait_item_fn(finder, item)
            });
        }
    }

    fn visit_expr_binary(&mut self, pair: &'a syn::ExprBinary) {
        use BinOp::*;
        let choices = self.take("BinaryOperator", range(&pair.op).start);
        let operands = Pair {
            left: range(&pair.left),
            operator: range(&pair.op),
            right: range(&pair.right),
        };
        let form = match pair.op {
            And(_) | Or(_) if binds(&pair.left) || binds(&pair.right) => {
                self.unbuildable.extend(choices.iter().map(|of| of.number));
                return visit::visit_expr_binary(self, pair);
            }
            And(_) | Or(_) => Form::Lazy(operands),
            Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_) => Form::Comparison(operands),
            AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) | RemAssign(_)
            | BitXorAssign(_) | BitAndAssign(_) | BitOrAssign(_) | ShlAssign(_) | ShrAssign(_) => {
                Form::Assignment(operands)
            }
            _ => Form::Arithmetic(operands),
        };
        self.add(range(pair), form, choices);
        visit::visit_expr_binary(self, pair);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        if !matches!(unary.op, UnOp::Deref(_)) {
            let choices = self.take("UnaryOperator", range(&unary.op).start);
            let form = Form::Unary(range(&unary.op), range(&unary.expr));
            self.add(range(unary), form, choices);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        let deleted = self.take("MatchArm", range(arm).start);
        match &arm.guard {
            None => {
                let at = range(&arm.pat).end;
                self.add(at..at, Form::Arm, deleted);
            }
            Some((_, guard)) => {
                let mut choices = self.take("MatchArmGuard", range(guard).start);
                let gone = deleted.first().map(|of| of.number);
                choices.extend(deleted);
                self.add(range(guard), Form::Guard(gone), choices);
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, built: &'a syn::ExprStruct) {
        if let Some(base) = &built.rest {
            for field in &built.fields {
                let choices = self.take("StructField", range(field).start);
                let form = Form::Field {
                    name: member(&field.member),
                    is_short: field.colon_token.is_none(),
                    base: range(base),
                };
                self.add(range(&field.expr), form, choices);
            }
        }
        visit::visit_expr_struct(self, built);
    }
}

fn member(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(name) => name.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
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
