//! Schedules: the trigger of the manifest, and the automation that runs by it.

use super::{AutomationChange, Draft, Note, Step};
use crate::{changes::surroundings::NamedAutomation, manifest::ManifestTrigger};

impl Draft<'_> {
    pub(super) fn schedule(&mut self, cron: String, timezone: Option<&str>) {
        self.reschedule(cron, timezone, true);
    }

    /// Changes the schedule; with `activate`, one that is paused runs again.
    fn reschedule(&mut self, cron: String, timezone: Option<&str>, activate: bool) {
        let scheduled = self.scheduled();
        let step = match &scheduled[..] {
            [] => {
                let timezone = timezone.unwrap_or(&self.surroundings.timezone).to_owned();
                self.drop_schedules();
                self.automations.push(AutomationChange::CreateSchedule {
                    name: "Schedule".to_owned(),
                    cron: cron.clone(),
                    timezone: timezone.clone(),
                });
                Step::CreateSchedule { cron, timezone }
            }
            [(automation, (known_cron, known_zone))] => {
                let timezone = timezone.unwrap_or(known_zone).to_owned();
                let wakes = activate && !automation.is_active;
                if *known_cron == cron && *known_zone == timezone && !wakes {
                    return self.notes.push(Note::Already(automation.name.clone()));
                }
                self.drop_schedules();
                self.automations.push(AutomationChange::Reschedule {
                    id: automation.id,
                    cron: cron.clone(),
                    timezone: timezone.clone(),
                    activate,
                });
                Step::Reschedule { automation: automation.name.clone(), cron, timezone }
            }
            several => return self.notes.push(Note::SeveralSchedules(several.len())),
        };
        if let Step::CreateSchedule { cron, timezone } | Step::Reschedule { cron, timezone, .. } = &step {
            self.set_trigger(Some((cron, timezone)));
        }
        self.steps.push(step);
    }

    pub(super) fn unschedule(&mut self) {
        self.drop_schedules();
        let scheduled = self.scheduled();
        if scheduled.is_empty() {
            self.manifest.triggers.clone_from(&self.surroundings.manifest.triggers);
            return self.notes.push(Note::NoSchedule);
        }
        for (automation, _) in scheduled {
            self.automations.push(AutomationChange::PauseSchedule { id: automation.id });
            self.steps.push(Step::PauseSchedule { automation: automation.name });
        }
        self.set_trigger(None);
    }

    pub(super) fn change_time_zone(&mut self, timezone: &str) {
        // A schedule of the same instruction gets it, too.
        let planned = self.automations.iter().find_map(|it| match it {
            AutomationChange::CreateSchedule { cron, .. } => Some((cron.clone(), true)),
            AutomationChange::Reschedule { cron, activate, .. } => Some((cron.clone(), *activate)),
            _ => None,
        });
        let known = self.scheduled().into_iter().map(|(_, (cron, _))| (cron, false)).next();
        match planned.or(known) {
            Some((cron, activate)) => self.reschedule(cron, Some(timezone), activate),
            None => self.notes.push(Note::NoSchedule),
        }
    }

    fn scheduled(&self) -> Vec<(NamedAutomation, (String, String))> {
        let automations = self.surroundings.automations.iter();
        automations.filter_map(|it| Some((it.clone(), it.schedule.clone()?))).collect()
    }

    /// Takes back what earlier sentences planned for schedules: the last one counts.
    fn drop_schedules(&mut self) {
        self.automations.retain(|it| matches!(it, AutomationChange::Retries { .. }));
        let is_schedule = |it: &Step| {
            matches!(it, Step::CreateSchedule { .. } | Step::Reschedule { .. } | Step::PauseSchedule { .. })
        };
        self.steps.retain(|it| !is_schedule(it));
    }

    /// Replaces the schedules that the manifest declares.
    fn set_trigger(&mut self, schedule: Option<(&str, &str)>) {
        let triggers = &mut self.manifest.triggers;
        triggers.retain(|it| !matches!(it, ManifestTrigger::Schedule { .. }));
        triggers.extend(schedule.map(|(cron, timezone)| ManifestTrigger::Schedule {
            cron: Some(cron.to_owned()),
            timezone: Some(timezone.to_owned()),
        }));
    }
}
