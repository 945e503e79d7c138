//! Changes of what people see, as events report them.
//!
//! The events of a change derive from its audit entry, so that whatever is audited is reported: [`AuditNoun`] lists the
//! nouns of all actions, and what each of them reports.

mod audit_noun;
mod derive;

pub use audit_noun::AuditNoun;
pub use derive::UnreportableChange;

use crate::{
    authority::Role,
    id::{AppId, AutomationId, ProjectId, UserId},
};

/// Those who can receive an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Everyone who may view the app at the time of reading.
    AppViewers(AppId),
    /// Members with at least this role.
    Members(Role),
    /// One member, as long as they have at least this role.
    Person {
        /// The person.
        user: UserId,
        /// The role.
        role: Role,
    },
}

/// A change of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The kind of the object.
    pub kind: ChangedKind,
    /// The id of the object; of a table, its rules and its rows `{project}/{table}`.
    pub id: String,
    /// The person who made the change, or for whom it was made.
    pub by: Option<UserId>,
    /// The app that the object is or belongs to.
    pub app: Option<AppId>,
    /// The automation that the object is or belongs to.
    pub automation: Option<AutomationId>,
    /// The backend project that the object is or belongs to.
    pub project: Option<ProjectId>,
    /// The name of the table.
    pub table: Option<String>,
}

impl Change {
    /// Creates a change of a table, its policy or its rows.
    #[must_use]
    pub fn of_table(kind: ChangedKind, project: ProjectId, table: &str, by: Option<UserId>) -> Self {
        Self {
            kind,
            id: format!("{project}/{table}"),
            by,
            app: None,
            automation: None,
            project: Some(project),
            table: Some(table.to_owned()),
        }
    }
}

/// A kind of objects whose changes are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedKind {
    /// An app, its access included.
    App,
    /// A version of an app.
    Version,
    /// An automation.
    Automation,
    /// The settings of a webhook.
    Webhook,
    /// A tool of agents.
    AgentTool,
    /// A question of a run.
    Approval,
    /// A dead letter.
    DeadLetter,
    /// A gate.
    Gate,
    /// A connection.
    Connection,
    /// A backend project.
    Project,
    /// A key of a backend project.
    ProjectKey,
    /// A table with its columns and indexes.
    Table,
    /// The policy of a table.
    Policy,
    /// Rows of a table.
    Rows,
    /// A member.
    Member,
    /// An invite.
    Invite,
    /// The join domain.
    JoinDomain,
    /// The workspace itself.
    Workspace,
    /// A personal access token.
    Token,
    /// A grant of an agent.
    Grant,
}

crate::names! {
    ChangedKind {
        App = "app",
        Version = "version",
        Automation = "automation",
        Webhook = "webhook",
        AgentTool = "agent_tool",
        Approval = "approval",
        DeadLetter = "dead_letter",
        Gate = "gate",
        Connection = "connection",
        Project = "project",
        ProjectKey = "project_key",
        Table = "table",
        Policy = "policy",
        Rows = "rows",
        Member = "member",
        Invite = "invite",
        JoinDomain = "join_domain",
        Workspace = "workspace",
        Token = "token",
        Grant = "grant",
    }
}
