//! Times relative to now (ECMA-402, section 17).

use fixed_decimal::{Sign, SignedRoundingMode, UnsignedRoundingMode};
use icu_experimental::relativetime::{RelativeTimeFormatter, RelativeTimeFormatterOptions, options::Numeric};

use super::{parse_locale, parse_number};

/// Writes a time relative to now.
pub(crate) fn relative_time(tag: &str, style: &str, is_auto: bool, unit: &str, text: &str) -> Option<String> {
    let locale = parse_locale(tag)?;
    let numeric = if is_auto { Numeric::Auto } else { Numeric::Always };
    let options = RelativeTimeFormatterOptions::default().with_numeric(numeric);
    macro_rules! formatter {
        ($($style:literal $unit:literal $make:ident,)+) => {
            match (style, unit) {
                $(($style, $unit) => RelativeTimeFormatter::$make((&locale).into(), options),)+
                _ => return None,
            }
        };
    }
    let formatter = formatter! {
        "long" "second" try_new_long_second, "long" "minute" try_new_long_minute, "long" "hour" try_new_long_hour,
        "long" "day" try_new_long_day, "long" "week" try_new_long_week, "long" "month" try_new_long_month,
        "long" "quarter" try_new_long_quarter, "long" "year" try_new_long_year,
        "short" "second" try_new_short_second, "short" "minute" try_new_short_minute, "short" "hour" try_new_short_hour,
        "short" "day" try_new_short_day, "short" "week" try_new_short_week, "short" "month" try_new_short_month,
        "short" "quarter" try_new_short_quarter, "short" "year" try_new_short_year,
        "narrow" "second" try_new_narrow_second, "narrow" "minute" try_new_narrow_minute,
        "narrow" "hour" try_new_narrow_hour, "narrow" "day" try_new_narrow_day, "narrow" "week" try_new_narrow_week,
        "narrow" "month" try_new_narrow_month, "narrow" "quarter" try_new_narrow_quarter,
        "narrow" "year" try_new_narrow_year,
    };
    let mut number = parse_number(text)?;
    // Nothing is neither before nor after now, but in numbers it may have been.
    if is_auto && number.absolute.is_zero() {
        number.set_sign(Sign::None);
    }
    number.round_with_mode(-3, SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand));
    number.absolute.trim_end();
    Some(formatter.ok()?.format(number).to_string())
}
