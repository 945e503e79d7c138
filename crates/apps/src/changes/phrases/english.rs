//! English sentences.

use kernel::authority::Sharing;

use super::{join_methods, quote};
use crate::{
    changes::{
        draft::{Note, Step},
        instruction::Reason,
    },
    manifest::DataAccess,
    safe_band::OutsideBand,
};

pub(super) fn step(step: &Step) -> String {
    match step {
        Step::AllowHost { host, methods } if methods.is_empty() => format!("Let the app call {host}."),
        Step::AllowHost { host, methods } => {
            format!("Let the app call {host} with {}.", join_methods(methods))
        }
        Step::ForbidHost { host, methods } if methods.is_empty() => {
            format!("Stop the app from calling {host}.")
        }
        Step::ForbidHost { host, methods } => {
            format!("Stop the app from calling {host} with {}.", join_methods(methods))
        }
        Step::AllowConnection { name, binding } => {
            format!("Let the app use the connection \"{name}\" as env.connections.{binding}.")
        }
        Step::ForbidConnection { binding } => {
            format!("Take the connection env.connections.{binding} from the app.")
        }
        Step::AllowTable { table, project, access, binding } => {
            let access = if *access == DataAccess::Read { "read" } else { "read and write" };
            format!(
                "Let the app {access} the table {table} of the project \"{project}\" as env.data.{binding}."
            )
        }
        Step::ForbidTable { table, binding } => {
            format!("Take the table {table} from env.data.{binding}.")
        }
        Step::ForbidWriting { table, binding } => {
            format!("Let the app only read the table {table} of env.data.{binding}.")
        }
        Step::ForbidProject { binding } => format!("Take the project env.data.{binding} from the app."),
        Step::CreateSchedule { cron, timezone } => {
            format!("Create an automation that runs the app by the schedule {cron} in {timezone}.")
        }
        Step::Reschedule { automation, cron, timezone } => {
            format!("Change the schedule of the automation \"{automation}\" to {cron} in {timezone}.")
        }
        Step::PauseSchedule { automation } => format!("Pause the scheduled automation \"{automation}\"."),
        Step::Rename(name) => format!("Rename the app to \"{name}\"."),
        Step::Describe(text) => format!("Change the description to \"{}\".", quote(text)),
        Step::Share(Sharing::Private) => "Stop sharing the app: it becomes private.".to_owned(),
        Step::Share(Sharing::Team) => "Share the app with members and builders.".to_owned(),
        Step::Share(Sharing::Workspace) => "Share the app with the whole workspace.".to_owned(),
        Step::AiBudget(amount) => format!("Change the budget for AI models to {amount} US dollars a month."),
        Step::ForbidAi => "Take AI models from the app.".to_owned(),
        Step::MinutesSaved(minutes) => format!("Count {minutes} minutes saved for each run."),
        Step::Retries { automation, retries } => {
            format!("Retry failed runs of the automation \"{automation}\" at most {retries} times.")
        }
    }
}

pub(super) fn note(note: &Note) -> String {
    match note {
        Note::NotUnderstood(it) => {
            let sentence = quote(&it.sentence);
            let why = match it.reason {
                Reason::Words => "Nothing of it is planned.",
                Reason::Question => "It is a question; write what to change.",
                Reason::NoTime => "Name the time of day, such as at 9:00.",
                Reason::UnevenInterval => {
                    "An interval must divide an hour or a day, such as 15 minutes or 6 hours."
                }
                Reason::DayOfMonth => "Name a day from 1 to 28, which every month has.",
                Reason::NoAccess => "Say whether the app may read or write the table.",
            };
            format!("Not understood: {sentence} {why}")
        }
        Note::Already(what) => format!("Nothing to change for {}.", quote(what)),
        Note::NoConnection(name) => {
            format!("The workspace has no connection \"{}\". An admin can connect it.", quote(name))
        }
        Note::SeveralConnections(name) => {
            format!("Several connections match \"{}\". Write the name of one in quotes.", quote(name))
        }
        Note::NoTable(name) => format!("You can see no table \"{}\".", quote(name)),
        Note::SeveralTables(name) => {
            format!("Several projects have a table \"{}\". Name the project.", quote(name))
        }
        Note::NoProject(name) => format!("You can see no project \"{}\".", quote(name)),
        Note::WholeProject { table, binding } => format!(
            "env.data.{binding} allows more tables than {table}; change its access on the page of permissions."
        ),
        Note::MayNotWrite { table, project } => {
            format!(
                "You may not change rows of the project \"{project}\", so neither may an app that you edit: {table}."
            )
        }
        Note::MayNotShare => "You may not share this app.".to_owned(),
        Note::WholeHost(host) => {
            format!("A manifest names hosts and no paths: the app may call every path of {host}.")
        }
        Note::NoAutomation => "The app has no automation to retry.".to_owned(),
        Note::SeveralSchedules(number) => {
            format!("The app has {number} scheduled automations. Change the one you mean on its page.")
        }
        Note::NoSchedule => "The app has no schedule.".to_owned(),
        Note::NoAi => "The app may not use AI models, so it has no budget for them.".to_owned(),
        Note::RetriesBound => "An automation retries a failed run at most 5 times.".to_owned(),
        Note::OutOfBounds(error) => format!("{error}."),
        Note::More(number) => format!("There are {number} more notes."),
    }
}

pub(super) fn outside_band(reason: &OutsideBand) -> String {
    match reason {
        OutsideBand::Permission(difference) | OutsideBand::Header(difference) => {
            format!("The app gains access: {}", difference.describe(kernel::Locale::En))
        }
        OutsideBand::Connector(name) => format!("The app uses a connection anew: {name}."),
        OutsideBand::Budget => "The budget for AI models rises.".to_owned(),
        OutsideBand::Sharing => "More people can see the app.".to_owned(),
        OutsideBand::Trust => "The trust score falls into a lower band.".to_owned(),
        OutsideBand::Visitors => {
            "The app answers visitors, who may then see what it gets from rows, secrets, connections or models.".to_owned()
        }
    }
}
