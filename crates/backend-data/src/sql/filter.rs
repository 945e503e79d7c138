//! Compiler of filters to SQL.

use super::{
    Params,
    expr::{self, Expr},
};
use crate::{
    catalog::{ColumnType, Table},
    error::{Error, Quoted, Result},
    json,
    query::{Filter, Is, MAX_CONTAINED, Operands, Path, Test, pattern},
    store::Dialect,
    value::Value,
};

/// Collects the columns that a filter uses.
pub(super) fn collect_columns<'a>(filter: &'a Filter, columns: &mut Vec<&'a str>) {
    match filter {
        Filter::And(members) | Filter::Or(members) => {
            members.iter().for_each(|member| collect_columns(member, columns));
        }
        Filter::Not(inner) => collect_columns(inner, columns),
        Filter::Test(path, _) => columns.push(&path.column),
    }
}

/// Returns true if a filter may be evaluated on rows that the caller may not read, so that an index can serve it: it
/// compares whole columns, cannot fail, and takes a time that reveals no value.
pub(super) fn is_leakproof(table: &Table, filter: &Filter) -> bool {
    match filter {
        Filter::And(members) | Filter::Or(members) => {
            members.iter().all(|member| is_leakproof(table, member))
        }
        Filter::Not(inner) => is_leakproof(table, inner),
        Filter::Test(path, test) => {
            let compares =
                matches!(test, Test::Compare(..) | Test::In(_) | Test::Is(_) | Test::IsDistinct(_));
            compares && is_indexable(table, path)
        }
    }
}

/// Returns true if an index may serve comparisons and the order of a path.
pub(super) fn is_indexable(table: &Table, path: &Path) -> bool {
    let indexed = || table.indexes.iter().any(|index| index.columns.contains(&path.column));
    let plain = || table.column(&path.column).is_some_and(|column| column.kind != ColumnType::Json);
    path.steps.is_empty() && plain() && (path.column == "id" || indexed())
}

pub(super) fn filter_sql(table: &Table, filter: &Filter, params: &mut Params) -> Result<String> {
    let join = |members: &[Filter], joint: &str, params: &mut Params| {
        let parts: Vec<String> =
            members.iter().map(|member| filter_sql(table, member, params)).collect::<Result<_>>()?;
        Ok::<_, Error>(format!("({})", parts.join(joint)))
    };
    match filter {
        Filter::And(members) => join(members, " AND ", params),
        Filter::Or(members) => join(members, " OR ", params),
        Filter::Not(inner) => Ok(format!("NOT ({})", filter_sql(table, inner, params)?)),
        Filter::Test(path, one) => {
            let expr = expr::path_expr(table, path, params)?;
            test_sql(&expr, one, params)
        }
    }
}

fn test_sql(expr: &Expr, test: &Test, params: &mut Params) -> Result<String> {
    let Expr { text: left, column } = expr;
    let (name, kind) = (Quoted(&column.name), column.kind);
    let dialect = params.dialect;
    let only = |wanted: ColumnType, what: &str| {
        if kind == wanted {
            return Ok(());
        }
        let (a, is) = (wanted.as_str(), kind.as_str());
        Err(Error::invalid_value(format!("{what} need a {a} column, but {name} is {is}")))
    };
    match test {
        Test::Compare(op, operands) => quantified_sql(operands, params, |text, params| {
            let value = params.bind(Value::from_text(column, text)?);
            Ok(expr.comparison_sql(*op, &value, dialect))
        }),
        Test::Like { ignore_case, patterns } => {
            only(ColumnType::Text, "like and ilike")?;
            quantified_sql(patterns, params, |text, params| {
                if text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
                    return Err(Error::invalid_value("a pattern may not end with an unescaped backslash"));
                }
                // The only letter whose lowercase form has two characters, which `_` would not match.
                let text = if *ignore_case { text.replace('İ', "I") } else { text.to_owned() };
                let pattern = params.bind(Value::from_text(column, &text)?);
                Ok(match (dialect, ignore_case) {
                    (Dialect::Sqlite, false) => format!("qala_like({left}, {pattern})"),
                    (Dialect::Sqlite, true) => format!("qala_ilike({left}, {pattern})"),
                    (Dialect::Postgres, false) => format!("{left} LIKE {pattern}"),
                    // With the column's collation "C", only ASCII letters would match in either case.
                    (Dialect::Postgres, true) => {
                        format!("translate({left}, 'İ', 'I') COLLATE \"und-x-icu\" ILIKE {pattern}")
                    }
                })
            })
        }
        Test::Match { ignore_case, patterns } => {
            only(ColumnType::Text, "match and imatch")?;
            quantified_sql(patterns, params, |text, params| {
                let pattern = params.bind(Value::Text(pattern::translate(text, *ignore_case, dialect)?));
                Ok(match dialect {
                    Dialect::Sqlite => format!("qala_match({left}, {pattern})"),
                    Dialect::Postgres => format!("{left} ~ {pattern}"),
                })
            })
        }
        Test::In(values) => {
            let values = values.iter().map(|text| Value::from_text(column, text)).collect::<Result<_>>()?;
            Ok(params.bind_in(left, kind, values))
        }
        Test::Is(Is::Null) => Ok(format!("{left} IS NULL")),
        Test::Is(Is::NotNull) => Ok(format!("{left} IS NOT NULL")),
        Test::Is(is) => {
            only(ColumnType::Boolean, "is.true, is.false and is.unknown")?;
            Ok(match is {
                Is::True => format!("{left} IS TRUE"),
                Is::False => format!("{left} IS FALSE"),
                _ => format!("{left} IS NULL"),
            })
        }
        Test::IsDistinct(text) => {
            let value = params.bind(Value::from_text(column, text)?);
            Ok(format!("{left} IS DISTINCT FROM {value}"))
        }
        Test::Contains(text) | Test::ContainedIn(text) => {
            only(ColumnType::Json, "cs and cd")?;
            let value = Value::from_text(column, text)?;
            if let Value::Json(document) = &value
                && json::count_array_elements(document) > MAX_CONTAINED
            {
                let message =
                    format!("arrays in the document of cs and cd have at most {MAX_CONTAINED} members");
                return Err(Error::invalid_value(message));
            }
            let value = params.bind(value);
            let (outer, inner) =
                if matches!(test, Test::Contains(_)) { (left, &value) } else { (&value, left) };
            Ok(match dialect {
                Dialect::Sqlite => format!("qala_json_contains({outer}, {inner})"),
                Dialect::Postgres => format!("{outer} @> {inner}"),
            })
        }
    }
}

fn quantified_sql(
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
