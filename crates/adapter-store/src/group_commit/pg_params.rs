//! Values as PostgreSQL's driver takes them, with lists of values that may be missing.

use kernel::StoreError;
use sea_orm::{Value, sea_query::ArrayType};
use sqlx::{Arguments as _, postgres::PgArguments};

/// Takes the values of one list that are of one kind.
macro_rules! list {
    ($kind:ident, $values:expr) => {
        $values
            .into_iter()
            .map(|value| match value {
                Value::$kind(value) => Ok(value),
                other => Err(unknown(&other)),
            })
            .collect::<Result<Vec<_>, _>>()?
    };
}

/// Converts the values of a statement.
pub(super) fn to_arguments(values: Vec<Value>) -> Result<PgArguments, StoreError> {
    let mut arguments = PgArguments::default();
    for value in values {
        match value {
            Value::Bool(value) => arguments.add(value),
            Value::SmallInt(value) => arguments.add(value),
            Value::Int(value) => arguments.add(value),
            Value::BigInt(value) => arguments.add(value),
            Value::Double(value) => arguments.add(value),
            Value::String(value) => arguments.add(value),
            Value::Bytes(value) => arguments.add(value),
            Value::Uuid(value) => arguments.add(value),
            Value::Array(kind, Some(values)) => match kind {
                ArrayType::Bool => arguments.add(list!(Bool, *values)),
                ArrayType::SmallInt => arguments.add(list!(SmallInt, *values)),
                ArrayType::BigInt => arguments.add(list!(BigInt, *values)),
                ArrayType::Double => arguments.add(list!(Double, *values)),
                ArrayType::String => arguments.add(list!(String, *values)),
                ArrayType::Bytes => arguments.add(list!(Bytes, *values)),
                ArrayType::Uuid => arguments.add(list!(Uuid, *values)),
                other => return Err(unknown(&other)),
            },
            other => return Err(unknown(&other)),
        }
        .map_err(StoreError::Failed)?;
    }
    Ok(arguments)
}

/// Names the kind of a value, and not the value.
fn unknown<V>(value: &V) -> StoreError {
    StoreError::Failed(format!("the group commit binds no {:?}", std::mem::discriminant(value)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_have_missing_values_and_no_other_kinds() {
        let list = |values: Vec<Value>| Value::Array(ArrayType::BigInt, Some(Box::new(values)));
        let arguments = to_arguments(vec![list(vec![7_i64.into(), Option::<i64>::None.into()]), true.into()]);
        assert_eq!(arguments.unwrap().len(), 2);
        assert!(to_arguments(vec![list(vec!["7".into()])]).is_err());
        assert!(to_arguments(vec![Value::Char(None)]).is_err());
    }
}
