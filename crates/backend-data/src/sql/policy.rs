//! Compiler of policies: the rows and columns of a table that the rules let a caller read and write.
//!
//! See `docs/decisions/0101-evaluate-caller-expressions-after-policies.md`.

use super::{Params, Target, quote_ident};
use crate::{
    access::{Access, Scope},
    catalog::{Column, Table},
    error::{Error, ErrorKind, Result},
    rule::{Action, Comparison, Condition, ResolvedOperand, Rule},
};

/// A function that returns the expression of a column in a condition, which need not be about the stored row.
pub(super) type ColumnNamer<'n> = &'n dyn Fn(&Column) -> String;

fn own_column_name(column: &Column) -> String {
    quote_ident(&column.name)
}

/// The rows that a caller may read or change.
pub(super) enum AllowedRows<'a> {
    /// All rows.
    All,
    /// The rows that meet at least one of these conditions; no row without conditions.
    Where(Vec<&'a Condition>),
}

impl<'a> AllowedRows<'a> {
    fn from_rules(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let conditions: Vec<&Condition> = rules.map(|rule| &rule.condition).collect();
        if conditions.iter().any(|condition| matches!(condition, Condition::All)) {
            Self::All
        } else {
            Self::Where(conditions)
        }
    }

    /// Compiles the condition; `None` if all rows are allowed.
    pub(super) fn to_sql(&self, target: &Target<'_>, params: &mut Params) -> Result<Option<String>> {
        self.to_sql_with(target, &own_column_name, params)
    }

    /// Compiles the condition on a row whose columns have other expressions.
    pub(super) fn to_sql_with(
        &self,
        target: &Target<'_>,
        name: ColumnNamer<'_>,
        params: &mut Params,
    ) -> Result<Option<String>> {
        match self {
            Self::All => Ok(None),
            Self::Where(conditions) if conditions.is_empty() => Ok(Some("FALSE".to_owned())),
            Self::Where(conditions) => {
                join_conditions(target, conditions.iter().copied(), " OR ", name, params).map(Some)
            }
        }
    }
}

/// The rows and columns of a table that a caller may read.
pub(super) struct RowPolicy<'a> {
    is_unrestricted: bool,
    rules: Vec<&'a Rule>,
}

impl<'a> RowPolicy<'a> {
    /// Returns what the caller may read, or 404 if that is nothing.
    pub(super) fn new(target: &Target<'a>) -> Result<Self> {
        let policy = Self::for_returning(target);
        match target.access {
            _ if !target.access.covers_table(&target.table.name) => {
                Err(Error::table_not_found(&target.table.name))
            }
            Access::Service { .. } if !policy.is_unrestricted => {
                Err(Error::forbidden("the key does not have the scope rows:read"))
            }
            _ if policy.is_unrestricted || !policy.rules.is_empty() => Ok(policy),
            _ => Err(Error::table_not_found(&target.table.name)),
        }
    }

    /// Returns what the result of a write may show. A caller who may read nothing gets only ids.
    pub(super) fn for_returning(target: &Target<'a>) -> Self {
        let Target { table, access, .. } = *target;
        let is_unrestricted = match access {
            Access::Owner | Access::Service { .. } => access.has_scope(Scope::RowsRead),
            Access::Visitor | Access::Person(_) => table.public_read,
        };
        let rules = table.rules.iter().filter(|rule| rule.applies_to(access, Action::Read)).collect();
        Self { is_unrestricted, rules }
    }

    /// Returns the rows that the caller may filter and sort by these columns: those of the rules that cover all of
    /// them, so that nobody learns a hidden value by selecting the rows that have it.
    pub(super) fn readable_rows(&self, table: &Table, used: &[&str]) -> Result<AllowedRows<'a>> {
        if self.is_unrestricted {
            return Ok(AllowedRows::All);
        }
        for column in used {
            // A column that no rule covers is treated as one that does not exist.
            if !self.rules.iter().any(|rule| rule.covers_column(column)) {
                return Err(Error::column_not_found(&table.name, column));
            }
        }
        let covering = self.rules.iter().copied();
        Ok(AllowedRows::from_rules(
            covering.filter(|rule| used.iter().all(|column| rule.covers_column(column))),
        ))
    }

    /// Compiles the column as the caller may read it: null in rows that do not show it, `None` if no row does.
    pub(super) fn column_expr(
        &self,
        target: &Target<'_>,
        column: &Column,
        params: &mut Params,
    ) -> Result<Option<String>> {
        let name = quote_ident(&column.name);
        if self.is_unrestricted {
            return Ok(Some(name));
        }
        let covering: Vec<&Rule> =
            self.rules.iter().copied().filter(|rule| rule.covers_column(&column.name)).collect();
        if covering.is_empty() {
            return Ok(None);
        }
        // Every row in the result meets one of these rules, so a column that all of them cover is shown in each row.
        if covering.len() == self.rules.len() {
            return Ok(Some(name));
        }
        Ok(Some(match AllowedRows::from_rules(covering.into_iter()).to_sql(target, params)? {
            None => name,
            Some(condition) => format!("CASE WHEN {condition} THEN {name} END"),
        }))
    }

    /// Compiles the column as the result of a write shows it. The row need not be one that the caller may read.
    pub(super) fn returning_expr(
        &self,
        target: &Target<'_>,
        column: &Column,
        params: &mut Params,
    ) -> Result<Option<String>> {
        let name = quote_ident(&column.name);
        if self.is_unrestricted || column.name == "id" {
            return Ok(Some(name));
        }
        let covering: Vec<&Rule> =
            self.rules.iter().copied().filter(|rule| rule.covers_column(&column.name)).collect();
        if covering.is_empty() {
            return Ok(None);
        }
        Ok(Some(match AllowedRows::from_rules(covering.into_iter()).to_sql(target, params)? {
            None => name,
            Some(condition) => format!("CASE WHEN {condition} THEN {name} END"),
        }))
    }

    /// Returns true if the caller may read every row and column.
    pub(super) fn is_unrestricted(&self) -> bool {
        self.is_unrestricted
    }

    /// Returns true if the caller may read this column in some row.
    pub(super) fn covers_column(&self, column: &str) -> bool {
        self.is_unrestricted || self.rules.iter().any(|rule| rule.covers_column(column))
    }
}

/// Refuses a caller who may not do this to any row. Call it before parsing a body, whose errors would reveal that a
/// hidden table exists.
pub(crate) fn authorize(target: &Target<'_>, action: Action) -> Result<()> {
    writable_rows(target, action, &[]).map(drop)
}

/// Returns the existing rows that a merge may update, with these columns. A caller who may insert knows that the table
/// exists, so a missing rule is 403.
pub(super) fn mergeable_rows<'a>(target: &Target<'a>, columns: &[&str]) -> Result<AllowedRows<'a>> {
    writable_rows(target, Action::Update, columns).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::forbidden("no rule of this table allows updating existing rows")
            .with_hint("Insert without `resolution=merge-duplicates`, or add a rule for updates."),
        _ => error,
    })
}

/// Returns the rows that a caller may write, with these columns: 404 if the table is hidden, 403 if it is only
/// readable.
pub(super) fn writable_rows<'a>(
    target: &Target<'a>,
    action: Action,
    columns: &[&str],
) -> Result<AllowedRows<'a>> {
    let Target { table, access, .. } = *target;
    if !access.covers_table(&table.name) {
        return Err(Error::table_not_found(&table.name));
    }
    match access {
        Access::Owner => return Ok(AllowedRows::All),
        Access::Service { .. } if access.has_scope(Scope::RowsWrite) => return Ok(AllowedRows::All),
        Access::Service { .. } => {
            return Err(Error::forbidden("the key does not have the scope rows:write"));
        }
        Access::Visitor | Access::Person(_) => {}
    }
    let rules: Vec<&Rule> = table.rules.iter().filter(|rule| rule.applies_to(access, action)).collect();
    if rules.is_empty() {
        RowPolicy::new(target)?;
        return Err(Error::forbidden("no rule of this table allows this action"));
    }
    let covering: Vec<&Rule> =
        rules.into_iter().filter(|rule| columns.iter().all(|column| rule.covers_column(column))).collect();
    if covering.is_empty() {
        return Err(Error::forbidden("no rule of this table allows writing all of these columns"));
    }
    Ok(AllowedRows::from_rules(covering.into_iter()))
}

fn join_conditions<'a>(
    target: &Target<'_>,
    conditions: impl Iterator<Item = &'a Condition>,
    joint: &str,
    name: ColumnNamer<'_>,
    params: &mut Params,
) -> Result<String> {
    let parts: Vec<String> =
        conditions.map(|one| condition_sql_with(target, one, name, params)).collect::<Result<_>>()?;
    Ok(format!("({})", parts.join(joint)))
}

/// Compiles the condition of a rule. A value that the caller lacks is bound as null, which passes no comparison.
pub(super) fn condition_sql(
    target: &Target<'_>,
    condition: &Condition,
    params: &mut Params,
) -> Result<String> {
    condition_sql_with(target, condition, &own_column_name, params)
}

fn condition_sql_with(
    target: &Target<'_>,
    condition: &Condition,
    name: ColumnNamer<'_>,
    params: &mut Params,
) -> Result<String> {
    let table = target.table;
    Ok(match condition {
        Condition::All => "TRUE".to_owned(),
        Condition::Cmp { column, op, value } => {
            let column = table.get_column(column)?;
            match value.resolve(column, target.access)? {
                ResolvedOperand::One(value) => {
                    format!("{} {} {}", name(column), op.sql_operator(), params.bind(value))
                }
                ResolvedOperand::AnyOf(values) if *op == Comparison::Eq && !values.is_empty() => {
                    params.bind_in(&name(column), column.kind, values)
                }
                ResolvedOperand::AnyOf(_) => "FALSE".to_owned(),
            }
        }
        Condition::In { column, values } => {
            let column = table.get_column(column)?;
            let values = values.iter().map(|value| value.to_value(column)).collect::<Result<_>>()?;
            params.bind_in(&name(column), column.kind, values)
        }
        Condition::Null { column, is_null } => {
            let test = if *is_null { "IS NULL" } else { "IS NOT NULL" };
            format!("{} {test}", name(table.get_column(column)?))
        }
        Condition::And { of } => join_conditions(target, of.iter(), " AND ", name, params)?,
        Condition::Or { of } => join_conditions(target, of.iter(), " OR ", name, params)?,
    })
}
