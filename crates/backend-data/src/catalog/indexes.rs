//! Adding and dropping indexes.

use super::{Catalog, ColumnType, Table};
use crate::{
    error::{Error, Quoted, Result},
    index::{Index, MAX_INDEX_COLUMNS, MAX_INDEXES, NewIndex},
};

impl Catalog {
    pub(crate) fn add_index(&mut self, table: &str, new: NewIndex) -> Result<(&Table, Index)> {
        let table = self.get_table_mut(table)?;
        let unique = new.unique;
        let columns = validate(new, table)?;
        let same = |index: &&Index| index.columns == columns && (index.unique || !unique);
        if let Some(index) = table.indexes.iter().find(same) {
            let message = format!("index {} has the same columns", Quoted(&index.name));
            return Err(Error::conflict("index_exists", "42P07", message));
        }
        if table.indexes.len() >= MAX_INDEXES {
            let message = format!("a table has at most {MAX_INDEXES} indexes");
            return Err(Error::conflict("too_many_indexes", "54000", message));
        }
        let last = table.indexes.last().and_then(|index| index.name.strip_prefix("ix")?.parse().ok());
        let number = last.unwrap_or(0_u64).saturating_add(1);
        let index = Index { name: format!("ix{number}"), columns, unique };
        table.indexes.push(index.clone());
        Ok((table, index))
    }

    pub(crate) fn drop_index(&mut self, table: &str, name: &str) -> Result<(&Table, Index)> {
        let table = self.get_table_mut(table)?;
        let Some(at) = table.indexes.iter().position(|index| index.name == name) else {
            return Err(Error::index_not_found(&table.name, name));
        };
        let index = table.indexes.remove(at);
        Ok((table, index))
    }
}

/// Checks the columns of a new index, and returns them.
fn validate(new: NewIndex, table: &Table) -> Result<Vec<String>> {
    if new.columns.is_empty() || new.columns.len() > MAX_INDEX_COLUMNS {
        return Err(Error::invalid_request(format!("an index has 1 to {MAX_INDEX_COLUMNS} columns")));
    }
    for (at, name) in new.columns.iter().enumerate() {
        let column = table.get_column(name)?;
        if column.kind == ColumnType::Json {
            return Err(Error::invalid_request(format!(
                "column {} holds documents, which cannot be indexed",
                Quoted(name)
            )));
        }
        if new.columns[..at].contains(name) {
            return Err(Error::invalid_request(format!("column {} is given twice", Quoted(name))));
        }
    }
    if new.columns == ["id"] {
        return Err(Error::invalid_request("every table already has an index on `id`"));
    }
    if new.unique && new.columns.iter().any(|name| name == "id") {
        return Err(Error::invalid_request("no two rows have the same `id`: leave it out of a unique index"));
    }
    Ok(new.columns)
}
