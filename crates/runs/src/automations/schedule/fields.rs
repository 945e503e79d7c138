//! The five fields of a cron expression, checked before the library reads them.
//!
//! The library puts numbers for names anywhere in an expression, skips empty items and takes a step that is larger than
//! its field. So what it takes and what a person means can differ, and what it refuses it refuses in words of its own.

use std::ops::RangeInclusive;

use kernel::names;

/// Most characters of an item in a refusal.
const MAX_ITEM_CHARS: usize = 32;

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const MONTH_NAMES: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];
const DAY_NAMES: [&str; 7] = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

/// Field of a cron expression, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronField {
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12, or a name.
    Month,
    /// 0 to 7, or a name.
    DayOfWeek,
}

names! {
    CronField {
        Minute = "minute",
        Hour = "hour",
        DayOfMonth = "day of month",
        Month = "month",
        DayOfWeek = "day of week",
    }
}

impl CronField {
    /// Returns the values of the field.
    #[must_use]
    pub fn values(self) -> RangeInclusive<u16> {
        match self {
            Self::Minute => 0..=59,
            Self::Hour => 0..=23,
            Self::DayOfMonth => 1..=31,
            Self::Month => 1..=12,
            // Sunday is 0 and 7.
            Self::DayOfWeek => 0..=7,
        }
    }

    /// Returns the number of different values, which is the largest step.
    #[must_use]
    pub fn size(self) -> u16 {
        match self {
            Self::DayOfWeek => 7,
            other => other.values().end() - other.values().start() + 1,
        }
    }
}

/// The refusal of one item of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {} has an invalid item {item}: {fault:?}", field.as_str())]
pub struct InvalidCronItem {
    /// The field.
    pub field: CronField,
    /// The item, shortened.
    pub item: String,
    /// The fault of the item.
    pub fault: CronFault,
}

/// The fault of an item of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronFault {
    /// There is nothing between two commas.
    Empty,
    /// It is neither a number nor another value of the field.
    Unknown,
    /// It is a name that is written out, such as `Monday`.
    LongName,
    /// It is a name of a value of this other field.
    NameOf(CronField),
    /// The number is not one of the field.
    OutOfRange,
    /// The range begins with the larger value.
    Reversed,
    /// The step is not a number from 1 on.
    InvalidStep,
    /// The step is larger than the field.
    LargeStep,
    /// The step is applied to a single value.
    StepOfValue,
    /// `*` or `?` is a part of a list.
    WildcardInList,
    /// `?` stands in a field that is not about days.
    QuestionMark,
    /// `L` stands in a field that is not about days, or not where such a field has it.
    Last,
    /// `W` stands elsewhere than behind a day of the month.
    NearestWeekday,
    /// `#` stands elsewhere than between a day of the week and a number from 1 to 5.
    Nth,
}

/// Checks the items of all fields.
///
/// # Errors
/// [`InvalidCronItem`] for the first that is not one of its field.
pub(super) fn check(fields: [&str; 5]) -> Result<(), InvalidCronItem> {
    for (field, text) in CronField::ALL.iter().copied().zip(fields) {
        let items: Vec<&str> = text.split(',').collect();
        for item in &items {
            check_item(field, &item.to_ascii_uppercase(), items.len() > 1).map_err(|fault| {
                let item = item.chars().take(MAX_ITEM_CHARS).collect();
                InvalidCronItem { field, item, fault }
            })?;
        }
    }
    Ok(())
}

fn check_item(field: CronField, item: &str, is_in_list: bool) -> Result<(), CronFault> {
    let is_day = matches!(field, CronField::DayOfMonth | CronField::DayOfWeek);
    match item {
        "" => return Err(CronFault::Empty),
        "*" | "?" if is_in_list => return Err(CronFault::WildcardInList),
        "*" => return Ok(()),
        "?" if is_day => return Ok(()),
        _ if item.contains('?') => return Err(CronFault::QuestionMark),
        _ => {}
    }
    if let Some((range, step)) = item.split_once('/') {
        let step = step.parse::<u16>().ok().filter(|step| *step > 0).ok_or(CronFault::InvalidStep)?;
        if range != "*" {
            let (first, last) = range.split_once('-').ok_or(CronFault::StepOfValue)?;
            check_range(field, first, last)?;
        }
        return if step > field.size() { Err(CronFault::LargeStep) } else { Ok(()) };
    }
    if let Some((first, last)) = item.split_once('-') {
        return check_range(field, first, last);
    }
    if let Some((day, nth)) = item.split_once('#') {
        let is_nth = matches!(nth, "1" | "2" | "3" | "4" | "5");
        if field != CronField::DayOfWeek || !is_nth {
            return Err(CronFault::Nth);
        }
        return value(field, day).map(drop);
    }
    match field {
        CronField::DayOfMonth if matches!(item, "L" | "LW") => return Ok(()),
        CronField::DayOfMonth => {
            if let Some(day) = item.strip_suffix('W') {
                return value(field, day).map(drop);
            }
        }
        CronField::DayOfWeek => {
            if let Some(day) = item.strip_suffix('L') {
                return if day.is_empty() { Err(CronFault::Last) } else { value(field, day).map(drop) };
            }
        }
        _ => {}
    }
    value(field, item).map(drop)
}

fn check_range(field: CronField, first: &str, last: &str) -> Result<(), CronFault> {
    let (start, end) = (value(field, first)?, value(field, last)?);
    // Sunday as the end of a week.
    let end = if last == "SUN" && first != "SUN" { 7 } else { end };
    // The library makes a whole week of a range from Sunday to Sunday by name.
    let is_week_of_names = first == "SUN" && last == "SUN";
    if start > end || is_week_of_names { Err(CronFault::Reversed) } else { Ok(()) }
}

/// Returns the number of a single value.
fn value(field: CronField, text: &str) -> Result<u16, CronFault> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = text.parse::<u16>().ok().filter(|number| field.values().contains(number));
        return number.ok_or(CronFault::OutOfRange);
    }
    let position = |names: &[&str]| names.iter().position(|name| *name == text);
    let (month, day) = (position(&MONTHS), position(&DAYS));
    let found = match field {
        CronField::Month => month.map(|index| index + 1),
        CronField::DayOfWeek => day,
        _ => None,
    };
    if let Some(found) = found {
        return Ok(u16::try_from(found).unwrap_or_default());
    }
    let begins = |names: &[&str]| names.iter().any(|name| text.starts_with(name));
    Err(match field {
        _ if month.is_some() => CronFault::NameOf(CronField::Month),
        _ if day.is_some() => CronFault::NameOf(CronField::DayOfWeek),
        CronField::Month if begins(&MONTHS) => CronFault::LongName,
        CronField::DayOfWeek if begins(&DAYS) => CronFault::LongName,
        _ if MONTH_NAMES.contains(&text) => CronFault::NameOf(CronField::Month),
        _ if DAY_NAMES.contains(&text) => CronFault::NameOf(CronField::DayOfWeek),
        _ if text.contains('#') => CronFault::Nth,
        _ if matches!(text, "L" | "LW") || is_number_with(text, 'L') => CronFault::Last,
        _ if text == "W" || is_number_with(text, 'W') => CronFault::NearestWeekday,
        _ => CronFault::Unknown,
    })
}

fn is_number_with(text: &str, suffix: char) -> bool {
    let number = text.strip_suffix(suffix).or_else(|| text.strip_prefix(suffix));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use CronFault::*;
    use CronField::{DayOfMonth, DayOfWeek, Hour, Minute, Month};

    fn fault(text: &str) -> (CronField, CronFault) {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let error = check(fields.try_into().unwrap()).expect_err(text);
        (error.field, error.fault)
    }

    #[test]
    fn what_a_field_does_not_have_is_refused_by_name() {
        for (cron, field, expected) in [
            ("*/90 * * * *", Minute, LargeStep),
            ("*/61 * * * *", Minute, LargeStep),
            ("0 */36 * * *", Hour, LargeStep),
            ("0 0 */45 * *", DayOfMonth, LargeStep),
            ("0 0 1 */13 *", Month, LargeStep),
            ("0 0 * * */8", DayOfWeek, LargeStep),
            ("0-59/100 * * * *", Minute, LargeStep),
            ("*/65536 * * * *", Minute, InvalidStep),
            ("*/0 * * * *", Minute, InvalidStep),
            ("*/ * * * *", Minute, InvalidStep),
            ("*/5/5 * * * *", Minute, InvalidStep),
            ("*/-5 * * * *", Minute, InvalidStep),
            ("5/10 * * * *", Minute, StepOfValue),
            ("/10 * * * *", Minute, StepOfValue),
            ("0 0 * * Monday", DayOfWeek, LongName),
            ("0 0 * * MON-Friday", DayOfWeek, LongName),
            ("0 0 * january *", Month, LongName),
            ("MON * * * *", Minute, NameOf(DayOfWeek)),
            ("0 0 * MON *", Month, NameOf(DayOfWeek)),
            ("0 0 * Monday *", Month, NameOf(DayOfWeek)),
            ("0 0 Monday * *", DayOfMonth, NameOf(DayOfWeek)),
            ("0 0 jan * *", DayOfMonth, NameOf(Month)),
            ("0 0 * * JAN", DayOfWeek, NameOf(Month)),
            ("0 0 * * MONTUE", DayOfWeek, LongName),
            ("0 0 1MON * *", DayOfMonth, Unknown),
            ("60 * * * *", Minute, OutOfRange),
            ("0 24 * * *", Hour, OutOfRange),
            ("0 0 0 * *", DayOfMonth, OutOfRange),
            ("0 0 32W * *", DayOfMonth, OutOfRange),
            ("0 0 1 13 *", Month, OutOfRange),
            ("0 0 * * 8", DayOfWeek, OutOfRange),
            ("99999999999 * * * *", Minute, OutOfRange),
            ("0 22-6 * * *", Hour, Reversed),
            ("0 0 * * FRI-MON", DayOfWeek, Reversed),
            ("0 0 * * SUN-SUN", DayOfWeek, Reversed),
            ("0 9-17-20 * * *", Hour, Unknown),
            ("0,,5 * * * *", Minute, Empty),
            (", * * * *", Minute, Empty),
            ("0, * * * *", Minute, Empty),
            ("*,5 * * * *", Minute, WildcardInList),
            ("? * * * *", Minute, QuestionMark),
            ("0 0 ?/2 * *", DayOfMonth, QuestionMark),
            ("L * * * *", Minute, Last),
            ("0 L * * *", Hour, Last),
            ("0 0 L-3 * *", DayOfMonth, Last),
            ("0 0 * L *", Month, Last),
            ("0 0 * * L", DayOfWeek, Last),
            ("15W * * * *", Minute, NearestWeekday),
            ("0 0 * * 1W", DayOfWeek, NearestWeekday),
            ("0 0 1#2 * *", DayOfMonth, Nth),
            ("0 0 * * MON#6", DayOfWeek, Nth),
            ("0 0 * * MON#0", DayOfWeek, Nth),
            ("0 0 * * MON#", DayOfWeek, Nth),
            ("0 0 * * +MON", DayOfWeek, Unknown),
            ("H * * * *", Minute, Unknown),
            ("* * * * MON;DROP", DayOfWeek, LongName),
            ("٣ * * * *", Minute, Unknown),
            ("0 0 * * ПН", DayOfWeek, Unknown),
            ("5- * * * *", Minute, Unknown),
            ("-5 * * * *", Minute, Unknown),
        ] {
            assert_eq!(fault(cron), (field, expected), "{cron}");
        }
    }

    #[test]
    fn the_item_of_a_refusal_is_short() {
        let error = check([&"x".repeat(100), "*", "*", "*", "*"]).unwrap_err();
        assert_eq!(error.item.len(), MAX_ITEM_CHARS);
    }
}
