//! Differences of schedules, in words.

use kernel::Locale;

use crate::cron::{Change, Interval, Unit};

/// Writes what became of a schedule.
pub(super) fn text(change: Change, locale: Locale) -> String {
    match (change, locale) {
        (Change::Interval { wanted, kept }, Locale::En) => {
            format!("Every {} became every {}.", english(wanted), english(kept))
        }
        (Change::Interval { wanted, kept }, Locale::Ru) => {
            format!("Запуск раз в {} стал запуском раз в {}.", russian(wanted), russian(kept))
        }
        (Change::Interval { wanted, kept }, Locale::Kk) => {
            format!("Әр {} сайын орнына әр {} сайын басталады.", kazakh(wanted), kazakh(kept))
        }
        (Change::Uneven(interval), Locale::En) => {
            let from = match interval.unit {
                Unit::Second | Unit::Minute => "each full hour",
                Unit::Hour => "midnight",
                Unit::Day | Unit::Week => "the first of each month",
                Unit::Month => "January",
            };
            format!("Every {} is counted anew from {from}.", english(interval))
        }
        (Change::Uneven(interval), Locale::Ru) => {
            let from = match interval.unit {
                Unit::Second | Unit::Minute => "с начала каждого часа",
                Unit::Hour => "с полуночи",
                Unit::Day | Unit::Week => "с первого числа месяца",
                Unit::Month => "с января",
            };
            format!("Раз в {}: отсчёт начинается заново {from}.", russian(interval))
        }
        (Change::Uneven(interval), Locale::Kk) => {
            let from = match interval.unit {
                Unit::Second | Unit::Minute => "әр сағаттың басынан",
                Unit::Hour => "түн ортасынан",
                Unit::Day | Unit::Week => "айдың бірінен",
                Unit::Month => "қаңтардан",
            };
            format!("Әр {} сайын: санау {from} қайта басталады.", kazakh(interval))
        }
        (Change::Rules(count), Locale::En) => format!("Of {count} rules the first is kept."),
        (Change::Rules(count), Locale::Ru) => format!("Правил: {count}; сохраняется первое."),
        (Change::Rules(count), Locale::Kk) => format!("{count} ереженің біріншісі ғана сақталады."),
        (Change::Seconds, Locale::En) => {
            "The seconds of the schedule are not kept: it starts at the full minute.".to_owned()
        }
        (Change::Seconds, Locale::Ru) => {
            "Секунды расписания не сохраняются: запуск в начале минуты.".to_owned()
        }
        (Change::Seconds, Locale::Kk) => {
            "Кестенің секундтары сақталмайды: минуттың басында басталады.".to_owned()
        }
    }
}

fn english(Interval { count, unit }: Interval) -> String {
    let unit = match unit {
        Unit::Second => "second",
        Unit::Minute => "minute",
        Unit::Hour => "hour",
        Unit::Day => "day",
        Unit::Week => "week",
        Unit::Month => "month",
    };
    if count == 1 { unit.to_owned() } else { format!("{count} {unit}s") }
}

/// Returns the interval as it follows “раз в”.
fn russian(Interval { count, unit }: Interval) -> String {
    let [one, few, many] = match unit {
        Unit::Second => ["секунду", "секунды", "секунд"],
        Unit::Minute => ["минуту", "минуты", "минут"],
        Unit::Hour => ["час", "часа", "часов"],
        Unit::Day => ["день", "дня", "дней"],
        Unit::Week => ["неделю", "недели", "недель"],
        Unit::Month => ["месяц", "месяца", "месяцев"],
    };
    let form = match (count % 10, count % 100) {
        (_, 11..=14) => many,
        (1, _) => one,
        (2..=4, _) => few,
        _ => many,
    };
    if count == 1 { form.to_owned() } else { format!("{count} {form}") }
}

fn kazakh(Interval { count, unit }: Interval) -> String {
    let unit = match unit {
        Unit::Second => "секунд",
        Unit::Minute => "минут",
        Unit::Hour => "сағат",
        Unit::Day => "күн",
        Unit::Week => "апта",
        Unit::Month => "ай",
    };
    if count == 1 { unit.to_owned() } else { format!("{count} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_interval_names_both() {
        let change = Change::Interval { wanted: Unit::Minute.times(90), kept: Unit::Hour.times(1) };
        assert_eq!(text(change, Locale::En), "Every 90 minutes became every hour.");
        assert_eq!(text(change, Locale::Ru), "Запуск раз в 90 минут стал запуском раз в час.");
        assert_eq!(text(change, Locale::Kk), "Әр 90 минут сайын орнына әр сағат сайын басталады.");
        assert_eq!(russian(Unit::Week.times(2)), "2 недели");
        assert_eq!(russian(Unit::Hour.times(21)), "21 час");
        assert_eq!(russian(Unit::Day.times(12)), "12 дней");
    }
}
