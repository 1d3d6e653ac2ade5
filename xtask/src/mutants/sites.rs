// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where in a file its mutants are: the places that are written differently, and how.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, UnOp};

/// One mutant of a site.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    pub number: usize,
    pub text: &'a str,
}

/// A place in the source that is written differently.
pub struct Site<'a> {
    pub whole: Range<usize>,
    pub form: Form,
    pub choices: Vec<Choice<'a>>,
}

/// Two operands and what stands between them.
pub struct Pair {
    pub left: Range<usize>,
    pub operator: Range<usize>,
    pub right: Range<usize>,
}

pub enum Form {
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
    /// A `match` of which the compiler says that arms are missing.
    Match,
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
pub struct Finder<'a> {
    /// By genre and first byte; what has found its place is gone.
    pub wanted: HashMap<(&'a str, usize), Vec<Choice<'a>>>,
    /// Names of functions that stay `const`.
    constant: &'a BTreeSet<String>,
    /// What is visited now is worked out by the compiler.
    is_constant: bool,
    pub sites: Vec<Site<'a>>,
    pub unbuildable: Vec<usize>,
}

impl<'a> Finder<'a> {
    pub fn new(
        wanted: HashMap<(&'a str, usize), Vec<Choice<'a>>>,
        constant: &'a BTreeSet<String>,
    ) -> Self {
        Self {
            wanted,
            constant,
            is_constant: false,
            sites: Vec::new(),
            unbuildable: Vec::new(),
        }
    }

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

    fn visit_expr_match(&mut self, chosen: &'a syn::ExprMatch) {
        let arms = chosen.arms.iter();
        let deleted = arms.filter_map(|arm| self.wanted.get(&("MatchArm", range(arm).start)));
        let deleted = deleted.flatten().copied().collect();
        self.add(range(chosen), Form::Match, deleted);
        visit::visit_expr_match(self, chosen);
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
