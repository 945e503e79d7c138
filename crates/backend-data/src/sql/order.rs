//! Orders of rows.

use super::{
    Params, Target,
    expr::{self, Expr},
};
use crate::{
    catalog::Column,
    error::Result,
    query::{OrderTerm, Path, Query},
    store::{Dialect, SortDirection},
};

/// Returns the order of a query with the id as its last term: rows that tie must not move between two pages. The id has
/// the direction of the term before it, so that an index can serve the whole order.
pub(crate) fn stable_order(query: &Query) -> Vec<OrderTerm> {
    with_id_tiebreaker(&query.order)
}

fn with_id_tiebreaker(order: &[OrderTerm]) -> Vec<OrderTerm> {
    let mut terms = order.to_vec();
    if !terms.iter().any(|term| term.path.column == "id") {
        let descending = terms.last().is_some_and(|term| term.descending);
        terms.push(OrderTerm { path: Path::column("id"), descending, nulls_first: false });
    }
    terms
}

pub(super) fn order_by(target: &Target<'_>, terms: &[OrderTerm], params: &mut Params) -> Result<String> {
    let parts: Vec<Expr> =
        terms.iter().map(|term| expr::path_expr(target.table, &term.path, params)).collect::<Result<_>>()?;
    let parts: Vec<String> = parts
        .iter()
        .zip(terms)
        .flat_map(|(expr, term)| directed_terms(expr, target.dialect, term.descending, term.nulls_first))
        .collect();
    Ok(parts.join(", "))
}

/// An expression that rows are ordered by.
pub(super) struct OrderKey {
    pub(super) text: String,
    pub(super) direction: SortDirection,
}

/// Compiles the order of the rows that a write returns, with the id as its last term. `text` returns the expression of
/// a column.
pub(super) fn order_keys(
    target: &Target<'_>,
    order: &[OrderTerm],
    text: &dyn Fn(&Column, &mut Params) -> Result<String>,
    params: &mut Params,
) -> Result<Vec<OrderKey>> {
    let mut keys = Vec::new();
    for term in with_id_tiebreaker(order) {
        let direction = SortDirection { descending: term.descending, nulls_first: term.nulls_first };
        let column = target.table.get_column(&term.path.column)?;
        let expr = expr::path_expr_on(column, text(column, params)?, &term.path, params)?;
        keys.extend(expr.order_terms(target.dialect).into_iter().map(|text| OrderKey { text, direction }));
    }
    Ok(keys)
}

pub(super) fn directed_terms(
    expr: &Expr,
    dialect: Dialect,
    descending: bool,
    nulls_first: bool,
) -> Vec<String> {
    let direction = if descending { "DESC" } else { "ASC" };
    // Always explicit, since the databases have different defaults for nulls.
    let nulls = match (expr.column.nullable, nulls_first) {
        (false, _) => "",
        (true, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
    };
    expr.order_terms(dialect).into_iter().map(|text| format!("{text} {direction}{nulls}")).collect()
}
