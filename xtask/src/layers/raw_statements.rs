//! Statements written as text of SQL, in a crate whose other statements are built from typed columns.
//!
//! Text is checked by no compiler: a column that is renamed breaks it at run time. So it stands only where the builder
//! cannot be used, and each other place is listed with its number.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use syn::{
    Expr, ExprCall, ExprMethodCall, Item, ItemMod, LitStr, Macro,
    visit::{self, Visit},
};

use super::imports::{is_test_only, item_attributes};

/// Statements that may stand outside of the free files of a crate; at most.
const MAX_LISTED: usize = 15;

/// Files of a crate that may have text of SQL.
pub(super) struct RawStatements {
    pub(super) crate_name: &'static str,
    /// Files and folders of `src` where it may stand freely.
    free: &'static [&'static str],
    /// Other files of `src`, each with the number of its statements.
    listed: &'static [(&'static str, usize)],
}

/// The crates in which text of SQL is counted.
pub(super) const RAW_STATEMENTS: [RawStatements; 1] = [RawStatements {
    crate_name: "adapter-store",
    // The group commit's connection to SQLite is not one of sea-orm's, and the queue shares statements with it.
    free: &["group_commit/", "queue_sql.rs", "sql.rs", "sql/"],
    listed: &[
        // The database's own clock.
        ("caller_cache/changes.rs", 1),
        // The lock of the migrations and the look for a pooler, on connections below sea-orm.
        ("connect.rs", 3),
        ("events/notifier.rs", 1),
        // Also written by the group commit.
        ("events/write.rs", 1),
        ("observability/notification_rows.rs", 1),
        // Search in messages, which differs between the databases.
        ("observability/logs.rs", 2),
    ],
}];

/// What a statement begins with.
const FIRST_WORDS: [&str; 22] = [
    "ALTER",
    "ANALYZE",
    "BEGIN",
    "COMMIT",
    "CREATE",
    "DELETE",
    "DROP",
    "EXPLAIN",
    "INSERT",
    "LISTEN",
    "LOCK",
    "NOTIFY",
    "PRAGMA",
    "REINDEX",
    "ROLLBACK",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "TRUNCATE",
    "UPDATE",
    "VACUUM",
    "WITH",
];

/// Functions that take text of SQL, each with the type or module before it.
const FUNCTIONS: [(&str, &str); 10] = [
    ("Expr", "cust"),
    ("Expr", "cust_with_expr"),
    ("Expr", "cust_with_exprs"),
    ("Expr", "cust_with_values"),
    ("Sql", "new"),
    ("Statement", "from_sql_and_values"),
    ("Statement", "from_string"),
    ("sqlx", "query"),
    ("sqlx", "query_as"),
    ("sqlx", "raw_sql"),
];

/// Methods that take text of SQL.
const METHODS: [&str; 4] = ["execute_batch", "execute_unprepared", "prepare", "prepare_cached"];

impl RawStatements {
    /// Checks a crate's folder `src`.
    pub(super) fn check(&self, source: &Path) -> Result<Vec<String>> {
        let mut files = BTreeMap::new();
        read_folder(source, source, &mut files)?;
        Ok(self.compare(&count(&files)))
    }

    /// Files whose number is not the one that is listed.
    fn compare(&self, found: &BTreeMap<String, usize>) -> Vec<String> {
        let is_free = |file: &str| {
            self.free.iter().any(|free| file == *free || (free.ends_with('/') && file.starts_with(free)))
        };
        let found: BTreeMap<&str, usize> = found
            .iter()
            .filter(|(file, number)| **number > 0 && !is_free(file))
            .map(|(file, number)| (file.as_str(), *number))
            .collect();
        let listed: BTreeMap<&str, usize> = self.listed.iter().copied().collect();
        let files: BTreeSet<&str> = found.keys().chain(listed.keys()).copied().collect();
        let number = |of: &BTreeMap<&str, usize>, file| of.get(file).copied().unwrap_or(0);
        let mut broken: Vec<String> = files
            .into_iter()
            .map(|file| (file, number(&found, file), number(&listed, file)))
            .filter(|(_, found, listed)| found != listed)
            .map(|(file, found, listed)| format!("{file}: raw statements: {found} found, {listed} listed"))
            .collect();
        if listed.values().sum::<usize>() > MAX_LISTED {
            broken.push(format!("more than {MAX_LISTED} raw statements are listed"));
        }
        broken
    }
}

/// Reads the source files below `folder`, by their path in `source`.
fn read_folder(source: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            read_folder(source, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.insert(path.strip_prefix(source)?.to_owned(), text);
        }
    }
    Ok(())
}

/// The number of statements of each file that is not a test's.
fn count(files: &BTreeMap<PathBuf, String>) -> BTreeMap<String, usize> {
    let mut counters = BTreeMap::new();
    for (path, text) in files {
        let mut counter = Counter::default();
        // A file that does not parse is reported with its imports.
        if let Ok(file) = syn::parse_file(text) {
            counter.visit_file(&file);
        }
        counters.insert(path.as_path(), counter);
    }
    let test_modules: Vec<PathBuf> = counters
        .iter()
        .flat_map(|(path, counter)| counter.test_modules.iter().map(|name| module_folder(path).join(name)))
        .collect();
    let is_test = |path: &Path| {
        test_modules.iter().any(|module| path.starts_with(module) || path == module.with_extension("rs"))
    };
    counters
        .into_iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, counter)| (path.display().to_string(), counter.statements))
        .collect()
}

/// The folder of a file's child modules.
fn module_folder(path: &Path) -> PathBuf {
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") | None => path.parent().unwrap_or(Path::new("")).to_owned(),
        Some(_) => path.with_extension(""),
    }
}

#[derive(Default)]
struct Counter {
    statements: usize,
    /// Modules in files of their own that exist only in tests.
    test_modules: Vec<String>,
    /// Calls around that were counted already.
    counted_calls: usize,
}

impl Counter {
    fn count_call(&mut self, visit_parts: impl FnOnce(&mut Self)) {
        self.statements += usize::from(self.counted_calls == 0);
        self.counted_calls += 1;
        visit_parts(self);
        self.counted_calls -= 1;
    }
}

impl<'ast> Visit<'ast> for Counter {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test_only(item_attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_mod(self, item);
        } else if item.content.is_none() {
            self.test_modules.push(item.ident.to_string());
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {
        // Comments and reasons of lints may quote SQL.
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if takes_sql(&call.func) {
            self.count_call(|counter| visit::visit_expr_call(counter, call));
        } else {
            visit::visit_expr_call(self, call);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if METHODS.iter().any(|method| call.method == method) {
            self.count_call(|counter| visit::visit_expr_method_call(counter, call));
        } else {
            visit::visit_expr_method_call(self, call);
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.statements += usize::from(self.counted_calls == 0 && is_statement(&literal.value()));
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        let tokens = invocation.tokens.to_string();
        let statements = tokens.split('"').skip(1).step_by(2).filter(|text| is_statement(text)).count();
        self.statements += if self.counted_calls == 0 { statements } else { 0 };
    }
}

fn takes_sql(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let [.., before, name] = segments.as_slice() else { return false };
    FUNCTIONS.iter().any(|function| *function == (before, name))
}

fn is_statement(text: &str) -> bool {
    let text = text.trim_start();
    FIRST_WORDS.iter().any(|word| text.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> usize {
        let files = BTreeMap::from([(PathBuf::from("a.rs"), text.to_owned())]);
        count(&files)["a.rs"]
    }

    #[test]
    fn text_of_sql_is_counted_wherever_it_stands() {
        for (text, number) in [
            (r#"fn f() { Sql::new("SELECT 1").push(" WHERE x") }"#, 1),
            (r#"fn f() { let text = "UPDATE t SET a = 1"; run(text) }"#, 1),
            (r#"fn f() { format!("DELETE FROM {table}") }"#, 1),
            (r#"fn f(text: &str) { Statement::from_string(backend, text) }"#, 1),
            (r#"fn f() { db.execute_unprepared(&format!("DROP TABLE {x}")); sqlx::query("SELECT 2") }"#, 2),
            (r#"const ALL: [&str; 2] = ["PRAGMA a", "PRAGMA b"];"#, 2),
            (r#"fn f() { sea_orm::sea_query::Expr::cust("now()") }"#, 1),
        ] {
            assert_eq!(counted(text), number, "{text}");
        }
    }

    #[test]
    fn other_text_and_tests_are_not_counted() {
        for text in [
            r#"fn f() { log("SELECTED by nobody"); Entity::find().one(db) }"#,
            r#"/// SELECT 1 is what it sends.
               #[expect(lint, reason = "SELECT 1")] fn f() {}"#,
            r#"#[cfg(test)] mod tests { fn f() { Sql::new("SELECT 1") } }"#,
            r#"fn f() { Func::cust("substr"); Column::new("SELECT") }"#,
        ] {
            assert_eq!(counted(text), 0, "{text}");
        }
    }

    #[test]
    fn files_of_tests_are_left_out() {
        let text = r#"const A: &str = "SELECT 1";"#.to_owned();
        let files = BTreeMap::from([
            (PathBuf::from("lib.rs"), "mod a; #[cfg(test)] mod plans;".to_owned()),
            (PathBuf::from("a.rs"), "#[cfg(test)] mod fixtures;".to_owned()),
            (PathBuf::from("a/fixtures.rs"), text.clone()),
            (PathBuf::from("plans.rs"), text.clone()),
            (PathBuf::from("plans/all.rs"), text),
        ]);
        assert_eq!(count(&files).keys().map(String::as_str).collect::<Vec<_>>(), ["a.rs", "lib.rs"]);
    }

    #[test]
    fn a_number_that_is_not_the_listed_one_is_named() {
        let rule = RawStatements {
            crate_name: "adapter-store",
            free: &["queue/", "sql.rs"],
            listed: &[("gone.rs", 1), ("more.rs", 1), ("same.rs", 2)],
        };
        let found = [
            ("queue/claim.rs", 9),
            ("sql.rs", 9),
            ("more.rs", 2),
            ("new.rs", 1),
            ("same.rs", 2),
            ("none.rs", 0),
        ];
        let found = found.map(|(file, number)| (file.to_owned(), number)).into();
        assert_eq!(
            rule.compare(&found),
            [
                "gone.rs: raw statements: 0 found, 1 listed",
                "more.rs: raw statements: 2 found, 1 listed",
                "new.rs: raw statements: 1 found, 0 listed",
            ]
        );
        let rule = RawStatements { listed: &[("many.rs", MAX_LISTED + 1)], ..rule };
        assert_eq!(
            rule.compare(&BTreeMap::from([("many.rs".to_owned(), MAX_LISTED + 1)])),
            ["more than 15 raw statements are listed"]
        );
    }
}
