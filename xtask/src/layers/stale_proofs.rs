//! Transactions after a wait that make no proof of their own.
//!
//! A function that asks an engine or another server may wait for seconds, in which the rights that were proven before may
//! end. So a transaction that begins afterwards makes its proof again, with `lock_app` or `lock_member`
//! (`crates/application/src/authorization/locked.rs`). A function that calls another that waits waits too, in whatever file, if only one
//! function of these crates has the other's name. Senders of bodies are waited for too; `request_bodies` is about them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context as _, Result};
use syn::{
    Expr, ExprCall, ExprMethodCall, ImplItemFn, Item, ItemFn,
    visit::{self, Visit},
};

use super::imports::{is_test_only, item_attributes};

/// Crates whose functions begin transactions on a caller's behalf.
pub(super) const CRATES: [&str; 3] = ["api", "application", "mcp"];

/// Accessors of ports that wait for code or for other servers.
const PORTS: [&str; 8] = [
    "app_server",
    "authorization_servers",
    "change_planner",
    "client_documents",
    "connection_tester",
    "draft_runner",
    "engine",
    "txt_resolver",
];

/// Calls that begin a transaction.
const TRANSACTIONS: [&str; 2] = ["transaction", "transaction_once"];

/// Calls that make a proof in a transaction.
const LOCKS: [&str; 2] = ["lock_app", "lock_member"];

/// Functions whose transaction after a wait needs no proof, each with the reason.
const FREE: [(&str, &str); 3] = [
    ("disconnect", "the token is revoked after the transaction that the proof was for"),
    ("test_connection", "what a test found is kept whoever asked; it changes nothing of the connection"),
    ("start_authorization", "an agent client asks, which has no right yet"),
];

/// The events of a function, in the order of its text.
enum Event {
    Call(String),
    /// A transaction, with what its unit calls.
    Transaction(String),
}

/// Checks the sources of the crates together, by the path of each file.
pub(super) fn check(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut functions: Vec<(&str, String, Vec<Event>)> = Vec::new();
    for (path, text) in files {
        // A file that does not parse is reported with its imports.
        if let Ok(file) = syn::parse_file(text) {
            let mut collector = Collector::default();
            collector.visit_file(&file);
            functions
                .extend(collector.functions.into_iter().map(|(name, events)| (path.as_str(), name, events)));
        }
    }
    let mut definitions: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, name, _) in &functions {
        *definitions.entry(name).or_default() += 1;
    }
    // Of a name that several functions have, it is not known which one a call means.
    let is_unique = |name: &str| definitions.get(name) == Some(&1) && !TRANSACTIONS.contains(&name);
    let mut waiting: BTreeSet<String> = PORTS.iter().map(|port| (*port).to_owned()).collect();
    loop {
        let calls_waiting = |events: &[Event]| {
            events.iter().any(|event| matches!(event, Event::Call(name) if waiting.contains(name)))
        };
        let found: Vec<String> = functions
            .iter()
            .filter(|(_, name, events)| !waiting.contains(name) && is_unique(name) && calls_waiting(events))
            .map(|(_, name, _)| name.clone())
            .collect();
        if found.is_empty() {
            break;
        }
        waiting.extend(found);
    }
    let mut broken = Vec::new();
    for (path, name, events) in &functions {
        let mut has_waited = false;
        for event in events {
            match event {
                Event::Call(call) => has_waited |= waiting.contains(call),
                Event::Transaction(unit) => {
                    let is_proven = LOCKS.iter().any(|lock| unit.contains(lock));
                    let is_free = FREE.iter().any(|(free, _)| free == name);
                    if has_waited && !is_proven && !is_free {
                        broken.push(format!(
                            "{path}: `{name}` waits, and then begins a transaction without a proof"
                        ));
                    }
                }
            }
        }
    }
    broken
}

/// Reads the sources of a crate.
pub(super) fn read(source: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    let entries = fs::read_dir(source).with_context(|| format!("cannot read {}", source.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = format!("{prefix}/{}", path.file_name().unwrap_or_default().display());
        if path.is_dir() {
            read(&path, &name, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.insert(name, text);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Collector {
    functions: Vec<(String, Vec<Event>)>,
    /// Functions around, the innermost last.
    open: Vec<Vec<Event>>,
}

impl Collector {
    fn function(&mut self, name: &syn::Ident, visit_body: impl FnOnce(&mut Self)) {
        self.open.push(Vec::new());
        visit_body(self);
        if let Some(events) = self.open.pop() {
            self.functions.push((name.to_string(), events));
        }
    }

    fn add(&mut self, event: Event) {
        if let Some(events) = self.open.last_mut() {
            events.push(event);
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test_only(item_attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig.ident, |collector| visit::visit_item_fn(collector, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig.ident, |collector| visit::visit_impl_item_fn(collector, item));
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        visit::visit_expr_call(self, call);
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            self.add(Event::Call(last.ident.to_string()));
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.visit_expr(&call.receiver);
        if TRANSACTIONS.iter().any(|name| call.method == name) {
            // The unit is a macro, whose parts are tokens.
            let units = call.args.iter().filter_map(|argument| match argument {
                Expr::Macro(unit) => Some(unit.mac.tokens.to_string()),
                _ => None,
            });
            self.add(Event::Transaction(units.collect()));
        }
        for argument in &call.args {
            self.visit_expr(argument);
        }
        self.add(Event::Call(call.method.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> Vec<String> {
        check(&BTreeMap::from([("a.rs".to_owned(), text.to_owned())]))
    }

    #[test]
    fn a_transaction_after_a_wait_makes_its_proof() {
        let helper = "async fn helper(app: &App) { app.engine().check().await; }";
        for (text, number) in [
            (
                "async fn f(app: &App) { app.engine().check().await; app.transaction(unit!(|tx| write(tx).await)).await }",
                1,
            ),
            (
                "async fn f(app: &App) { app.engine().check().await; app.transaction(unit!(|tx| { app.lock_app(tx).await?; write(tx).await })).await }",
                0,
            ),
            (
                "async fn f(app: &App) { app.transaction(unit!(|tx| write(tx).await)).await; app.engine().check().await }",
                0,
            ),
            (
                "async fn f(app: &App) { helper(app).await; app.transaction(unit!(|tx| write(tx).await)).await }",
                1,
            ),
            (
                "async fn f(app: &App) { app.other().await; app.transaction_once(unit!(|tx| write(tx).await)).await }",
                0,
            ),
            (
                "#[cfg(test)] mod tests { async fn f(app: &App) { app.engine(); app.transaction(unit!(|tx| w(tx))).await } }",
                0,
            ),
        ] {
            assert_eq!(broken(&format!("{helper} {text}")).len(), number, "{text}");
        }
    }
}
