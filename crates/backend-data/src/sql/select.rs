//! Select lists: columns, parts of documents, casts and aggregates.

use std::collections::HashMap;

use super::{
    Params, Target,
    expr::{self, Expr},
    policy::RowPolicy,
};
use crate::{
    catalog::{Column, ColumnType},
    error::{Error, Quoted, Result},
    output::OutputColumn,
    query::{Aggregate, Key, MAX_SAME_COLUMN, Path, SelectItem},
    store::Dialect,
};

/// A compiled select list.
pub(super) struct SelectList {
    /// The SQL of the list.
    pub(super) columns: String,
    /// The columns of the result.
    pub(super) output: Vec<OutputColumn>,
    /// The columns that rows are grouped by if there are aggregates.
    pub(super) groups: Vec<GroupColumn>,
}

pub(super) struct GroupColumn {
    pub(super) position: usize,
    pub(super) path: Path,
    pub(super) column: Column,
}

pub(super) fn select_list(
    target: &Target<'_>,
    policy: &RowPolicy<'_>,
    select: &[SelectItem],
    params: &mut Params,
) -> Result<SelectList> {
    let visible = |column: &Column, params: &mut Params| policy.column_expr(target, column, params);
    select_list_with(target, policy, select, params, visible)
}

pub(super) fn is_aggregated(select: &[SelectItem]) -> bool {
    select
        .iter()
        .any(|item| matches!(item, SelectItem::Count { .. } | SelectItem::Field { aggregate: Some(_), .. }))
}

pub(super) fn reject_aggregates(select: &[SelectItem]) -> Result<()> {
    if is_aggregated(select) {
        return Err(Error::invalid_request("aggregates are allowed only when listing rows"));
    }
    Ok(())
}

pub(super) fn select_list_with(
    target: &Target<'_>,
    policy: &RowPolicy<'_>,
    select: &[SelectItem],
    params: &mut Params,
    visible: impl Fn(&Column, &mut Params) -> Result<Option<String>>,
) -> Result<SelectList> {
    let (table, dialect) = (target.table, target.dialect);
    let mut names: Vec<String> = Vec::new();
    let mut columns = String::new();
    let mut output = Vec::new();
    let mut groups = Vec::new();
    let mut push = |name: &str, expr: &Expr| {
        if !columns.is_empty() {
            columns.push_str(", ");
        }
        columns.push_str(&expr.text);
        columns.push_str(&format!(" AS \"c{}\"", output.len()));
        output.push(OutputColumn::new(name, expr.column.kind));
        names.push(name.to_owned());
        output.len() - 1
    };
    let mut same: HashMap<&str, usize> = HashMap::new();
    let everything = [SelectItem::All];
    for item in if select.is_empty() { &everything } else { select } {
        match item {
            SelectItem::All => {
                for column in &table.columns {
                    if let Some(text) = visible(column, params)? {
                        let at = push(&column.name, &Expr { text, column: column.clone() });
                        groups.push(GroupColumn {
                            position: at,
                            path: Path::column(&column.name),
                            column: column.clone(),
                        });
                    }
                }
            }
            SelectItem::Field { alias, path, input_cast, cast, aggregate } => {
                let column = table.get_column(&path.column)?;
                let shown = same.entry(&column.name).or_default();
                *shown += 1;
                if *shown > MAX_SAME_COLUMN {
                    let name = Quoted(&column.name);
                    let message =
                        format!("`select` shows the column {name} more than {MAX_SAME_COLUMN} times");
                    return Err(Error::invalid_request(message)
                        .with_hint("Select the whole column, and extract the parts in the client."));
                }
                let text = if policy.covers_column(&column.name) { visible(column, params)? } else { None };
                let Some(text) = text else {
                    return Err(Error::column_not_found(&table.name, &column.name));
                };
                let mut expr = expr::path_expr_on(column, text, path, params)?;
                if let Some(input_cast) = input_cast {
                    expr = expr.cast(input_cast, dialect)?;
                }
                let mut name = alias.as_deref().unwrap_or_else(|| default_alias(path));
                if let Some(aggregate) = aggregate {
                    expr = aggregate_expr(expr, *aggregate, dialect)?;
                    name = alias.as_deref().unwrap_or_else(|| aggregate.name());
                }
                if let Some(cast) = cast {
                    expr = expr.cast(cast, dialect)?;
                }
                let at = push(name, &expr);
                if aggregate.is_none() {
                    // After a cast, the value is no longer that of the path.
                    let path = if cast.is_some() { Path::column("") } else { path.clone() };
                    groups.push(GroupColumn { position: at, path, column: expr.column });
                }
            }
            SelectItem::Count { alias, cast } => {
                let column = Column {
                    name: "count".into(),
                    kind: ColumnType::Integer,
                    nullable: false,
                    system: false,
                    default: None,
                };
                let mut expr = Expr { text: "count(*)".into(), column };
                if let Some(cast) = cast {
                    expr = expr.cast(cast, dialect)?;
                }
                push(alias.as_deref().unwrap_or("count"), &expr);
            }
        }
    }
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid_request(format!("`select` names {} twice", Quoted(&twice[0]))));
    }
    Ok(SelectList { columns, output, groups })
}

/// Returns the last name in a path: that of a member, or of the column.
fn default_alias(path: &Path) -> &str {
    let names = path.steps.iter().rev().find_map(|step| match &step.key {
        Key::Name(name) => Some(name.as_str()),
        Key::Index(_) => None,
    });
    names.unwrap_or(&path.column)
}

impl Aggregate {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Count => "count",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// Compiles an aggregate of an expression.
fn aggregate_expr(expr: Expr, aggregate: Aggregate, dialect: Dialect) -> Result<Expr> {
    use ColumnType::{Boolean, Integer, Json, Real};
    let Expr { text, column } = expr;
    let name = aggregate.name();
    let kind = match (aggregate, column.kind) {
        (Aggregate::Count, _) => Integer,
        (Aggregate::Sum, kind @ (Integer | Real)) => kind,
        (Aggregate::Avg, Integer | Real) => Real,
        (Aggregate::Min | Aggregate::Max, kind) if !matches!(kind, Boolean | Json) => kind,
        (_, kind) => {
            let message =
                format!("{name} cannot aggregate {}, which is {}", Quoted(&column.name), kind.as_str());
            return Err(Error::invalid_value(message)
                .with_hint("Cast a value of a document first, as in `meta->price::real.sum()`."));
        }
    };
    let text = match (aggregate, column.kind, dialect) {
        // A sum that is too large for the type is an error on either database.
        (Aggregate::Sum, Integer, Dialect::Postgres) => format!("sum({text})::bigint"),
        // SQLite's `avg` divides floating point numbers too.
        (Aggregate::Avg, Integer, Dialect::Postgres) => {
            format!("(sum({text})::float8 / nullif(count({text}), 0))")
        }
        _ => format!("{name}({text})"),
    };
    Ok(Expr {
        text,
        column: Column { name: name.to_owned(), kind, nullable: true, system: false, default: None },
    })
}
