//! Descriptions of the tables that a caller may use: an OpenAPI document and TypeScript types.

mod openapi;
mod typescript;

use crate::{
    access::Access,
    catalog::{Catalog, Column, Table},
    engine::Engine,
    error::Result,
    ident::ProjectRef,
    rule::{Action, Rule},
};

/// The tables that a caller may use, with the columns and operations that it may use of each.
///
/// ```
/// use backend_data::{Access, Catalog, ExposedSchema};
///
/// let tables = r#"{"tables":[{"name":"notes","publicRead":true,"rules":[],"rowCount":null,"createdAt":"","columns":[
///     {"name":"id","type":"text","nullable":false,"system":true},
///     {"name":"stars","type":"integer","nullable":true,"system":false}]}]}"#;
/// let schema = ExposedSchema::for_caller(&Catalog::from_json(1, tables)?, &Access::Visitor);
/// assert!(schema.typescript().contains("stars: number | null"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExposedSchema {
    tables: Vec<ExposedTable>,
}

#[derive(Clone, Debug, PartialEq)]
struct ExposedTable {
    name: String,
    /// The columns that the caller may read; `None` if it may read no row.
    read: Option<Vec<ReadableColumn>>,
    /// The columns that it may insert; `None` if it may insert no row.
    insert: Option<Vec<Column>>,
    /// The columns that it may update; `None` if it may update no row.
    update: Option<Vec<Column>>,
    delete: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct ReadableColumn {
    column: Column,
    /// True if it may be null in a row that is shown, also because only some rows show it.
    nullable: bool,
}

impl ExposedSchema {
    /// Returns the part of a catalog that a caller may use.
    #[must_use]
    pub fn for_caller(catalog: &Catalog, access: &Access) -> Self {
        let tables = catalog.tables.iter().map(|table| exposed_table(table, access));
        Self { tables: tables.filter(ExposedTable::has_any_access).collect() }
    }
}

impl ExposedTable {
    fn has_any_access(&self) -> bool {
        self.read.is_some() || self.insert.is_some() || self.update.is_some() || self.delete
    }

    /// Returns the columns that the result of a write shows: those that the caller may read, or the id alone.
    fn returned_columns(&self) -> Vec<ReadableColumn> {
        let id = Column {
            name: "id".into(),
            kind: crate::catalog::ColumnType::Text,
            nullable: false,
            system: true,
            default: None,
        };
        self.read.clone().unwrap_or_else(|| vec![ReadableColumn { column: id, nullable: false }])
    }
}

impl Engine {
    /// Returns the part of a project's current schema that the caller may use.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such project.
    pub async fn exposed_schema(&self, project: &ProjectRef, access: &Access) -> Result<ExposedSchema> {
        Ok(ExposedSchema::for_caller(&*self.current_catalog(project).await?, access))
    }
}

fn exposed_table(table: &Table, access: &Access) -> ExposedTable {
    let rules = |action| -> Vec<&Rule> {
        table.rules.iter().filter(|rule| rule.applies_to(access, action)).collect()
    };
    let everything = |action: Action| match access {
        Access::Owner => true,
        Access::Service { .. } => {
            access.has_scope(action.required_scope()) && access.covers_table(&table.name)
        }
        Access::Visitor | Access::Person(_) => action == Action::Read && table.public_read,
    };
    let covered = |action| -> Option<Vec<Column>> {
        let rules = rules(action);
        if everything(action) {
            return Some(table.columns.clone());
        }
        let covers = |column: &&Column| rules.iter().any(|rule| rule.covers_column(&column.name));
        (!rules.is_empty()).then(|| table.columns.iter().filter(covers).cloned().collect())
    };
    let read = covered(Action::Read).map(|columns| {
        let rules = if everything(Action::Read) { Vec::new() } else { rules(Action::Read) };
        let shown = |column: Column| {
            let always = rules.iter().all(|rule| rule.covers_column(&column.name));
            ReadableColumn { nullable: column.nullable || !always, column }
        };
        columns.into_iter().map(shown).collect()
    });
    let written = |action, id: bool| {
        covered(action).map(|mut columns| {
            columns.retain(|column| column.name != "created_at" && (id || column.name != "id"));
            columns
        })
    };
    ExposedTable {
        name: table.name.clone(),
        read,
        insert: written(Action::Insert, true),
        update: written(Action::Update, false),
        delete: everything(Action::Delete) || !rules(Action::Delete).is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Person, Scope};

    pub(super) fn catalog() -> Catalog {
        let column = |name: &str, kind: &str, nullable: bool| {
            format!(r#"{{"name":"{name}","type":"{kind}","nullable":{nullable},"system":false}}"#)
        };
        let columns = [
            column("id", "text", false),
            column("created_at", "timestamp", false),
            column("title", "text", false),
            column("stars", "integer", true),
            column("meta", "json", true),
            column("secret", "text", true),
        ]
        .join(",");
        let rule = |id: &str, who: &str, actions: &str, columns: &str| {
            format!(
                r#"{{"id":"{id}","audience":{{"kind":"{who}"}},"actions":{actions},"where":{{"t":"null","column":"stars","isNull":false}},"columns":{columns}}}"#
            )
        };
        let rules = [
            rule("see", "anyone", r#"["read"]"#, r#"["id","title"]"#),
            rule("more", "anyone", r#"["read"]"#, r#"["id","title","stars","meta"]"#),
            rule("add", "signed_in", r#"["insert"]"#, r#"["title","stars"]"#),
            rule("drop", "signed_in", r#"["delete"]"#, "null"),
        ]
        .join(",");
        let hidden = format!(
            r#"{{"name":"hidden","publicRead":false,"rules":[],"rowCount":null,"createdAt":"","columns":[{columns}]}}"#
        );
        let notes = format!(
            r#"{{"name":"notes","publicRead":false,"rules":[{rules}],"rowCount":null,"createdAt":"","columns":[{columns}]}}"#
        );
        Catalog::from_json(1, &format!(r#"{{"tables":[{notes},{hidden}]}}"#)).unwrap()
    }

    fn names(columns: &[Column]) -> Vec<&str> {
        columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn a_caller_gets_the_tables_and_columns_it_may_use() {
        let catalog = catalog();
        let of = |access: &Access| ExposedSchema::for_caller(&catalog, access).tables;
        let visitor = of(&Access::Visitor);
        assert_eq!(visitor.len(), 1, "a hidden table is not exposed");
        let read = visitor[0].read.as_ref().unwrap();
        let read: Vec<_> = read.iter().map(|shown| (shown.column.name.as_str(), shown.nullable)).collect();
        // A column that only some rows show may be null.
        assert_eq!(read, [("id", false), ("title", false), ("stars", true), ("meta", true)]);
        assert!(visitor[0].insert.is_none() && visitor[0].update.is_none() && !visitor[0].delete);
        let person = of(&Access::Person(Person::default()));
        assert_eq!(names(person[0].insert.as_ref().unwrap()), ["title", "stars"]);
        assert!(person[0].delete && person[0].update.is_none());
        let reader = of(&Access::service([Scope::RowsRead]));
        assert_eq!(reader.len(), 2);
        assert!(reader[0].read.is_some() && reader[0].insert.is_none() && !reader[0].delete);
        let tables = Some(vec!["hidden".to_owned()]);
        let narrow = of(&Access::Service { scopes: vec![Scope::RowsWrite], tables });
        assert_eq!(narrow.len(), 1);
        assert_eq!(narrow[0].name, "hidden");
        assert_eq!(names(narrow[0].update.as_ref().unwrap()), ["title", "stars", "meta", "secret"]);
    }
}
