//! The first record of a CSV, which names the columns, and the rows of a CSV body.

use super::{CreatedAt, IgnoredColumns};
use crate::{
    catalog::Table,
    csv,
    engine::body::RowDefaults,
    error::{Error, Quoted, Result},
    sql::InsertRows,
    value::Value,
};

/// A field of the first record of a CSV.
#[derive(Clone, Copy, PartialEq)]
enum HeaderField {
    /// Position of its column.
    Column(usize),
    /// Its values are left out.
    Skipped,
    /// It has no name. Spreadsheets leave such columns behind.
    Unnamed,
}

/// The first record of a CSV.
pub(crate) struct CsvHeader {
    fields: Vec<HeaderField>,
    /// Number of fields up to the last one that has a name. Spreadsheets leave out separators behind the last value of
    /// a row, so that a row need not have the unnamed fields behind it.
    named_width: usize,
    created_at: CreatedAt,
    /// The columns that are left out whatever the rows have.
    ignored: IgnoredColumns,
}

impl CsvHeader {
    pub(crate) fn new(
        table: &Table,
        record: Vec<Option<String>>,
        named: Option<&[String]>,
        created_at: CreatedAt,
    ) -> Result<Self> {
        let is_single = record.len() == 1;
        let mut fields = Vec::with_capacity(record.len());
        let mut ignored = IgnoredColumns::default();
        for (at, name) in record.into_iter().enumerate() {
            let Some(name) = name.filter(|name| !name.trim().is_empty()) else {
                fields.push(HeaderField::Unnamed);
                continue;
            };
            if named.is_some_and(|named| !named.contains(&name)) {
                fields.push(HeaderField::Skipped);
                continue;
            }
            let column = created_at.find_column(table, &name).map_err(|error| match csv::OTHER_SEPARATORS
                .into_iter()
                .find(|separator| name.contains(*separator))
            {
                Some(separator) if is_single => csv::separated_otherwise(separator),
                _ => error,
            })?;
            let position =
                column.and_then(|column| table.columns.iter().position(|other| other.name == column.name));
            let field = position.map_or(HeaderField::Skipped, HeaderField::Column);
            if field != HeaderField::Skipped && fields.contains(&field) {
                return Err(Error::invalid_body(format!("the column {} appears twice", Quoted(&name))));
            }
            if field == HeaderField::Skipped {
                ignored.0.insert(at, name);
            }
            fields.push(field);
        }
        let last_named = fields.iter().rposition(|field| *field != HeaderField::Unnamed);
        let last_named = last_named
            .ok_or_else(|| Error::invalid_body("the first line of the CSV must name the columns"))?;
        Ok(Self { fields, named_width: last_named + 1, created_at, ignored })
    }

    /// Returns the columns that are left out whatever the rows have.
    pub(crate) fn ignored_columns(&self) -> IgnoredColumns {
        self.ignored.clone()
    }

    /// Returns the meaning of a record of white space.
    pub(crate) fn white_space(&self) -> csv::WhiteSpace {
        if self.named_width > 1 { csv::WhiteSpace::Blank } else { csv::WhiteSpace::Value }
    }

    /// Returns the names of the columns.
    pub(crate) fn given_columns<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        let columns = self.fields.iter().filter_map(|field| match field {
            HeaderField::Column(position) => table.columns.get(*position),
            HeaderField::Skipped | HeaderField::Unnamed => None,
        });
        columns.map(|column| column.name.as_str()).collect()
    }

    /// Returns the values of one record in the order of the table's columns, and adds the unnamed columns that have one.
    pub(crate) fn values(
        &self,
        table: &Table,
        record: &[Option<String>],
        fill: &RowDefaults<'_>,
        ignored: &mut IgnoredColumns,
    ) -> Result<Vec<Value>> {
        let has_text = |field: &Option<String>| field.as_ref().is_some_and(|text| !text.is_empty());
        // Spreadsheets write separators up to the widest row, so that what follows the last column is empty.
        let is_short = record.len() < self.named_width;
        if is_short || record.iter().skip(self.fields.len()).any(has_text) {
            let expected = if is_short { self.named_width } else { self.fields.len() };
            let message = format!("a row of the CSV has {} fields instead of {expected}", record.len());
            return Err(Error::invalid_body(message));
        }
        let mut slots: Vec<Option<Value>> = vec![None; table.columns.len()];
        for (at, (field, header)) in record.iter().zip(&self.fields).enumerate() {
            let position = match header {
                HeaderField::Column(position) => *position,
                // The response to an insert does not say what was left out.
                HeaderField::Unnamed if has_text(field) && self.created_at == CreatedAt::Refuse => {
                    let number = at + 1;
                    let message =
                        format!("column {number} of the CSV has a value and no name in the first line");
                    return Err(Error::invalid_body(message));
                }
                HeaderField::Unnamed if has_text(field) => {
                    ignored.add_unnamed(at);
                    continue;
                }
                HeaderField::Skipped | HeaderField::Unnamed => continue,
            };
            let Some((at, column)) = table.columns.get(position).map(|column| (position, column)) else {
                continue;
            };
            let value = match field {
                // A row without an id gets one.
                None if column.name == "id" => continue,
                None => Value::null_for(column)?,
                Some(text) => Value::from_text(column, text)?,
            };
            if let Some(slot) = slots.get_mut(at) {
                *slot = Some(value);
            }
        }
        fill.fill_row(&table.columns, slots)
    }
}

/// Parses the rows of an insert as CSV. The first record names the columns.
pub(crate) fn parse_insert_csv<'t>(
    table: &'t Table,
    body: &[u8],
    named: Option<&[String]>,
    most: usize,
    fill: &RowDefaults<'_>,
) -> Result<InsertRows<'t>> {
    let text = std::str::from_utf8(body).map_err(|_| Error::invalid_body("the body must be CSV in UTF-8"))?;
    let mut records = csv::RecordReader::new(text);
    let header = records
        .next()
        .ok_or_else(|| Error::invalid_body("the first line of the CSV must name the columns"))??;
    let line = header.line;
    let header = CsvHeader::new(table, header.fields, named, CreatedAt::Refuse)
        .map_err(|error| error.in_line(line))?;
    records.set_white_space(header.white_space());
    let mut values = Vec::new();
    for record in records {
        if values.len() == most {
            return Err(Error::invalid_body(format!("more than {most} rows")));
        }
        let csv::Record { line, fields } = record?;
        let read = header.values(table, &fields, fill, &mut IgnoredColumns::default());
        values.push(read.map_err(|error| error.in_line(line))?);
    }
    Ok(InsertRows {
        columns: table.columns.iter().collect(),
        given: header.given_columns(table),
        rows: values,
    })
}
