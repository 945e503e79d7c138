//! Statements of many rows: in few statements of many rows where each is a round trip, with arrays where one shape shall do for
//! any number, or one row after the other in a statement that is prepared once.

use std::borrow::Cow;

use kernel::StoreError;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use sea_orm::{Value, sea_query::ArrayType};
use uuid::Uuid;

use super::{Sql, SqlExecutor, array_chunks_for};

/// A value of one row; borrowed where the database takes it as it is.
pub(crate) enum Field<'v> {
    Boolean(Option<bool>),
    Small(Option<i16>),
    Integer(Option<i64>),
    Real(Option<f64>),
    Text(Option<Cow<'v, str>>),
    Bytes(Option<Cow<'v, [u8]>>),
    Uuid(Option<Uuid>),
}

impl Field<'_> {
    /// Returns the kind of an array of such values, and PostgreSQL's name of their type.
    fn kind(&self) -> (ArrayType, &'static str) {
        match self {
            Self::Boolean(_) => (ArrayType::Bool, "boolean"),
            Self::Small(_) => (ArrayType::SmallInt, "smallint"),
            Self::Integer(_) => (ArrayType::BigInt, "bigint"),
            Self::Real(_) => (ArrayType::Double, "double precision"),
            Self::Text(_) => (ArrayType::String, "text"),
            Self::Bytes(_) => (ArrayType::Bytes, "bytea"),
            Self::Uuid(_) => (ArrayType::Uuid, "uuid"),
        }
    }
}

/// The values of one row, in the order of their columns.
pub(crate) struct Fields<'v>(Vec<Field<'v>>);

impl<'v> Fields<'v> {
    pub(crate) fn new() -> Self {
        // Enough for the widest rows.
        Self(Vec::with_capacity(12))
    }

    /// Adds a value.
    pub(crate) fn with(mut self, value: impl Into<Field<'v>>) -> Self {
        self.0.push(value.into());
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Field<'v>> {
        self.0.iter()
    }
}

impl Sql {
    /// Adds rows as a table, which follows `INSERT INTO t (…)` or stands in a `WITH`. They are at least one, and have values of the
    /// same kinds.
    pub(crate) fn push_rows<D: SqlExecutor>(&mut self, db: &D, rows: &[Fields<'_>]) -> &mut Self {
        if !db.takes_arrays() {
            return self.push("VALUES ").push_values(rows, |sql, fields| {
                sql.bind_all(fields.iter().map(Value::from));
            });
        }
        self.push("SELECT * FROM unnest(");
        let kinds: Vec<(ArrayType, &str)> =
            rows.iter().take(1).flat_map(Fields::iter).map(Field::kind).collect();
        for (index, (kind, name)) in kinds.into_iter().enumerate() {
            let values = rows.iter().filter_map(|fields| fields.0.get(index)).map(Value::from).collect();
            self.push(if index > 0 { ", " } else { "" });
            self.bind(Value::Array(kind, Some(Box::new(values)))).push("::").push(name).push("[]");
        }
        self.push(")")
    }
}

/// Inserts rows.
pub(crate) async fn insert_rows<D: SqlExecutor>(
    db: &D,
    (table, columns): (&str, &str),
    rows: Vec<Fields<'_>>,
) -> Result<(), StoreError> {
    let insert = || {
        let mut sql = Sql::new("INSERT INTO ");
        sql.push(table).push(" (").push(columns).push(") ");
        sql
    };
    if db.prefers_single_rows() {
        let mut sql = insert();
        sql.push("VALUES (").push_placeholders(columns.split(',').count()).push(")");
        return db.execute_many(sql.text, &rows).await.map(drop);
    }
    for rows in array_chunks_for(db, &rows) {
        let mut sql = insert();
        sql.push_rows(db, rows);
        sql.execute(db).await?;
    }
    Ok(())
}

/// Converts values, and values that may be missing, into fields of one kind.
macro_rules! from {
    ($($kind:ident: $type:ty),* $(,)?) => {$(
        impl<'v> From<$type> for Field<'v> {
            fn from(value: $type) -> Self {
                Self::$kind(Some(value.into()))
            }
        }

        impl<'v> From<Option<$type>> for Field<'v> {
            fn from(value: Option<$type>) -> Self {
                Self::$kind(value.map(Into::into))
            }
        }
    )*};
}

from!(Boolean: bool, Small: i16, Integer: i64, Real: f64, Text: &'v str, Text: String, Bytes: Vec<u8>, Uuid: Uuid);

impl From<&Field<'_>> for Value {
    fn from(field: &Field<'_>) -> Self {
        match field {
            Field::Boolean(value) => (*value).into(),
            Field::Small(value) => (*value).into(),
            Field::Integer(value) => (*value).into(),
            Field::Real(value) => (*value).into(),
            Field::Text(value) => value.as_deref().map(str::to_owned).into(),
            Field::Bytes(value) => value.as_deref().map(<[u8]>::to_vec).into(),
            Field::Uuid(value) => (*value).into(),
        }
    }
}

impl ToSql for Field<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let integer = |number: Option<i64>| number.map_or(ValueRef::Null, ValueRef::Integer);
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Boolean(value) => integer(value.map(i64::from)),
            Self::Small(value) => integer(value.map(i64::from)),
            Self::Integer(value) => integer(*value),
            Self::Real(value) => value.map_or(ValueRef::Null, ValueRef::Real),
            Self::Text(value) => {
                value.as_ref().map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes()))
            }
            Self::Bytes(value) => value.as_ref().map_or(ValueRef::Null, |bytes| ValueRef::Blob(bytes)),
            Self::Uuid(value) => value.as_ref().map_or(ValueRef::Null, |id| ValueRef::Blob(id.as_bytes())),
        }))
    }
}
