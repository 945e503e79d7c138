//! Lists in a sentence (ECMA-402, section 13).

use std::fmt;

use icu_list::{
    ListFormatter,
    options::{ListFormatterOptions, ListLength},
};
use writeable::{PartsWrite, Writeable as _};

use super::parse_locale;

/// Returns what stands before the first of the items, between each two and after the last one.
pub(crate) fn list_separators(tag: &str, kind: &str, style: &str, items: &[String]) -> Option<Vec<String>> {
    let options = ListFormatterOptions::default().with_length(match style {
        "long" => ListLength::Wide,
        "short" => ListLength::Short,
        _ => ListLength::Narrow,
    });
    let locale = parse_locale(tag)?;
    let formatter = match kind {
        "conjunction" => ListFormatter::try_new_and((&locale).into(), options),
        "disjunction" => ListFormatter::try_new_or((&locale).into(), options),
        _ => ListFormatter::try_new_unit((&locale).into(), options),
    };
    let mut separators = Separators { texts: vec![String::new()], is_in_item: false };
    formatter.ok()?.format(items.iter()).write_to_parts(&mut separators).ok()?;
    Some(separators.texts)
}

/// Collects what stands between the items of a list.
struct Separators {
    texts: Vec<String>,
    is_in_item: bool,
}

impl fmt::Write for Separators {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !self.is_in_item
            && let Some(last) = self.texts.last_mut()
        {
            last.push_str(text);
        }
        Ok(())
    }
}

impl PartsWrite for Separators {
    type SubPartsWrite = Self;

    fn with_part(
        &mut self,
        part: writeable::Part,
        mut write: impl FnMut(&mut Self::SubPartsWrite) -> fmt::Result,
    ) -> fmt::Result {
        if part != icu_list::parts::ELEMENT {
            return write(self);
        }
        self.is_in_item = true;
        write(self)?;
        self.is_in_item = false;
        self.texts.push(String::new());
        Ok(())
    }
}
