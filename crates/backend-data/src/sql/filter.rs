//! Filters as SQL.

use super::{Params, quoted};
use crate::{
    catalog::{Column, ColumnType, Table},
    error::{Error, Quoted, Result},
    query::{Filter, Is, Operands, Path, Test},
    store::Dialect,
    value::Value,
};

/// The columns a filter looks at.
pub(super) fn used<'a>(filter: &'a Filter, columns: &mut Vec<&'a str>) {
    match filter {
        Filter::And(members) | Filter::Or(members) => members.iter().for_each(|member| used(member, columns)),
        Filter::Not(inner) => used(inner, columns),
        Filter::Test(path, _) => columns.push(&path.column),
    }
}

/// The column of a path without steps.
pub(super) fn plain<'a>(table: &'a Table, path: &Path) -> Result<&'a Column> {
    if !path.steps.is_empty() {
        return Err(Error::unsupported(format!("the json path {}", Quoted(&path.to_string()))));
    }
    table.require(&path.column)
}

pub(super) fn sql(table: &Table, filter: &Filter, params: &mut Params) -> Result<String> {
    let join = |members: &[Filter], joint: &str, params: &mut Params| {
        let parts: Vec<String> =
            members.iter().map(|member| sql(table, member, params)).collect::<Result<_>>()?;
        Ok::<_, Error>(format!("({})", parts.join(joint)))
    };
    match filter {
        Filter::And(members) => join(members, " AND ", params),
        Filter::Or(members) => join(members, " OR ", params),
        Filter::Not(inner) => Ok(format!("NOT ({})", sql(table, inner, params)?)),
        Filter::Test(path, one) => test(plain(table, path)?, one, params),
    }
}

fn test(column: &Column, test: &Test, params: &mut Params) -> Result<String> {
    let name = quoted(&column.name);
    if column.kind == ColumnType::Json && !matches!(test, Test::Is(Is::Null | Is::NotNull)) {
        return Err(Error::unsupported(format!("this operator on the json column {name}")));
    }
    match test {
        Test::Compare(op, operands) => each(operands, params, |text, params| {
            let value = params.bind(Value::from_text(column, text)?);
            Ok(format!("{name} {} {value}", op.sql()))
        }),
        Test::Like { ignore_case, patterns } => {
            if column.kind != ColumnType::Text {
                return Err(Error::value(format!(
                    "like and ilike need a text column; {name} is {}",
                    column.kind.as_str()
                )));
            }
            each(patterns, params, |text, params| {
                let dialect = params.dialect;
                let pattern = params.bind(Value::from_text(column, text)?);
                Ok(match (dialect, ignore_case) {
                    (Dialect::Sqlite, false) => format!("qala_like({name}, {pattern})"),
                    (Dialect::Sqlite, true) => format!("qala_ilike({name}, {pattern})"),
                    (Dialect::Postgres, false) => format!("{name} LIKE {pattern}"),
                    // The column's own collation "C" would fold ASCII only.
                    (Dialect::Postgres, true) => format!("{name} COLLATE \"und-x-icu\" ILIKE {pattern}"),
                })
            })
        }
        Test::In(values) => {
            let values = values.iter().map(|text| Value::from_text(column, text)).collect::<Result<_>>()?;
            Ok(params.bind_in(&name, column.kind, values))
        }
        Test::Is(Is::Null) => Ok(format!("{name} IS NULL")),
        Test::Is(Is::NotNull) => Ok(format!("{name} IS NOT NULL")),
        Test::Is(_) if column.kind != ColumnType::Boolean => Err(Error::value(format!(
            "is.true, is.false and is.unknown need a boolean column; {name} is {}",
            column.kind.as_str()
        ))),
        Test::Is(Is::True) => Ok(format!("{name} IS TRUE")),
        Test::Is(Is::False) => Ok(format!("{name} IS FALSE")),
        Test::Is(Is::Unknown) => Ok(format!("{name} IS NULL")),
        Test::IsDistinct(text) => {
            let value = params.bind(Value::from_text(column, text)?);
            Ok(format!("{name} IS DISTINCT FROM {value}"))
        }
        Test::Match { .. } => Err(Error::unsupported("operator \"match\"")),
        Test::Contains(_) | Test::ContainedIn(_) => {
            Err(Error::value(format!("cs and cd need a json column; {name} is {}", column.kind.as_str())))
        }
    }
}

fn each(
    operands: &Operands,
    params: &mut Params,
    mut one: impl FnMut(&str, &mut Params) -> Result<String>,
) -> Result<String> {
    let (values, joint, empty) = match operands {
        Operands::One(value) => return one(value, params),
        Operands::Any(values) => (values, " OR ", "FALSE"),
        Operands::All(values) => (values, " AND ", "TRUE"),
    };
    if values.is_empty() {
        return Ok(empty.to_owned());
    }
    let parts: Vec<String> = values.iter().map(|value| one(value, params)).collect::<Result<_>>()?;
    Ok(format!("({})", parts.join(joint)))
}
