//! Parser of query strings.

use super::{
    Aggregate, MAX_ORDER, MAX_QUERY, MAX_SELECT, OrderTerm, Query, SelectItem,
    logic::{self, QueryBudget},
    path::parse_path,
    scanner::{self, Scanner},
};
use crate::error::{Error, ErrorKind, Quoted, Result};

impl Query {
    /// Parses a query string, percent-encoded and without the `?`, of at most [`MAX_QUERY`] bytes.
    ///
    /// Names of columns are not checked before the query is compiled for a table. `apikey` is skipped, since the
    /// transport reads it. A negative offset is 0.
    ///
    /// # Errors
    /// [`ErrorKind::Range`] for a negative limit, [`ErrorKind::Invalid`] for anything else that does not parse or
    /// exceeds a limit of [this module](crate::query).
    pub fn parse(raw: &str) -> Result<Self> {
        if raw.len() > MAX_QUERY {
            return Err(Error::invalid_request(format!("a query string has at most {MAX_QUERY} bytes")));
        }
        let mut query = Self::default();
        let mut budget = QueryBudget::default();
        let mut seen: Vec<String> = Vec::new();
        for pair in scanner::query_pairs(raw) {
            let (key, value) = pair?;
            match key.as_str() {
                "select" | "order" | "limit" | "offset" | "columns" | "on_conflict" | "cursor" => {
                    if seen.contains(&key) {
                        return Err(Error::invalid_request(format!("`{key}` is given twice")));
                    }
                    query.set_option(&key, &value)?;
                    seen.push(key);
                }
                "and" | "or" | "not.and" | "not.or" => {
                    query.filter.push(logic::parse_tree(&key, &value, &mut budget)?);
                }
                "apikey" => {}
                _ => {
                    let mut scan = Scanner::new(&key);
                    let path = parse_path(&mut scan)?;
                    if !scan.is_empty() {
                        return Err(Error::invalid_request(format!("{} is not a column", Quoted(&key))));
                    }
                    query.filter.push(logic::parse_parameter(path, &value, &mut budget)?);
                }
            }
        }
        Ok(query)
    }

    fn set_option(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "select" => self.select = parse_select(value)?,
            "order" => self.order = parse_order(value)?,
            "limit" => {
                self.limit = Some(u64::try_from(parse_integer(key, value)?).map_err(|_| {
                    Error::new(ErrorKind::Range, "invalid_range", "PGRST103", "the limit may not be negative")
                })?);
            }
            // A negative offset skips nothing.
            "offset" => self.offset = u64::try_from(parse_integer(key, value)?).unwrap_or(0),
            "columns" => self.columns = Some(parse_names(value)?),
            "cursor" => self.cursor = Some(value.to_owned()),
            _ => self.on_conflict = Some(parse_names(value)?),
        }
        Ok(())
    }
}

fn parse_integer(key: &str, value: &str) -> Result<i64> {
    value
        .parse()
        .map_err(|_| Error::invalid_request(format!("`{key}` takes a whole number, not {}", Quoted(value))))
}

fn parse_names(value: &str) -> Result<Vec<String>> {
    let mut scan = Scanner::new(value);
    let mut names = vec![scan.take_name()?];
    while scan.eat(",") {
        names.push(scan.take_name()?);
    }
    if scan.is_empty() { Ok(names) } else { Err(scan.unexpected("`,` and a column")) }
}

fn parse_select(value: &str) -> Result<Vec<SelectItem>> {
    let mut scan = Scanner::new(value);
    let mut items = Vec::new();
    scan.skip_blanks();
    if scan.is_empty() {
        return Ok(items);
    }
    loop {
        if items.len() == MAX_SELECT {
            return Err(Error::invalid_request(format!("`select` has at most {MAX_SELECT} items")));
        }
        items.push(parse_select_item(&mut scan)?);
        scan.skip_blanks();
        if scan.is_empty() {
            return Ok(items);
        }
        if !scan.eat(",") {
            return Err(scan.unexpected("`,` and a column"));
        }
    }
}

fn parse_select_item(scan: &mut Scanner<'_>) -> Result<SelectItem> {
    scan.skip_blanks();
    if scan.rest().starts_with("...") {
        return Err(Error::unsupported("embedding of other tables"));
    }
    if scan.eat("*") {
        return Ok(SelectItem::All);
    }
    let mut ahead = *scan;
    let alias = ahead.take_name().ok().filter(|_| ahead.eat(":") && !ahead.eat(":"));
    if alias.is_some() {
        *scan = ahead;
    }
    let path = parse_path(scan)?;
    if path.steps.is_empty() && scan.eat("()") {
        if path.column != "count" {
            let message = format!("{}() needs a column, as in `amount.sum()`", path.column);
            return Err(Error::invalid_request(message));
        }
        return Ok(SelectItem::Count { alias, cast: parse_cast(scan)? });
    }
    if matches!(scan.peek(), Some('(' | '!')) || path.column.contains('!') {
        return Err(Error::unsupported("embedding of other tables"));
    }
    let first = parse_cast(scan)?;
    let aggregate = if scan.eat(".") { Some(parse_aggregate(scan)?) } else { None };
    let (input_cast, cast) = if aggregate.is_some() { (first, parse_cast(scan)?) } else { (None, first) };
    Ok(SelectItem::Field { alias, path, input_cast, cast, aggregate })
}

fn parse_cast(scan: &mut Scanner<'_>) -> Result<Option<String>> {
    if scan.eat("::") { scan.take_name().map(Some) } else { Ok(None) }
}

fn parse_aggregate(scan: &mut Scanner<'_>) -> Result<Aggregate> {
    let name = scan.take_name()?;
    let aggregate = match name.as_str() {
        "sum" => Aggregate::Sum,
        "avg" => Aggregate::Avg,
        "count" => Aggregate::Count,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        _ => return Err(Error::invalid_request(format!("there is no aggregate {}", Quoted(&name)))),
    };
    if scan.eat("()") { Ok(aggregate) } else { Err(scan.unexpected("`()`")) }
}

fn parse_order(value: &str) -> Result<Vec<OrderTerm>> {
    let mut scan = Scanner::new(value);
    let mut terms = Vec::new();
    scan.skip_blanks();
    if scan.is_empty() {
        return Ok(terms);
    }
    loop {
        if terms.len() == MAX_ORDER {
            return Err(Error::invalid_request(format!("`order` has at most {MAX_ORDER} terms")));
        }
        let path = parse_path(&mut scan)?;
        if scan.eat("(") {
            return Err(Error::unsupported("ordering by another table"));
        }
        let (mut descending, mut nulls_first) = (None, None);
        while scan.eat(".") {
            let word = scan.take_name()?;
            match word.as_str() {
                "asc" if descending.is_none() && nulls_first.is_none() => descending = Some(false),
                "desc" if descending.is_none() && nulls_first.is_none() => descending = Some(true),
                "nullsfirst" if nulls_first.is_none() => nulls_first = Some(true),
                "nullslast" if nulls_first.is_none() => nulls_first = Some(false),
                _ => {
                    let message = format!(
                        "an order is asc or desc, then nullsfirst or nullslast, not {}",
                        Quoted(&word)
                    );
                    return Err(Error::invalid_request(message));
                }
            }
        }
        let descending = descending.unwrap_or(false);
        terms.push(OrderTerm { path, descending, nulls_first: nulls_first.unwrap_or(descending) });
        scan.skip_blanks();
        if scan.is_empty() {
            return Ok(terms);
        }
        if !scan.eat(",") {
            return Err(scan.unexpected("`,` and a column"));
        }
    }
}

#[cfg(test)]
mod tests;
