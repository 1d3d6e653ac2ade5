// SPDX-License-Identifier: MIT OR Apache-2.0
//! Circles of files: sets of files each of which needs, by way of the others, all of them.
//!
//! Who wants to understand one of them has to read all. A file needs another if it names something
//! of it: in a `use`, or in a path. What a module passes on (`pub use`) is needed where it is
//! defined. Tests do not count.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// Path of a module from the crate's root on, which is the empty one.
type Module = Vec<String>;

/// The circles of more than `max` files in the sources below `src`, each sorted; none where a file
/// cannot be read as Rust, which is the compiler's to say.
pub fn larger_than(max: usize, src: &Path, files: &[String]) -> Vec<Vec<String>> {
    let mut modules: BTreeMap<Module, Uses> = BTreeMap::new();
    let mut names: BTreeMap<Module, &str> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(src.join(file)).unwrap_or_default();
        let Ok(tree) = syn::parse_file(&text) else {
            continue;
        };
        let mut uses = Uses::default();
        uses.visit_file(&tree);
        let module = module_of(file);
        names.insert(module.clone(), file);
        modules.insert(module, uses);
    }
    let mut graph: DiGraphMap<&str, ()> = DiGraphMap::new();
    for (module, uses) in &modules {
        for path in uses.needed.iter().chain(uses.passed_on.values()) {
            if let Some(found) = resolve(&modules, module, path, 0)
                && found != *module
            {
                graph.add_edge(names[module], names[&found], ());
            }
        }
    }
    let mut circles: Vec<Vec<String>> = tarjan_scc(&graph)
        .into_iter()
        .filter(|circle| circle.len() > max)
        .map(|circle| {
            let mut circle: Vec<String> = circle.into_iter().map(str::to_owned).collect();
            circle.sort();
            circle
        })
        .collect();
    circles.sort();
    circles
}

/// `verify/links.rs` is `verify::links`, `verify/mod.rs` is `verify`, `lib.rs` the root.
fn module_of(file: &str) -> Module {
    let mut module: Module = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if module.len() == 1 && matches!(module[0].as_str(), "lib" | "main") {
        module.clear();
    }
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// The module in which what `path` names is defined, seen from `at`; none outside the crate.
fn resolve(
    modules: &BTreeMap<Module, Uses>,
    at: &Module,
    path: &[String],
    depth: u32,
) -> Option<Module> {
    const DEPTH_MAX: u32 = 8; // a name that is passed on in a circle
    let child = |module: &Module, name: &String| {
        let mut child = module.clone();
        child.push(name.clone());
        modules.contains_key(&child).then_some(child)
    };
    let (first, mut rest) = path.split_first()?;
    let mut module = match first.as_str() {
        "crate" => Module::new(),
        "self" => at.clone(),
        "super" => at[..at.len().checked_sub(1)?].to_vec(),
        _ => child(at, first)?,
    };
    while let Some((name, after)) = rest.split_first() {
        if name == "super" {
            module.pop();
        } else if let Some(child) = child(&module, name) {
            module = child;
        } else {
            let passed_on = modules.get(&module)?.passed_on.get(name);
            let defined = passed_on
                .filter(|_| depth < DEPTH_MAX)
                .and_then(|path| resolve(modules, &module, path, depth + 1));
            return Some(defined.unwrap_or(module));
        }
        rest = after;
    }
    Some(module)
}

/// What the code of a file names.
#[derive(Default)]
struct Uses {
    needed: Vec<Vec<String>>,
    /// By the name under which they are passed on.
    passed_on: BTreeMap<String, Vec<String>>,
}

impl Uses {
    fn add(&mut self, prefix: &[String], tree: &UseTree, is_passed_on: bool) {
        let with = |name: String| [prefix, &[name]].concat();
        match tree {
            UseTree::Path(path) => {
                self.add(&with(path.ident.to_string()), &path.tree, is_passed_on)
            }
            UseTree::Group(group) => {
                let trees = group.items.iter();
                trees.for_each(|tree| self.add(prefix, tree, is_passed_on));
            }
            UseTree::Name(name) if name.ident == "self" => self.needed.push(prefix.to_vec()),
            UseTree::Name(name) if is_passed_on => {
                let name = name.ident.to_string();
                self.passed_on.insert(name.clone(), with(name));
            }
            UseTree::Rename(rename) if is_passed_on => {
                let path = with(rename.ident.to_string());
                self.passed_on.insert(rename.rename.to_string(), path);
            }
            UseTree::Name(name) => self.needed.push(with(name.ident.to_string())),
            UseTree::Rename(rename) => self.needed.push(with(rename.ident.to_string())),
            UseTree::Glob(_) => self.needed.push(prefix.to_vec()),
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
    };
    attributes.iter().any(is_test)
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Mod(ItemMod { attrs, .. }) = item
            && is_test(attrs)
        {
            return;
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_passed_on = !matches!(item.vis, Visibility::Inherited);
        self.add(&[], &item.tree, is_passed_on);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let names = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string());
            self.needed.push(names.collect());
        }
        syn::visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut names = Vec::new();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a file")).expect("writable");
            fs::write(path, text).expect("writable");
            names.push((*name).to_owned());
        }
        larger_than(1, folder.path(), &names)
    }

    #[test]
    fn files_that_need_each_other_are_found_and_tests_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use b::B;"),
            ("a.rs", "use crate::B; pub struct A(B);"),
            (
                "b.rs",
                "pub struct B; fn f() -> Option<super::c::C> { None }",
            ),
            (
                "c.rs",
                "pub struct C; #[cfg(test)] mod tests { use crate::a::A; }",
            ),
        ];
        assert_eq!(circles(&files), [[""; 0]; 0]);
        let mut closed = files;
        closed[3].1 = "pub struct C(crate::A);";
        assert_eq!(circles(&closed), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn a_folder_is_its_mod_file() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; use b::B; pub struct A(B);"),
            ("a/b.rs", "pub struct B(Box<super::A>);"),
        ];
        assert_eq!(circles(&files), [["a/b.rs", "a/mod.rs"]]);
    }
}
