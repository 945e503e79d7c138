//! The schema of a project: the part of it that a caller sees, and changes to it.

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

/// Number of attempts of a change that other changes overtake.
const MAX_ATTEMPTS: usize = 5;

/// The part of a schema change that is not in the catalog.
#[derive(Default)]
struct SchemaEffect {
    statements: Vec<String>,
    only_if_empty: Option<String>,
    max_stored_bytes: Option<u64>,
}

impl Engine {
    /// Returns the tables and columns that the caller may use. Only the owner sees rules; visitors and signed-in people
    /// do not see indexes either.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such project.
    pub async fn schema(&self, project: &ProjectRef, access: &Access) -> Result<Vec<Table>> {
        let catalog = self.current_catalog(project).await?;
        Ok(catalog.tables.iter().filter_map(|table| visible_table(table, access)).collect())
    }

    /// Creates a table, to which `id` and `created_at` are added. Needs [`Scope::SchemaWrite`].
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if a name or a default does not fit, `table_exists`,
    /// `too_many_tables`, and [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) without the scope.
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
                let created = catalog.create_table(table.clone(), created_at.clone())?;
                Ok(SchemaEffect {
                    statements: sql::create_table(self.store.dialect(), scope, created),
                    ..SchemaEffect::default()
                })
            })
            .await?;
        catalog.get_table(&name).cloned()
    }

    /// Adds a column to a table. Existing rows have null in it, so a column that is not nullable needs an empty table.
    /// Needs [`Scope::SchemaWrite`].
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the name or the default does not fit, `column_exists`,
    /// `too_many_columns`, `column_needs_value`, and [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) without the
    /// scope.
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
                self.check_table(catalog, table)?;
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

    /// Renames a column, also in the rules and indexes that name it; its own name changes nothing. Needs [`Scope::SchemaWrite`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such table or column,
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the new name does not fit, `column_exists`, `system_column`
    /// for `id` and `created_at`, and [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) without the scope.
    pub async fn rename_column(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        column: &str,
        name: &str,
    ) -> Result<Table> {
        require_schema_write(access, table)?;
        if column == name {
            let catalog = self.current_catalog(project).await?;
            self.check_table(&catalog, table)?;
            let table = catalog.get_table(table)?;
            table.own_column_position(column)?;
            return Ok(table.clone());
        }
        let catalog = self
            .change_schema(project, |catalog, scope| {
                self.check_table(catalog, table)?;
                catalog.rename_column(table, column, name)?;
                let statements = sql::rename_column(scope, table, column, name);
                Ok(SchemaEffect { statements, ..SchemaEffect::default() })
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Drops a column with its values. Needs [`Scope::SchemaWrite`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such table or column, `column_in_use` if rules
    /// or indexes name it, `system_column` for `id` and `created_at`, and
    /// [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) without the scope.
    pub async fn drop_column(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        column: &str,
    ) -> Result<Table> {
        require_schema_write(access, table)?;
        let catalog = self
            .change_schema(project, |catalog, scope| {
                self.check_table(catalog, table)?;
                catalog.drop_column(table, column)?;
                let statements = sql::drop_column(scope, table, column);
                Ok(SchemaEffect { statements, ..SchemaEffect::default() })
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Creates an index on a table. Writers wait until it is created. Needs [`Scope::SchemaWrite`].
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the columns do not fit, `index_exists`, `too_many_indexes`,
    /// `values_repeat` if rows have the same values in the columns of a unique index, `storage_full`, and
    /// [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) without the scope.
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
                self.check_table(catalog, table)?;
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

    /// Drops an index. Needs [`Scope::SchemaWrite`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such index, and
    /// [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) without the scope.
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
                self.check_table(catalog, table)?;
                let (table, index) = catalog.drop_index(table, name)?;
                Ok(SchemaEffect {
                    statements: vec![sql::drop_index(scope, &table.name, &index)],
                    ..SchemaEffect::default()
                })
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Drops a table with its rows. Needs [`Scope::SchemaWrite`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such table, and
    /// [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) without the scope.
    pub async fn drop_table(&self, project: &ProjectRef, access: &Access, table: &str) -> Result<()> {
        require_schema_write(access, table)?;
        self.change_schema(project, |catalog, scope| {
            self.check_table(catalog, table)?;
            catalog.drop_table(table)?;
            Ok(SchemaEffect { statements: sql::drop_table(scope, table), ..SchemaEffect::default() })
        })
        .await
        .map(drop)
    }

    /// Replaces the rules of a table, at most [`MAX_RULES`](crate::rule::MAX_RULES). Only [`Access::Owner`] may.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if a rule does not fit the table; its details name the rule.
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
                self.check_table(catalog, table)?;
                catalog.set_rules(table, rules.clone())?;
                Ok(SchemaEffect::default())
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Makes every row of a table readable by anyone, or the table private again. Only [`Access::Owner`] may.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such table.
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
                self.check_table(catalog, table)?;
                catalog.set_public_read(table, public)?;
                Ok(SchemaEffect::default())
            })
            .await?;
        catalog.get_table(table).cloned()
    }

    /// Makes tables readable by anyone (`true`) or private again, all or none of them. Only [`Access::Owner`] may.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such table.
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
            // Not from the cache: a change must build on the current catalog.
            let before = self.reload_catalog(project).await?;
            let mut catalog = Catalog::clone(&before);
            let SchemaEffect { statements, only_if_empty, max_stored_bytes } = edit(&mut catalog, &scope)?;
            catalog.version = before.version + 1;
            let change = SchemaChange {
                from_version: before.version,
                catalog: catalog.clone(),
                statements,
                only_if_empty,
                max_stored_bytes,
                outbox: Vec::new(),
            };
            let applied = self.store.apply_schema_change(project, change).await;
            self.catalog_cache.invalidate(&project.id);
            match applied {
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

/// Returns the part of a table that the caller may see, if any.
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
            // These callers need not know the indexes.
            Some(Table { columns, rules: Vec::new(), indexes: Vec::new(), ..table.clone() })
        }
    }
}
