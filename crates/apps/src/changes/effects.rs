//! Effects of approved plans outside of versions. A rollback undoes those on schedules, and names those that stay.

use std::collections::BTreeMap;

use kernel::{
    Locale,
    authority::Sharing,
    id::{AutomationId, ChangeId},
};
use serde::{Deserialize, Serialize};

use crate::manifest::ManifestTrigger;

/// The schedule of an automation, and whether it is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleState {
    /// Cron expression.
    pub cron: String,
    /// IANA time zone.
    pub timezone: String,
    /// True if the automation is active.
    pub is_active: bool,
}

/// Something that an approved plan changed outside of versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PlanEffect {
    /// It moved, paused or started a schedule.
    Schedule {
        /// Automation.
        automation: AutomationId,
        /// State before.
        before: ScheduleState,
        /// State after.
        after: ScheduleState,
    },
    /// It changed the retries of an automation.
    Retries {
        /// Automation.
        automation: AutomationId,
        /// Most retries before.
        before: u8,
        /// Most retries after.
        after: u8,
    },
    /// It shared the app in another way.
    Sharing {
        /// Sharing before.
        before: Sharing,
        /// Sharing after.
        after: Sharing,
    },
    /// It renamed the app.
    Name {
        /// Name before.
        before: String,
        /// Name after.
        after: String,
    },
}

/// The effects of an approved plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeEffects {
    /// Change.
    pub change: ChangeId,
    /// Number of the version that was current after it.
    pub version_number: u32,
    /// Effects, in order.
    pub effects: Vec<PlanEffect>,
}

/// Returns the schedules that are undone, with the state that each goes back to. `current` are the states as they are now; one
/// that somebody has changed since stays. The plans are newest first.
#[must_use]
pub fn undone_schedules(
    plans: &[ChangeEffects],
    current: &BTreeMap<AutomationId, ScheduleState>,
) -> BTreeMap<AutomationId, ScheduleState> {
    let mut states = current.clone();
    for effect in plans.iter().flat_map(|plan| plan.effects.iter().rev()) {
        if let PlanEffect::Schedule { automation, before, after } = effect
            && let Some(state) = states.get_mut(automation)
            && state == after
        {
            state.clone_from(before);
        }
    }
    states.retain(|automation, state| current.get(automation) != Some(state));
    states
}

/// Returns `true` if a manifest declares the schedule of an automation.
#[must_use]
pub fn declares_schedule(triggers: &[ManifestTrigger], state: &ScheduleState) -> bool {
    triggers.iter().any(|trigger| match trigger {
        ManifestTrigger::Schedule { cron, timezone } => {
            let same_time =
                cron.as_ref().is_none_or(|cron| cron.split_whitespace().eq(state.cron.split_whitespace()));
            same_time && timezone.as_ref().is_none_or(|timezone| *timezone == state.timezone)
        }
        _ => false,
    })
}

/// The effect of a rollback on an automation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutomationMove {
    /// It is paused.
    Paused,
    /// Its schedule is the earlier one again.
    Moved,
    /// It is active again.
    Started,
}

kernel::names! {
    AutomationMove {
        Paused = "paused",
        Moved = "moved",
        Started = "started",
    }
}

/// An automation that a rollback paused, moved or started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedAutomation {
    /// Automation.
    pub id: AutomationId,
    /// Display name.
    pub name: String,
    /// Effect on it.
    pub change: AutomationMove,
    /// Its schedule now, as a cron expression and a time zone; none for other triggers.
    pub schedule: Option<(String, String)>,
}

/// Something that an approved plan changed and that a rollback leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remaining {
    /// The sharing of the app.
    Sharing(Sharing),
    /// The name of the app.
    Name(String),
    /// The retries of an automation, by its name.
    Retries(String, u8),
    /// The value of a secret that the version does not declare.
    Secret(String),
}

impl Remaining {
    /// Returns the name of what remains, as on the wire.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        match self {
            Self::Sharing(_) => "sharing",
            Self::Name(_) => "name",
            Self::Retries(..) => "retries",
            Self::Secret(_) => "secret",
        }
    }

    /// Describes what remains in a sentence.
    #[must_use]
    pub fn describe(&self, locale: Locale) -> String {
        let sharing = |sharing: Sharing| match (sharing, locale) {
            (Sharing::Private, Locale::En) => "private",
            (Sharing::Team, Locale::En) => "shared with members and builders",
            (Sharing::Workspace, Locale::En) => "shared with the whole workspace",
            (Sharing::Private, Locale::Ru) => "личным",
            (Sharing::Team, Locale::Ru) => "открытым участникам и разработчикам",
            (Sharing::Workspace, Locale::Ru) => "открытым всему рабочему пространству",
            (Sharing::Private, Locale::Kk) => "жеке",
            (Sharing::Team, Locale::Kk) => "мүшелер мен құрастырушыларға ашық",
            (Sharing::Workspace, Locale::Kk) => "бүкіл жұмыс кеңістігіне ашық",
        };
        match (self, locale) {
            (Self::Sharing(it), Locale::En) => format!("The app stays {}.", sharing(*it)),
            (Self::Sharing(it), Locale::Ru) => format!("Приложение остаётся {}.", sharing(*it)),
            (Self::Sharing(it), Locale::Kk) => format!("Қолданба {} болып қалады.", sharing(*it)),
            (Self::Name(name), Locale::En) => format!("The app is still called \"{name}\"."),
            (Self::Name(name), Locale::Ru) => format!("Название остаётся прежним: «{name}»."),
            (Self::Name(name), Locale::Kk) => format!("Атауы «{name}» болып қалады."),
            (Self::Retries(name, retries), Locale::En) => {
                format!("Failed runs of the automation \"{name}\" are still retried at most {retries} times.")
            }
            (Self::Retries(name, retries), Locale::Ru) => {
                format!("Повторы у автоматизации «{name}» остаются: не больше {retries}.")
            }
            (Self::Retries(name, retries), Locale::Kk) => {
                format!("«{name}» автоматтандыруының қайталаулары қалады: ең көбі {retries}.")
            }
            (Self::Secret(name), Locale::En) => {
                format!("The secret {name} keeps its value, although this version does not use it.")
            }
            (Self::Secret(name), Locale::Ru) => {
                format!("Секрет {name} сохраняет значение, хотя эта версия его не использует.")
            }
            (Self::Secret(name), Locale::Kk) => {
                format!("{name} құпиясының мәні сақталады, бірақ бұл нұсқа оны қолданбайды.")
            }
        }
    }
}

impl MovedAutomation {
    /// Describes what became of the automation in a sentence.
    #[must_use]
    pub fn describe(&self, locale: Locale) -> String {
        let name = &self.name;
        let (cron, timezone) = self.schedule.clone().unwrap_or_default();
        match (self.change, locale) {
            (AutomationMove::Paused, Locale::En) => format!("The automation \"{name}\" is paused."),
            (AutomationMove::Paused, Locale::Ru) => format!("Автоматизация «{name}» приостановлена."),
            (AutomationMove::Paused, Locale::Kk) => format!("«{name}» автоматтандыруы кідіртілді."),
            (AutomationMove::Moved, Locale::En) => {
                format!("The automation \"{name}\" runs by the schedule {cron} in {timezone} again.")
            }
            (AutomationMove::Moved, Locale::Ru) => {
                format!("Автоматизация «{name}» снова работает по расписанию {cron}, {timezone}.")
            }
            (AutomationMove::Moved, Locale::Kk) => {
                format!("«{name}» автоматтандыруы қайтадан {cron} кестесімен істейді, {timezone}.")
            }
            (AutomationMove::Started, Locale::En) => format!("The automation \"{name}\" is active again."),
            (AutomationMove::Started, Locale::Ru) => format!("Автоматизация «{name}» снова включена."),
            (AutomationMove::Started, Locale::Kk) => format!("«{name}» автоматтандыруы қайта қосылды."),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;

    fn state(cron: &str, is_active: bool) -> ScheduleState {
        ScheduleState { cron: cron.to_owned(), timezone: "UTC".to_owned(), is_active }
    }

    fn plan(version_number: u32, before: ScheduleState, after: ScheduleState) -> ChangeEffects {
        let effect = PlanEffect::Schedule { automation: id(1), before, after };
        ChangeEffects { change: id(9), version_number, effects: vec![effect] }
    }

    #[test]
    fn plans_are_undone_from_the_newest_as_long_as_nobody_touched_the_schedule() {
        let (daily, hourly, minutely) =
            (state("0 9 * * *", true), state("0 * * * *", true), state("* * * * *", true));
        let plans = [plan(3, hourly.clone(), minutely.clone()), plan(2, daily.clone(), hourly.clone())];
        let undone = |now: &ScheduleState| undone_schedules(&plans, &BTreeMap::from([(id(1), now.clone())]));
        assert_eq!(undone(&minutely), BTreeMap::from([(id(1), daily.clone())]));
        // Somebody moved or paused it by hand.
        assert_eq!(undone(&state("5 * * * *", true)), BTreeMap::new());
        assert_eq!(undone(&state("* * * * *", false)), BTreeMap::new());
        assert_eq!(undone_schedules(&plans, &BTreeMap::new()), BTreeMap::new());
        let paused = [plan(2, daily.clone(), state("0 9 * * *", false))];
        let now = BTreeMap::from([(id(1), state("0 9 * * *", false))]);
        assert_eq!(undone_schedules(&paused, &now), BTreeMap::from([(id(1), daily)]));
    }

    #[test]
    fn a_manifest_declares_its_schedule_and_any_if_it_names_none() {
        let declared = |cron: Option<&str>, timezone: Option<&str>| {
            let (cron, timezone) = (cron.map(str::to_owned), timezone.map(str::to_owned));
            declares_schedule(&[ManifestTrigger::Schedule { cron, timezone }], &state("0 9 * * *", true))
        };
        assert!(
            declared(None, None)
                && declared(Some("0 9  * * *"), None)
                && declared(Some("0 9 * * *"), Some("UTC"))
        );
        assert!(!declared(Some("0 8 * * *"), None) && !declared(Some("0 9 * * *"), Some("Asia/Almaty")));
        assert!(!declares_schedule(&[ManifestTrigger::Webhook {}], &state("0 9 * * *", true)));
    }

    #[test]
    fn effects_survive_the_store_and_every_sentence_differs() {
        let effects = vec![
            PlanEffect::Schedule {
                automation: id(1),
                before: state("0 9 * * *", true),
                after: state("* * * * *", true),
            },
            PlanEffect::Retries { automation: id(1), before: 0, after: 3 },
            PlanEffect::Sharing { before: Sharing::Private, after: Sharing::Workspace },
            PlanEffect::Name { before: "A".to_owned(), after: "B".to_owned() },
        ];
        let text = serde_json::to_string(&effects).unwrap();
        assert_eq!(serde_json::from_str::<Vec<PlanEffect>>(&text).unwrap(), effects);
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            let remaining = [
                Remaining::Sharing(Sharing::Private),
                Remaining::Sharing(Sharing::Team),
                Remaining::Name("Sales".to_owned()),
                Remaining::Retries("Sales".to_owned(), 3),
                Remaining::Secret("KEY".to_owned()),
            ];
            let mut sentences: std::collections::BTreeSet<_> =
                remaining.iter().map(|it| it.describe(locale)).collect();
            for change in AutomationMove::ALL {
                let schedule = Some(("* * * * *".to_owned(), "UTC".to_owned()));
                let moved = MovedAutomation { id: id(1), name: "Sales".to_owned(), change, schedule };
                sentences.insert(moved.describe(locale));
            }
            assert_eq!(sentences.len(), 8, "{sentences:?}");
        }
    }
}
