//! Words of refused cron expressions.

use runs::automations::schedule::{CronFault, CronField, InvalidCronItem};

/// Returns the rule that an item breaks, as the rest of a sentence about the expression.
pub(super) fn rule(InvalidCronItem { field, item, fault }: &InvalidCronItem) -> String {
    let values = match field {
        CronField::Month => "1 to 12 or JAN to DEC".to_owned(),
        CronField::DayOfWeek => "0 to 7 or SUN to SAT".to_owned(),
        other => format!("{} to {}", other.values().start(), other.values().end()),
    };
    let advice = match fault {
        CronFault::Empty => "has an empty item: put a value between two commas".to_owned(),
        CronFault::Unknown | CronFault::OutOfRange => format!("takes {values}"),
        CronFault::LongName => "takes names of three letters, such as JAN or MON".to_owned(),
        CronFault::NameOf(other) => {
            let place = if *other == CronField::Month { "fourth" } else { "fifth" };
            format!("takes {values}; the {} is the {place} field", other.as_str())
        }
        CronFault::Reversed => {
            "takes ranges that begin with the smaller value: split one that goes over the end, such as 22-23,0-6"
                .to_owned()
        }
        CronFault::InvalidStep | CronFault::LargeStep => {
            format!("takes steps from 1 to {}, such as */2", field.size())
        }
        CronFault::StepOfValue => {
            format!("takes steps of * or of a range, such as */2 or {}/2", range(*field))
        }
        CronFault::WildcardInList => "takes * or ? alone, not in a list".to_owned(),
        CronFault::QuestionMark => {
            "is wrong: ? stands for any day, alone in the day of month or the day of week".to_owned()
        }
        CronFault::Last => {
            "is wrong: L is the last day in the day of month, and stands behind a day of the week, such as 5L".to_owned()
        }
        CronFault::NearestWeekday => {
            "is wrong: W stands behind a day of the month, such as 15W, or behind L".to_owned()
        }
        CronFault::Nth => {
            "is wrong: # stands between a day of the week and a number from 1 to 5, such as MON#1".to_owned()
        }
    };
    if item.is_empty() {
        return format!("is not valid: the {} {advice}", field.as_str());
    }
    format!("is not valid at `{item}`: the {} {advice}", field.as_str())
}

fn range(field: CronField) -> String {
    format!("{}-{}", field.values().start(), field.values().end())
}

#[cfg(test)]
mod tests {
    use kernel::Timestamp;
    use runs::automations::schedule::Schedule;

    use crate::Problem;

    #[test]
    fn refused_expressions_name_the_item_and_what_to_write() {
        for (cron, says) in [
            ("*/90 * * * *", "`*/90`: the minute takes steps from 1 to 60"),
            ("0 0 * * Monday", "`Monday`: the day of week takes names of three letters"),
            (
                "0 0 Monday * *",
                "`Monday`: the day of month takes 1 to 31; the day of week is the fifth field",
            ),
            (
                "0 0 * * JAN",
                "`JAN`: the day of week takes 0 to 7 or SUN to SAT; the month is the fourth field",
            ),
            ("61 * * * *", "`61`: the minute takes 0 to 59"),
            ("0 22-6 * * *", "`22-6`: the hour takes ranges that begin with the smaller value"),
            ("0 5/2 * * *", "`5/2`: the hour takes steps of * or of a range, such as */2 or 0-23/2"),
            ("0,,5 * * * *", "the minute has an empty item"),
            ("L * * * *", "`L`: the minute is wrong: L is"),
            ("@daily", "must have five fields"),
            ("0 0 31 2 *", "must fire at some time"),
        ] {
            let problem = Problem::from(Schedule::parse(cron, None).unwrap_err());
            assert!(problem.message.contains(says), "{cron}: {}", problem.message);
            assert!(problem.message.starts_with("`trigger.cron`"), "{}", problem.message);
        }
    }

    #[test]
    fn an_expression_that_was_stored_before_the_rules_still_fires() {
        let hourly = Schedule::from_stored("*/90 * * * *", None).unwrap();
        assert!(hourly.next_after(Timestamp::UNIX_EPOCH).is_some());
    }
}
