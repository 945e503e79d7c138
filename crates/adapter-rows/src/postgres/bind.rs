//! Binding of values as PostgreSQL's binary parameters.

use backend_data::{ColumnType, Micros, Value};
use sqlx::{
    Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgHasArrayType, PgTypeInfo, types::Oid},
    query::Query,
};

/// Microseconds from 1970 to 2000, PostgreSQL's epoch.
pub(super) const PG_EPOCH_MICROS: i64 = 946_684_800_000_000;

/// A `timestamptz`.
struct Instant(Micros);

impl Type<Postgres> for Instant {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1184))
    }
}

impl PgHasArrayType for Instant {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1185))
    }
}

impl Encode<'_, Postgres> for Instant {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend((self.0.get() - PG_EPOCH_MICROS).to_be_bytes());
        Ok(IsNull::No)
    }
}

/// A `jsonb`.
struct Document<'v>(&'v str);

impl Type<Postgres> for Document<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3802))
    }
}

impl PgHasArrayType for Document<'_> {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3807))
    }
}

impl Encode<'_, Postgres> for Document<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        // The version of the binary format.
        buffer.push(1);
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

pub(super) type PgQuery<'q> = Query<'q, Postgres, PgArguments>;

/// Binds one value.
pub(super) fn value<'q>(query: PgQuery<'q>, value: &Value) -> PgQuery<'q> {
    match value {
        Value::Null(kind) => array_or_null(query, *kind, None),
        Value::Text(text) => query.bind(text.as_str()),
        Value::Integer(value) => query.bind(*value),
        Value::Real(value) => query.bind(*value),
        Value::Boolean(value) => query.bind(*value),
        Value::Timestamp(value) => query.bind(Instant(*value)),
        Value::Json(text) => query.bind(Document(text)),
        Value::List(kind, values) => {
            let values: Vec<&Value> = values.iter().collect();
            array_or_null(query, *kind, Some(&values))
        }
    }
}

/// Binds the column `at` of rows as an array.
pub(super) fn column<'q>(
    query: PgQuery<'q>,
    kind: ColumnType,
    rows: &[&Vec<Value>],
    at: usize,
) -> PgQuery<'q> {
    let values: Vec<&Value> = rows.iter().filter_map(|row| row.get(at)).collect();
    array_or_null(query, kind, Some(&values))
}

fn array_or_null<'q>(query: PgQuery<'q>, kind: ColumnType, values: Option<&[&Value]>) -> PgQuery<'q> {
    fn each<'v, T>(values: &[&'v Value], take: impl Fn(&'v Value) -> Option<T>) -> Vec<Option<T>> {
        values.iter().map(|value| take(value)).collect()
    }
    macro_rules! bind {
        ($kind:ty, $pattern:pat => $value:expr) => {
            match values {
                None => query.bind(None::<$kind>),
                Some(values) => query.bind(each(values, |value| match value {
                    $pattern => Some::<$kind>($value),
                    _ => None,
                })),
            }
        };
    }
    match kind {
        ColumnType::Text => bind!(&str, Value::Text(text) => text.as_str()),
        ColumnType::Integer => bind!(i64, Value::Integer(value) => *value),
        ColumnType::Real => bind!(f64, Value::Real(value) => *value),
        ColumnType::Boolean => bind!(bool, Value::Boolean(value) => *value),
        ColumnType::Timestamp => bind!(Instant, Value::Timestamp(value) => Instant(*value)),
        ColumnType::Json => bind!(Document<'_>, Value::Json(text) => Document(text)),
    }
}
