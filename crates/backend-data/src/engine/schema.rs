//! Schema: what a caller sees of it, and changes to it.

use std::sync::Arc;

use super::Engine;
use crate::{
    access::{Access, Scope},
    catalog::{Catalog, Column, NewColumn, NewTable, Table},
    error::{Error, Result},
    ident::ProjectRef,
    index::NewIndex,
    rule::{Action, Rule},
    sql,
    store::{SchemaChange, StoreError, TableScope},
};

/// How often a change is tried again when another one came first.
const MAX_ATTEMPTS: usize = 5;

/// What a change does beside the catalog.
#[derive(Default)]
struct SchemaEffect {
    statements: Vec<String>,
    only_if_empty: Option<String>,
    max_stored_bytes: Option<u64>,
}

impl Engine {
    /// The tables and columns the caller may use. Rules and counts are for the owner alone.
    ///
    /// # Errors
    /// When there is no such project.
    pub async fn schema(&self, project: &ProjectRef, access: &Access) -> Result<Vec<Table>> {
        let catalog = self.current_catalog(project).await?;
        Ok(catalog.tables.iter().filter_map(|table| visible_table(table, access)).collect())
    }

    /// Makes a table; `id` and `created_at` are added.
    ///
    /// # Errors
    /// When the names do not fit, the table exists, or the caller may not.
    pub async fn create_table(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: NewTable,
    ) -> Result<Table> {
        require_schema_write(access, &table.name)?;
        let name = table.name.clone();
        let created_at = self.clock.now().to_text();
        let catalog = self
            .change_schema(project, |catalog, scope| {
                let made = catalog.create_table(table.clone(), created_at.clone())?;
                Ok(SchemaEffect {
                    statements: sql::create_table(self.store.dialect(), scope, made),
                    ..SchemaEffect::default()
                })
            })
            .await?;
        catalog.get_table(&name).cloned()
    }

    /// Adds a column. One that is not nullable needs an empty table.
    ///
    /// # Errors
    /// When the name does not fit, the column exists, or the caller may not.
    pub async fn add_column(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        column: NewColumn,
    ) -> Result<Table> {
        require_schema_write(access, table)?;
        let catalog = self
            .change_schema(project, |catalog, scope| {
                let (table, column) = catalog.add_column(table, column.clone())?;
                Ok(SchemaEffect {
                    statements: sql::add_column(self.store.dialect(), scope, table, &column),
                    only_if_empty: (!column.nullable).then(|| table.name.clone()),
                    ..SchemaEffect::default()
                })
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Makes an index. Writers wait until it stands.
    ///
    /// # Errors
    /// When the columns do not fit, such an index exists, or the caller may not.
    pub async fn add_index(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        index: NewIndex,
    ) -> Result<Table> {
        require_schema_write(access, table)?;
        let catalog = self
            .change_schema(project, |catalog, scope| {
                let (table, index) = catalog.add_index(table, index.clone())?;
                Ok(SchemaEffect {
                    statements: vec![sql::create_index(scope, &table.name, &index)],
                    max_stored_bytes: self.limits.max_stored_bytes,
                    ..SchemaEffect::default()
                })
            })
            .await
            .map_err(
                |error| if error.code() == "value_exists" { Error::duplicate_values() } else { error },
            )?;
        catalog.get_table(table).cloned()
    }

    /// Drops an index.
    ///
    /// # Errors
    /// When there is no such index or the caller may not.
    pub async fn drop_index(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        name: &str,
    ) -> Result<Table> {
        require_schema_write(access, table)?;
        let catalog = self
            .change_schema(project, |catalog, scope| {
                let (table, index) = catalog.drop_index(table, name)?;
                Ok(SchemaEffect {
                    statements: vec![sql::drop_index(scope, &table.name, &index)],
                    ..SchemaEffect::default()
                })
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Drops a table and its rows.
    ///
    /// # Errors
    /// When there is no such table or the caller may not.
    pub async fn drop_table(&self, project: &ProjectRef, access: &Access, table: &str) -> Result<()> {
        require_schema_write(access, table)?;
        self.change_schema(project, |catalog, scope| {
            catalog.drop_table(table)?;
            Ok(SchemaEffect { statements: sql::drop_table(scope, table), ..SchemaEffect::default() })
        })
        .await
        .map(drop)
    }

    /// Replaces the rules of a table. Only the owner may.
    ///
    /// # Errors
    /// When a rule does not fit the table.
    pub async fn set_rules(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        rules: Vec<Rule>,
    ) -> Result<Table> {
        require_owner(access)?;
        let catalog = self
            .change_schema(project, |catalog, _| {
                catalog.set_rules(table, rules.clone())?;
                Ok(SchemaEffect::default())
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Makes a table readable by anyone, or private again. Only the owner may.
    ///
    /// # Errors
    /// When there is no such table.
    pub async fn set_public_read(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        public: bool,
    ) -> Result<Table> {
        require_owner(access)?;
        let catalog = self
            .change_schema(project, |catalog, _| {
                catalog.set_public_read(table, public)?;
                Ok(SchemaEffect::default())
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Makes tables readable by anyone, or private again: all of them at once, or none. Only the owner may.
    ///
    /// # Errors
    /// When one of the tables is not there.
    pub async fn set_public_reads(
        &self,
        project: &ProjectRef,
        access: &Access,
        tables: &[(String, bool)],
    ) -> Result<()> {
        require_owner(access)?;
        let change = self.change_schema(project, |catalog, _| {
            for (table, public) in tables {
                catalog.set_public_read(table, *public)?;
            }
            Ok(SchemaEffect::default())
        });
        change.await.map(drop)
    }

    async fn change_schema(
        &self,
        project: &ProjectRef,
        edit: impl Fn(&mut Catalog, &TableScope) -> Result<SchemaEffect>,
    ) -> Result<Arc<Catalog>> {
        let scope = self.store.table_scope(project);
        for _ in 0..MAX_ATTEMPTS {
            // Read afresh: a change must build on what is.
            let before = self.reload_catalog(project).await?;
            let mut catalog = Catalog::clone(&before);
            let SchemaEffect { statements, only_if_empty, max_stored_bytes: max_stored } =
                edit(&mut catalog, &scope)?;
            catalog.version = before.version + 1;
            let change = SchemaChange {
                from_version: before.version,
                catalog: catalog.clone(),
                statements,
                only_if_empty,
                max_stored_bytes: max_stored,
                outbox: Vec::new(),
            };
            let made = self.store.apply_schema_change(project, change).await;
            self.catalog_cache.invalidate(&project.id);
            match made {
                Ok(()) => return Ok(Arc::new(catalog)),
                Err(StoreError::Stale) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Stale.into())
    }
}

fn require_schema_write(access: &Access, table: &str) -> Result<()> {
    if !access.has_scope(Scope::SchemaWrite) {
        return Err(Error::forbidden("changing the schema needs the scope schema:write"));
    }
    if !access.covers_table(table) {
        return Err(Error::table_not_found(table));
    }
    Ok(())
}

fn require_owner(access: &Access) -> Result<()> {
    match access {
        Access::Owner => Ok(()),
        _ => Err(Error::forbidden("only the owner of the project may do this")),
    }
}

/// The table as the caller may know it, if at all.
fn visible_table(table: &Table, access: &Access) -> Option<Table> {
    match access {
        Access::Owner => Some(table.clone()),
        Access::Service { .. } => {
            access.covers_table(&table.name).then(|| Table { rules: Vec::new(), ..table.clone() })
        }
        Access::Visitor | Access::Person(_) => {
            let rules: Vec<&Rule> = table
                .rules
                .iter()
                .filter(|rule| {
                    [Action::Read, Action::Insert, Action::Update, Action::Delete]
                        .iter()
                        .any(|action| rule.applies_to(access, *action))
                })
                .collect();
            if !table.public_read && rules.is_empty() {
                return None;
            }
            let usable = |column: &&Column| {
                table.public_read || rules.iter().any(|rule| rule.covers_column(&column.name))
            };
            let columns = table.columns.iter().filter(usable).cloned().collect();
            // How the owner made it fast is nothing to them.
            Some(Table { columns, rules: Vec::new(), indexes: Vec::new(), ..table.clone() })
        }
    }
}
