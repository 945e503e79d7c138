//! Renaming and dropping columns.

use super::{Catalog, Table, rules};
use crate::{
    error::{Error, ErrorKind, Quoted, Result},
    ident,
    rule::{Condition, Rule},
};

impl Catalog {
    /// Renames a column, also in the rules and indexes that name it.
    pub(crate) fn rename_column(&mut self, table: &str, column: &str, name: &str) -> Result<&Table> {
        let table = self.get_table_mut(table)?;
        let at = table.own_column_position(column)?;
        ident::validate_column_name(name)?;
        if table.column(name).is_some() {
            return Err(Error::column_exists(name));
        }
        name.clone_into(&mut table.columns[at].name);
        for index in &mut table.indexes {
            rename_in(&mut index.columns, column, name);
        }
        for rule in &mut table.rules {
            rename_in_rule(rule, column, name);
        }
        // Their sentences name the column too.
        table.rules = rules::validate_rules(table, table.rules.clone())?;
        Ok(table)
    }

    /// Drops a column that no rule and no index names.
    pub(crate) fn drop_column(&mut self, table: &str, column: &str) -> Result<&Table> {
        let table = self.get_table_mut(table)?;
        let at = table.own_column_position(column)?;
        let rules = table.rules.iter().filter(|rule| names_column(rule, column));
        let indexes = table.indexes.iter().filter(|index| index.columns.iter().any(|name| name == column));
        let users: Vec<String> = rules
            .map(|rule| format!("the rule {}", Quoted(&rule.id)))
            .chain(indexes.map(|index| format!("the index {}", Quoted(&index.name))))
            .collect();
        if !users.is_empty() {
            let message = format!("column {} is named by {}", Quoted(column), users.join(", "));
            // A rule without the condition would allow more, and an index without the column would refuse other rows.
            return Err(Error::conflict("column_in_use", "2BP01", message)
                .with_hint("Change or delete these rules and indexes first."));
        }
        table.columns.remove(at);
        Ok(table)
    }
}

impl Table {
    /// Returns the position of a column that can be changed: one that not every table has.
    pub(crate) fn own_column_position(&self, name: &str) -> Result<usize> {
        let found = self.columns.iter().enumerate().find(|(_, column)| column.name == name);
        let Some((at, column)) = found else {
            let message = format!("table {} has no column {}", Quoted(&self.name), Quoted(name));
            return Err(Error::new(ErrorKind::NotFound, "column_not_found", "42703", message));
        };
        if column.system {
            let message = format!("every table has the column {}, which stays as it is", Quoted(name));
            return Err(Error::conflict("system_column", "42939", message));
        }
        Ok(at)
    }
}

fn names_column(rule: &Rule, column: &str) -> bool {
    let in_list = rule.columns.iter().flatten().any(|name| name == column);
    in_list || condition_names_column(&rule.condition, column)
}

fn condition_names_column(condition: &Condition, name: &str) -> bool {
    match condition {
        Condition::All => false,
        Condition::Cmp { column, .. } | Condition::In { column, .. } | Condition::Null { column, .. } => {
            column == name
        }
        Condition::And { of } | Condition::Or { of } => {
            of.iter().any(|condition| condition_names_column(condition, name))
        }
    }
}

fn rename_in(names: &mut [String], from: &str, to: &str) {
    for name in names.iter_mut().filter(|name| *name == from) {
        to.clone_into(name);
    }
}

fn rename_in_rule(rule: &mut Rule, from: &str, to: &str) {
    rename_in(rule.columns.as_deref_mut().unwrap_or_default(), from, to);
    rename_in_condition(&mut rule.condition, from, to);
}

fn rename_in_condition(condition: &mut Condition, from: &str, to: &str) {
    match condition {
        Condition::All => {}
        Condition::Cmp { column, .. } | Condition::In { column, .. } | Condition::Null { column, .. } => {
            rename_in(std::slice::from_mut(column), from, to);
        }
        Condition::And { of } | Condition::Or { of } => {
            of.iter_mut().for_each(|condition| rename_in_condition(condition, from, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let text = r#"{"tables":[{"name":"notes","publicRead":false,"rowCount":null,"createdAt":"","columns":[
            {"name":"id","type":"text","nullable":false,"system":true},
            {"name":"owner","type":"text","nullable":true,"system":false},
            {"name":"qty","type":"integer","nullable":true,"system":false},
            {"name":"title","type":"text","nullable":true,"system":false},
            {"name":"free","type":"text","nullable":true,"system":false}],
            "indexes":[{"name":"ix1","columns":["qty","owner"]}],
            "rules":[{"id":"own","audience":{"kind":"signed_in"},"actions":["read","update"],"columns":["title","owner"],
            "where":{"t":"or","of":[{"t":"cmp","column":"owner","op":"eq","value":{"k":"me"}},
            {"t":"and","of":[{"t":"in","column":"qty","values":[1]},{"t":"null","column":"title","isNull":true}]}]}}]}]}"#;
        Catalog::from_json(1, text).unwrap()
    }

    #[test]
    fn rules_and_indexes_follow_a_renamed_column() {
        let mut catalog = catalog();
        for (from, to) in [("owner", "author"), ("qty", "amount"), ("title", "name")] {
            catalog.rename_column("notes", from, to).unwrap();
        }
        let table = catalog.table("notes").unwrap();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["id", "author", "amount", "name", "free"]);
        assert_eq!(table.indexes[0].columns, ["amount", "author"]);
        assert_eq!(
            table.rules[0].sentence,
            "Signed-in people may read and update name, author of rows where author is the signed-in person, or amount is one of 1 and name is empty."
        );
        let body = catalog.to_json().unwrap();
        for gone in ["\"owner\"", "\"qty\"", "\"title\""] {
            assert!(!body.contains(gone), "{body}");
        }
    }

    #[test]
    fn a_column_that_is_named_elsewhere_is_not_dropped() {
        for (column, users) in [
            ("owner", r#"the rule "own", the index "ix1""#),
            ("qty", r#"the rule "own", the index "ix1""#),
            ("title", r#"the rule "own""#),
        ] {
            let mut catalog = catalog();
            let refused = catalog.drop_column("notes", column).unwrap_err();
            assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, "column_in_use"));
            assert_eq!(refused.message(), format!(r#"column "{column}" is named by {users}"#));
            assert_eq!(catalog, self::catalog());
        }
        let mut catalog = catalog();
        assert!(catalog.drop_column("notes", "free").unwrap().column("free").is_none());
    }

    #[test]
    fn system_columns_and_unknown_ones_are_refused() {
        let mut catalog = catalog();
        let code = |refused: Result<&Table>| refused.map(|_| "changed").map_err(|error| error.code());
        assert_eq!(code(catalog.drop_column("notes", "id")), Err("system_column"));
        assert_eq!(code(catalog.rename_column("notes", "id", "key")), Err("system_column"));
        assert_eq!(code(catalog.drop_column("notes", "nope")), Err("column_not_found"));
        assert_eq!(code(catalog.rename_column("notes", "nope", "key")), Err("column_not_found"));
        assert_eq!(code(catalog.rename_column("nope", "qty", "key")), Err("table_not_found"));
        assert_eq!(code(catalog.rename_column("notes", "qty", "free")), Err("column_exists"));
        for reserved in ["id", "created_at", "select", "Qty"] {
            assert_eq!(code(catalog.rename_column("notes", "qty", reserved)), Err("invalid_request"));
        }
        assert_eq!(catalog, self::catalog());
    }
}
