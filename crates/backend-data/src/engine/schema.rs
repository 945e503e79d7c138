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
    store::{Place, SchemaChange, StoreError},
};

/// How often a change is tried again when another one came first.
const TRIES: usize = 5;

/// What a change does beside the catalog.
#[derive(Default)]
struct Effect {
    statements: Vec<String>,
    only_if_empty: Option<String>,
    max_stored: Option<u64>,
}

impl Engine {
    /// The tables and columns the caller may use. Rules and counts are for the owner alone.
    ///
    /// # Errors
    /// When there is no such project.
    pub async fn schema(&self, project: &ProjectRef, access: &Access) -> Result<Vec<Table>> {
        let catalog = self.current(project).await?;
        Ok(catalog.tables.iter().filter_map(|table| visible(table, access)).collect())
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
        may_change(access, &table.name)?;
        let name = table.name.clone();
        let created_at = self.clock.now().to_text();
        let catalog = self
            .change(project, |catalog, place| {
                let made = catalog.create_table(table.clone(), created_at.clone())?;
                Ok(Effect {
                    statements: sql::create_table(self.store.dialect(), place, made),
                    ..Effect::default()
                })
            })
            .await?;
        catalog.require(&name).cloned()
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
        may_change(access, table)?;
        let catalog = self
            .change(project, |catalog, place| {
                let (table, column) = catalog.add_column(table, column.clone())?;
                Ok(Effect {
                    statements: sql::add_column(self.store.dialect(), place, table, &column),
                    only_if_empty: (!column.nullable).then(|| table.name.clone()),
                    ..Effect::default()
                })
            })
            .await?;
        catalog.require(table).cloned()
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
        may_change(access, table)?;
        let catalog = self
            .change(project, |catalog, place| {
                let (table, index) = catalog.add_index(table, index.clone())?;
                Ok(Effect {
                    statements: vec![sql::create_index(place, &table.name, &index)],
                    max_stored: self.limits.max_stored_bytes,
                    ..Effect::default()
                })
            })
            .await
            .map_err(|error| if error.code() == "value_exists" { Error::values_repeat() } else { error })?;
        catalog.require(table).cloned()
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
        may_change(access, table)?;
        let catalog = self
            .change(project, |catalog, place| {
                let (table, index) = catalog.drop_index(table, name)?;
                Ok(Effect {
                    statements: vec![sql::drop_index(place, &table.name, &index)],
                    ..Effect::default()
                })
            })
            .await?;
        catalog.require(table).cloned()
    }

    /// Drops a table and its rows.
    ///
    /// # Errors
    /// When there is no such table or the caller may not.
    pub async fn drop_table(&self, project: &ProjectRef, access: &Access, table: &str) -> Result<()> {
        may_change(access, table)?;
        self.change(project, |catalog, place| {
            catalog.drop_table(table)?;
            Ok(Effect { statements: sql::drop_table(place, table), ..Effect::default() })
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
        owner_only(access)?;
        let catalog = self
            .change(project, |catalog, _| {
                catalog.set_rules(table, rules.clone())?;
                Ok(Effect::default())
            })
            .await?;
        catalog.require(table).cloned()
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
        owner_only(access)?;
        let catalog = self
            .change(project, |catalog, _| {
                catalog.set_public_read(table, public)?;
                Ok(Effect::default())
            })
            .await?;
        catalog.require(table).cloned()
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
        owner_only(access)?;
        let change = self.change(project, |catalog, _| {
            for (table, public) in tables {
                catalog.set_public_read(table, *public)?;
            }
            Ok(Effect::default())
        });
        change.await.map(drop)
    }

    async fn change(
        &self,
        project: &ProjectRef,
        edit: impl Fn(&mut Catalog, &Place) -> Result<Effect>,
    ) -> Result<Arc<Catalog>> {
        let place = self.store.place(project);
        for _ in 0..TRIES {
            // Read afresh: a change must build on what is.
            let before = self.reload(project).await?;
            let mut catalog = Catalog::clone(&before);
            let Effect { statements, only_if_empty, max_stored } = edit(&mut catalog, &place)?;
            catalog.version = before.version + 1;
            let change = SchemaChange {
                from_version: before.version,
                catalog: catalog.clone(),
                statements,
                only_if_empty,
                max_stored,
                outbox: Vec::new(),
            };
            let made = self.store.change(project, change).await;
            self.catalogs.forget(&project.id);
            match made {
                Ok(()) => return Ok(Arc::new(catalog)),
                Err(StoreError::Stale) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Stale.into())
    }
}

fn may_change(access: &Access, table: &str) -> Result<()> {
    if !access.has(Scope::SchemaWrite) {
        return Err(Error::forbidden("changing the schema needs the scope schema:write"));
    }
    if !access.reaches(table) {
        return Err(Error::table_not_found(table));
    }
    Ok(())
}

fn owner_only(access: &Access) -> Result<()> {
    match access {
        Access::Owner => Ok(()),
        _ => Err(Error::forbidden("only the owner of the project may do this")),
    }
}

/// The table as the caller may know it, if at all.
fn visible(table: &Table, access: &Access) -> Option<Table> {
    match access {
        Access::Owner => Some(table.clone()),
        Access::Service { .. } => {
            access.reaches(&table.name).then(|| Table { rules: Vec::new(), ..table.clone() })
        }
        Access::Visitor | Access::Person(_) => {
            let rules: Vec<&Rule> = table
                .rules
                .iter()
                .filter(|rule| {
                    [Action::Read, Action::Insert, Action::Update, Action::Delete]
                        .iter()
                        .any(|action| rule.applies(access, *action))
                })
                .collect();
            if !table.public_read && rules.is_empty() {
                return None;
            }
            let usable =
                |column: &&Column| table.public_read || rules.iter().any(|rule| rule.covers(&column.name));
            let columns = table.columns.iter().filter(usable).cloned().collect();
            // How the owner made it fast is nothing to them.
            Some(Table { columns, rules: Vec::new(), indexes: Vec::new(), ..table.clone() })
        }
    }
}
