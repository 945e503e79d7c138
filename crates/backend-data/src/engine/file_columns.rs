//! The columns that a file names: the first record of a CSV, and the keys of the first object of a JSON file.

mod csv_header;
mod json_keys;

use std::collections::BTreeMap;

use super::body::writable_column;
use crate::{
    catalog::{Column, Table},
    error::Result,
};

pub(crate) use csv_header::{CsvHeader, parse_insert_csv};
pub(crate) use json_keys::JsonKeys;

/// The treatment of a `created_at` that a client sends, which the server sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CreatedAt {
    /// It is an error.
    Refuse,
    /// It is left out, as of a file that was exported before.
    Ignore,
    /// It is kept, as of rows that are moved.
    Keep,
}

impl CreatedAt {
    /// Returns a column that a client writes; `None` if it is left out.
    fn find_column<'t>(self, table: &'t Table, name: &str) -> Result<Option<&'t Column>> {
        match self {
            Self::Refuse => writable_column(table, name).map(Some),
            Self::Ignore if name == "created_at" => Ok(None),
            Self::Ignore | Self::Keep => table.get_column(name).map(Some),
        }
    }
}

/// The columns of a file that were left out, by their position in the file.
#[derive(Clone, Default)]
pub(super) struct IgnoredColumns(BTreeMap<usize, String>);

impl IgnoredColumns {
    /// Adds a column without a name, which is called by its number: no column of a table can have such a name.
    fn add_unnamed(&mut self, position: usize) {
        self.0.entry(position).or_insert_with(|| format!("column {}", position + 1));
    }

    /// Returns the names, each once.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.0.values() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}
