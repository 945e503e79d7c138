//! Tables of backend projects on the wire.

use application::Problem;
use backend_data::{Micros, Table, index::Index, rule::Rule};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    conditional::{EntityTag, Representation},
    schemas,
};

/// A column of a table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Column)]
pub(crate) struct ColumnView {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–63 characters.
    name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    #[schema(value_type = schemas::backend_data::ColumnType)]
    kind: backend_data::ColumnType,
    /// True if its values may be null.
    nullable: bool,
    /// True for the columns that every table has: `id` and `created_at`.
    system: bool,
    /// The value of a row that is inserted without one. Absent if the column has no default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    default: Option<Value>,
    /// Entity tag. Send it in `If-Match` with a change of the column, to change only what you have seen. Absent in the
    /// data API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, pattern = "^\"[0-9a-f]{32}\"$")]
    etag: Option<String>,
}

/// A table of a project.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Table)]
pub(crate) struct TableView {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–48 characters.
    pub(crate) name: String,
    /// The columns: `id`, `created_at`, then the others in the order in which they were added.
    columns: Vec<ColumnView>,
    /// True if anyone may read every row.
    public_read: bool,
    /// The rules of its policy: what visitors and signed-in people may do.
    #[schema(value_type = Vec<schemas::backend_data::Rule>)]
    rules: Vec<Rule>,
    /// The indexes, in the order of creation.
    #[schema(value_type = Vec<schemas::backend_data::Index>)]
    indexes: Vec<Index>,
    /// Number of rows; null if they were not counted.
    #[schema(required)]
    pub(crate) row_count: Option<u64>,
    /// Time of creation.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    /// Entity tag of the table's columns, rules and indexes. Send it in `If-Match` with a change of the rules or an index
    /// and with the drop of the table, to change only what you have seen. Absent in the data API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, pattern = "^\"[0-9a-f]{32}\"$")]
    etag: Option<String>,
}

impl Representation for ColumnView {
    const COMPUTED: &'static [&'static str] = &["etag"];
}

impl Representation for TableView {
    const COMPUTED: &'static [&'static str] = &["etag", "rowCount"];
}

impl From<backend_data::Column> for ColumnView {
    fn from(column: backend_data::Column) -> Self {
        let backend_data::Column { name, kind, nullable, system, default } = column;
        Self { name, kind, nullable, system, default, etag: None }
    }
}

/// A table as the data API shows it, without tags.
impl From<Table> for TableView {
    fn from(table: Table) -> Self {
        let Table { name, columns, public_read, rules, indexes, row_count, created_at } = table;
        let created_at = Micros::parse(&created_at).unwrap_or(Micros::EPOCH);
        Self {
            name,
            columns: columns.into_iter().map(ColumnView::from).collect(),
            public_read,
            rules,
            indexes,
            row_count,
            created_at: DateTime::from_timestamp_micros(created_at.get()).unwrap_or_default(),
            etag: None,
        }
    }
}

impl TableView {
    /// Returns a table with the tags of itself and of its columns.
    ///
    /// # Errors
    /// 500 `internal` if it cannot be serialized.
    pub(crate) fn tagged(table: Table) -> Result<Self, Problem> {
        let mut view = Self::from(table);
        let tag = view.entity_tag()?;
        for column in &mut view.columns {
            column.etag = Some(column.entity_tag()?.as_str().to_owned());
        }
        Ok(Self { etag: Some(tag.as_str().to_owned()), ..view })
    }
}

/// Returns the tag of a table.
///
/// # Errors
/// 500 `internal` if it cannot be serialized.
pub(crate) fn table_tag(table: &Table) -> Result<EntityTag, Problem> {
    TableView::from(table.clone()).entity_tag()
}

/// Returns the tag of a column; `None` if the table has no column of this name.
///
/// # Errors
/// 500 `internal` if it cannot be serialized.
pub(crate) fn column_tag(table: &Table, name: &str) -> Result<Option<EntityTag>, Problem> {
    table.column(name).map(|column| ColumnView::from(column.clone()).entity_tag()).transpose()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(created_at: &str) -> Table {
        let column =
            json!({"name": "qty", "type": "integer", "nullable": false, "system": false, "default": 1});
        let table = json!({
            "name": "orders", "columns": [column], "publicRead": false, "rules": [], "indexes": [], "rowCount": 7,
            "createdAt": created_at,
        });
        serde_json::from_value(table).unwrap()
    }

    #[test]
    fn a_table_has_tags_in_the_console_and_none_in_the_data_api() {
        let shown = |view: TableView| serde_json::to_value(view).unwrap();
        let console = shown(TableView::tagged(table("2026-01-02T03:04:05.000006Z")).unwrap());
        let data = shown(table("2026-01-02T03:04:05.000006Z").into());
        assert!(data.get("etag").is_none() && data["columns"][0].get("etag").is_none());
        assert_eq!(
            console["etag"],
            json!(table_tag(&table("2026-01-02T03:04:05.000006Z")).unwrap().as_str())
        );
        let column = column_tag(&table("2026-01-02T03:04:05.000006Z"), "qty").unwrap().unwrap();
        assert_eq!(console["columns"][0]["etag"], json!(column.as_str()));
        assert_eq!(column_tag(&table(""), "other").unwrap(), None);
    }

    #[test]
    fn the_number_of_rows_does_not_change_the_tag_and_every_part_of_the_definition_does() {
        let tag = |change: fn(&mut Table)| {
            let mut table = table("2026-01-02T03:04:05.000006Z");
            change(&mut table);
            table_tag(&table).unwrap()
        };
        let same = tag(|_| ());
        assert_eq!(tag(|table| table.row_count = None), same);
        let changes: [fn(&mut Table); 4] = [
            |table| table.public_read = true,
            |table| table.columns[0].nullable = true,
            |table| table.columns[0].default = None,
            |table| table.columns.clear(),
        ];
        for change in changes {
            assert_ne!(tag(change), same);
        }
    }

    #[test]
    fn the_time_of_creation_has_milliseconds() {
        for (stored, shown) in [
            ("2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678Z"),
        ] {
            let view = serde_json::to_value(TableView::from(table(stored))).unwrap();
            assert_eq!(view["createdAt"], shown);
        }
    }
}
