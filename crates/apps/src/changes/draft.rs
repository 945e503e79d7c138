//! Drafting: the manifest and the effects that the edits of an instruction lead to.

mod connections;
mod hosts;
mod schedules;
mod tables;

use kernel::authority::Sharing;

use super::{
    AppUpdate, AutomationChange,
    instruction::{Edit, NotUnderstood},
    surroundings::Surroundings,
};
use crate::{
    InvalidManifest, Manifest,
    manifest::{DataAccess, EgressMethod},
};

/// A change that was drafted, in facts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    AllowHost { host: String, methods: Vec<EgressMethod> },
    ForbidHost { host: String, methods: Vec<EgressMethod> },
    AllowConnection { name: String, binding: String },
    ForbidConnection { binding: String },
    AllowTable { table: String, project: String, access: DataAccess, binding: String },
    ForbidTable { table: String, binding: String },
    ForbidWriting { table: String, binding: String },
    ForbidProject { binding: String },
    CreateSchedule { cron: String, timezone: String },
    Reschedule { automation: String, cron: String, timezone: String },
    PauseSchedule { automation: String },
    Rename(String),
    Describe(String),
    Share(Sharing),
    AiBudget(f64),
    ForbidAi,
    MinutesSaved(f64),
    Retries { automation: String, retries: u8 },
}

/// A fact that the planner tells, mostly why something is not in the plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Note {
    NotUnderstood(NotUnderstood),
    /// The app has it already, or lacks it already.
    Already(String),
    NoConnection(String),
    SeveralConnections(String),
    NoTable(String),
    SeveralTables(String),
    NoProject(String),
    /// The app may use every table of the project, of which one cannot be taken away.
    WholeProject {
        table: String,
        binding: String,
    },
    MayNotWrite {
        table: String,
        project: String,
    },
    MayNotShare,
    WholeHost(String),
    NoAutomation,
    SeveralSchedules(usize),
    NoSchedule,
    NoAi,
    RetriesBound,
    OutOfBounds(InvalidManifest),
    /// So many more notes.
    More(usize),
}

/// The result of applying edits.
#[derive(Debug, Clone)]
pub(super) struct Draft<'a> {
    surroundings: &'a Surroundings,
    pub(super) manifest: Manifest,
    pub(super) app: AppUpdate,
    pub(super) automations: Vec<AutomationChange>,
    pub(super) steps: Vec<Step>,
    pub(super) notes: Vec<Note>,
}

/// Most retries of an automation.
const MAX_RETRIES: u32 = 5;

impl<'a> Draft<'a> {
    pub(super) fn new(surroundings: &'a Surroundings) -> Self {
        Self {
            surroundings,
            manifest: surroundings.manifest.clone(),
            app: AppUpdate::default(),
            automations: Vec::new(),
            steps: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Applies an edit, or says why it does not.
    pub(super) fn apply(&mut self, edit: Edit) {
        let before = self.clone();
        self.apply_unchecked(edit);
        if let Err(error) = self.manifest.check() {
            *self = Self { notes: before.notes.clone(), ..before };
            self.notes.push(Note::OutOfBounds(error));
        }
    }

    fn apply_unchecked(&mut self, edit: Edit) {
        match edit {
            Edit::AllowHost { host, methods, has_path } => self.allow_host(host, methods, has_path),
            Edit::ForbidHost { host, methods } => self.forbid_host(host, methods),
            Edit::AllowConnection(name) => self.allow_connection(name),
            Edit::ForbidConnection(name) => self.forbid_connection(name),
            Edit::AllowTable { table, project, access } => {
                self.allow_table(&table, project.as_deref(), access);
            }
            Edit::ForbidTable { table, project } => self.forbid_table(table, project.as_deref()),
            Edit::ForbidWriting { table, project } => self.forbid_writing(table, project.as_deref()),
            Edit::ForbidProject(name) => self.forbid_project(name),
            Edit::Schedule { cron, timezone } => self.schedule(cron, timezone),
            Edit::Unschedule => self.unschedule(),
            Edit::TimeZone(timezone) => self.change_time_zone(timezone),
            Edit::Rename(name) => {
                let name = kernel::text::to_visible_line(&name);
                self.manifest.name.clone_from(&name);
                self.app.name = Some(name.clone());
                self.steps.retain(|it| !matches!(it, Step::Rename(_)));
                self.steps.push(Step::Rename(name));
            }
            Edit::Describe(text) => {
                self.manifest.description.clone_from(&text);
                self.app.description = Some(text.clone());
                self.steps.retain(|it| !matches!(it, Step::Describe(_)));
                self.steps.push(Step::Describe(text));
            }
            Edit::Share(sharing) => self.share(sharing),
            Edit::AiBudget(amount) => match &mut self.manifest.permissions.ai {
                None => self.notes.push(Note::NoAi),
                Some(ai) => {
                    self.steps.retain(|it| !matches!(it, Step::AiBudget(_)));
                    ai.monthly_budget_usd = amount;
                    self.steps.push(Step::AiBudget(amount));
                }
            },
            Edit::ForbidAi => match self.manifest.permissions.ai.take() {
                None => self.notes.push(Note::NoAi),
                Some(_) => self.steps.push(Step::ForbidAi),
            },
            Edit::MinutesSaved(minutes) => {
                self.manifest.roi.manual_minutes_per_run = minutes;
                self.steps.retain(|it| !matches!(it, Step::MinutesSaved(_)));
                self.steps.push(Step::MinutesSaved(minutes));
            }
            Edit::Retries(retries) => self.change_retries(retries),
        }
    }

    fn share(&mut self, sharing: Sharing) {
        if !self.surroundings.may_share {
            self.notes.push(Note::MayNotShare);
            return;
        }
        self.manifest.sharing.default = sharing;
        self.steps.retain(|it| !matches!(it, Step::Share(_)));
        if self.surroundings.sharing == sharing {
            self.app.sharing = None;
            self.notes.push(Note::Already(sharing.as_str().to_owned()));
        } else {
            self.app.sharing = Some(sharing);
            self.steps.push(Step::Share(sharing));
        }
    }

    fn change_retries(&mut self, retries: u32) {
        let Some(retries) = u8::try_from(retries).ok().filter(|it| u32::from(*it) <= MAX_RETRIES) else {
            self.notes.push(Note::RetriesBound);
            return;
        };
        if self.surroundings.automations.is_empty() {
            self.notes.push(Note::NoAutomation);
        }
        self.automations.retain(|it| !matches!(it, AutomationChange::Retries { .. }));
        self.steps.retain(|it| !matches!(it, Step::Retries { .. }));
        for automation in &self.surroundings.automations {
            if automation.retries == retries {
                self.notes.push(Note::Already(automation.name.clone()));
                continue;
            }
            self.automations.push(AutomationChange::Retries {
                id: automation.id,
                retries,
                name: automation.name.clone(),
            });
            self.steps.push(Step::Retries { automation: automation.name.clone(), retries });
        }
    }
}
