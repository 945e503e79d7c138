//! The `Prefer` header (RFC 7240) with the preferences of PostgREST.

use crate::error::{Error, ErrorKind, Quoted, Result};

/// The preferences of a request. Of two that contradict each other, the first one counts (RFC 7240, section 2).
///
/// ```
/// use backend_data::{Count, Prefer, Return};
///
/// let prefer = Prefer::parse("return=minimal, count=exact")?;
/// assert_eq!((prefer.returns, prefer.count), (Some(Return::Minimal), Some(Count::Exact)));
/// # Ok::<(), backend_data::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefer {
    /// `return=`: the body of the response to a write.
    pub returns: Option<Return>,
    /// `count=`: the way in which matching rows are counted.
    pub count: Option<Count>,
    /// `resolution=`: the treatment of rows that exist, which makes an insert an upsert.
    pub resolution: Option<Resolution>,
    /// `missing=default`: a column of `columns` that a row leaves out gets its default rather than null.
    pub missing_default: bool,
    /// `handling=strict`: an unknown preference is an error.
    pub strict: bool,
    /// `handling=lenient`: an unknown preference is ignored (default).
    pub lenient: bool,
    /// `max-affected=`: maximum number of rows that a write touches. It applies with `handling=strict` only.
    pub max_affected: Option<u64>,
    /// `timezone=UTC`. Times are always in UTC, so no other time zone is accepted.
    pub utc: bool,
}

/// The body of the response to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// The rows that were written.
    Representation,
    /// No body.
    Minimal,
    /// No body, but the `Location` of a row that was inserted.
    HeadersOnly,
}

/// The way in which matching rows are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// An exact count, which takes longer the more rows match.
    Exact,
    /// The estimate of PostgreSQL's planner; on SQLite the same as [`Count::Estimated`].
    Planned,
    /// An exact count up to about 10,000 rows, an estimate beyond.
    Estimated,
}

/// The treatment of existing rows by an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Updates the existing row.
    MergeDuplicates,
    /// Leaves the existing row as it is.
    IgnoreDuplicates,
}

impl Prefer {
    /// Parses the values of all `Prefer` headers, joined with commas. Unknown preferences are ignored.
    ///
    /// # Errors
    /// With `handling=strict`, an unknown preference is [`ErrorKind::Invalid`] (PGRST122).
    pub fn parse(header: &str) -> Result<Self> {
        let mut prefer = Self::default();
        let mut unknown = Vec::new();
        for item in header.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            if !prefer.apply(item) {
                unknown.push(item);
            }
        }
        match unknown.first() {
            Some(item) if prefer.strict => {
                let message = format!("unknown preference {}", Quoted(item));
                Err(Error::new(ErrorKind::Invalid, "invalid_preference", "PGRST122", message)
                    .with_details(format!("Invalid preferences: {}", Quoted(&unknown.join(", ")))))
            }
            _ => Ok(prefer),
        }
    }

    /// Applies one preference; returns false if it is unknown. The first of a kind counts (RFC 7240, section 2).
    fn apply(&mut self, item: &str) -> bool {
        fn first<T>(slot: &mut Option<T>, value: T) -> bool {
            slot.get_or_insert(value);
            true
        }
        match item {
            "return=representation" => first(&mut self.returns, Return::Representation),
            "return=minimal" => first(&mut self.returns, Return::Minimal),
            "return=headers-only" => first(&mut self.returns, Return::HeadersOnly),
            "count=exact" => first(&mut self.count, Count::Exact),
            "count=planned" => first(&mut self.count, Count::Planned),
            "count=estimated" => first(&mut self.count, Count::Estimated),
            "resolution=merge-duplicates" => first(&mut self.resolution, Resolution::MergeDuplicates),
            "resolution=ignore-duplicates" => first(&mut self.resolution, Resolution::IgnoreDuplicates),
            "missing=default" => {
                self.missing_default = true;
                true
            }
            "missing=null" => true,
            "handling=lenient" => {
                self.lenient = !self.strict;
                true
            }
            "timezone=UTC" | "timezone=Etc/UTC" => {
                self.utc = true;
                true
            }
            "handling=strict" => {
                self.strict = !self.lenient;
                true
            }
            _ => match item.strip_prefix("max-affected=").map(str::parse::<u64>) {
                Some(Ok(most)) => first(&mut self.max_affected, most),
                _ => false,
            },
        }
    }

    /// Returns the value of `Preference-Applied` (RFC 7240, section 3), or `None` if no preference was applied.
    #[must_use]
    pub fn preference_applied(&self) -> Option<String> {
        let mut items = Vec::new();
        items.extend(self.resolution.map(|resolution| match resolution {
            Resolution::MergeDuplicates => "resolution=merge-duplicates".to_owned(),
            Resolution::IgnoreDuplicates => "resolution=ignore-duplicates".to_owned(),
        }));
        items.extend(self.missing_default.then(|| "missing=default".to_owned()));
        items.extend(self.returns.map(|returns| match returns {
            Return::Representation => "return=representation".to_owned(),
            Return::Minimal => "return=minimal".to_owned(),
            Return::HeadersOnly => "return=headers-only".to_owned(),
        }));
        items.extend(self.count.map(|count| match count {
            Count::Exact => "count=exact".to_owned(),
            Count::Planned => "count=planned".to_owned(),
            Count::Estimated => "count=estimated".to_owned(),
        }));
        items.extend(self.utc.then(|| "timezone=UTC".to_owned()));
        items.extend(self.strict.then(|| "handling=strict".to_owned()));
        items.extend(self.lenient.then(|| "handling=lenient".to_owned()));
        items.extend(self.max_affected.filter(|_| self.strict).map(|most| format!("max-affected={most}")));
        (!items.is_empty()).then(|| items.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_are_read_and_echoed() {
        let prefer = Prefer::parse(
            "return=minimal, count=exact,resolution=merge-duplicates, return=representation, x=y",
        )
        .unwrap();
        assert_eq!(prefer.returns, Some(Return::Minimal));
        assert_eq!(
            prefer.preference_applied().as_deref(),
            Some("resolution=merge-duplicates, return=minimal, count=exact")
        );
        let strict = Prefer::parse("handling=strict, max-affected=5").unwrap();
        assert_eq!((strict.strict, strict.max_affected), (true, Some(5)));
        assert_eq!(Prefer::parse("handling=strict, x=y").unwrap_err().pgrst_code(), "PGRST122");
        let lenient = Prefer::parse("handling=lenient, x=y, max-affected=1").unwrap();
        assert_eq!(lenient.preference_applied().as_deref(), Some("handling=lenient"));
        assert_eq!(Prefer::parse("").unwrap().preference_applied(), None);
    }
}
