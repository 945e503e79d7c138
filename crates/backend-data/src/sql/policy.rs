//! What the rules leave a caller of a table: which rows, which columns.
//! See `docs/decisions/0101-evaluate-caller-expressions-after-policies.md`.

use super::{Params, Target, quote_ident};
use crate::{
    access::{Access, Scope},
    catalog::{Column, Table},
    error::{Error, ErrorKind, Result},
    rule::{Action, Condition, Rule},
};

/// How a condition names a column: the row it is about need not be the one that a statement reads.
pub(super) type ColumnNamer<'n> = &'n dyn Fn(&Column) -> String;

fn own_column_name(column: &Column) -> String {
    quote_ident(&column.name)
}

/// Which rows a caller may act on.
pub(super) enum AllowedRows<'a> {
    /// Every one.
    All,
    /// Those that meet one of these; none where there is none.
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

    /// The condition as SQL, or nothing where every row may pass.
    pub(super) fn to_sql(&self, target: &Target<'_>, params: &mut Params) -> Result<Option<String>> {
        self.to_sql_with(target, &own_column_name, params)
    }

    /// The condition on a row whose columns go by other names.
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

/// What a caller sees of a table.
pub(super) struct RowPolicy<'a> {
    is_unrestricted: bool,
    rules: Vec<&'a Rule>,
}

impl<'a> RowPolicy<'a> {
    /// What the caller sees; 404 where that is nothing.
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

    /// What an answer to a write may show: where the caller sees nothing, only ids.
    pub(super) fn for_returning(target: &Target<'a>) -> Self {
        let Target { table, access, .. } = *target;
        let is_unrestricted = match access {
            Access::Owner | Access::Service { .. } => access.has_scope(Scope::RowsRead),
            Access::Visitor | Access::Person(_) => table.public_read,
        };
        let rules = table.rules.iter().filter(|rule| rule.applies_to(access, Action::Read)).collect();
        Self { is_unrestricted, rules }
    }

    /// The rows it may filter and sort by these columns: those of rules that cover every one of them, so that
    /// nobody learns a hidden value by asking for the rows that have it.
    pub(super) fn readable_rows(&self, table: &Table, used: &[&str]) -> Result<AllowedRows<'a>> {
        if self.is_unrestricted {
            return Ok(AllowedRows::All);
        }
        for column in used {
            // A column no rule shows is like one that does not exist.
            if !self.rules.iter().any(|rule| rule.covers_column(column)) {
                return Err(Error::column_not_found(&table.name, column));
            }
        }
        let covering = self.rules.iter().copied();
        Ok(AllowedRows::from_rules(
            covering.filter(|rule| used.iter().all(|column| rule.covers_column(column))),
        ))
    }

    /// The column as the caller sees it: itself, masked where only some rows show it, or nothing.
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
        // Rows come from these very rules: where all of them show the column, every row that comes does.
        if covering.len() == self.rules.len() {
            return Ok(Some(name));
        }
        Ok(Some(match AllowedRows::from_rules(covering.into_iter()).to_sql(target, params)? {
            None => name,
            Some(condition) => format!("CASE WHEN {condition} THEN {name} END"),
        }))
    }

    /// The column as the answer to a write shows it; the row need not be one the caller may read.
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

    /// Whether it is every row and column.
    pub(super) fn is_unrestricted(&self) -> bool {
        self.is_unrestricted
    }

    /// Whether a caller may name this column at all.
    pub(super) fn covers_column(&self, column: &str) -> bool {
        self.is_unrestricted || self.rules.iter().any(|rule| rule.covers_column(column))
    }
}

/// Refuses a caller who may not do this to any row, before a body is read: what is wrong with a body must not tell
/// that a hidden table exists.
pub(crate) fn authorize(target: &Target<'_>, action: Action) -> Result<()> {
    writable_rows(target, action, &[]).map(drop)
}

/// The existing rows that a caller who may insert may also update, with these columns. It knows that the table exists,
/// so that a missing rule is 403.
pub(super) fn mergeable_rows<'a>(target: &Target<'a>, columns: &[&str]) -> Result<AllowedRows<'a>> {
    writable_rows(target, Action::Update, columns).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::forbidden("no rule of this table allows updating rows that exist")
            .with_hint("Insert without `resolution=merge-duplicates`, or add a rule for updates."),
        _ => error,
    })
}

/// The rows a caller may write with these columns; 404 where the table is hidden, 403 where it is only shown.
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
        return Err(Error::forbidden("no rule of this table allows that"));
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

/// A rule's condition as SQL. What the caller lacks binds null, and null passes no comparison.
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
            let value = params.bind(value.resolve(column, target.access)?);
            format!("{} {} {value}", name(column), op.sql_operator())
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
