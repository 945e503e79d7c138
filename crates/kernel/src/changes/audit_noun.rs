//! The nouns of audited actions, and what each of them reports.

use super::ChangedKind;

/// The noun of an audited action, which says what kind of object was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditNoun {
    /// A tool of agents.
    AgentTool,
    /// An app.
    App,
    /// A question of a run.
    Approval,
    /// A request of an agent client that a person decides on.
    Authorization,
    /// An automation.
    Automation,
    /// A planned change.
    Change,
    /// A column of a table.
    Column,
    /// A connection.
    Connection,
    /// A dead letter.
    DeadLetter,
    /// A device login.
    Device,
    /// A draft of an app.
    Draft,
    /// A gate.
    Gate,
    /// A person's account at an issuer.
    Identity,
    /// An import of another tool's workflow.
    Import,
    /// An index of a table.
    Index,
    /// An invite.
    Invite,
    /// A join domain.
    JoinDomain,
    /// A member.
    Member,
    /// A person's notification settings.
    Notification,
    /// An agent client.
    OauthClient,
    /// A grant of an agent.
    OauthGrant,
    /// An access token of an agent.
    OauthToken,
    /// A passkey.
    Passkey,
    /// A backend project.
    Project,
    /// A key of a backend project.
    ProjectKey,
    /// Rows of a table.
    Row,
    /// A run.
    Run,
    /// A secret of an app.
    Secret,
    /// A session.
    Session,
    /// A sign-in.
    SignIn,
    /// A table.
    Table,
    /// A personal access token.
    Token,
    /// A person.
    User,
    /// A version of an app.
    Version,
    /// A webhook.
    Webhook,
    /// A workspace.
    Workspace,
}

crate::names! {
    AuditNoun {
        AgentTool = "agent_tool",
        App = "app",
        Approval = "approval",
        Authorization = "authorization",
        Automation = "automation",
        Change = "change",
        Column = "column",
        Connection = "connection",
        DeadLetter = "dead_letter",
        Device = "device",
        Draft = "draft",
        Gate = "gate",
        Identity = "identity",
        Import = "import",
        Index = "index",
        Invite = "invite",
        JoinDomain = "join_domain",
        Member = "member",
        Notification = "notification",
        OauthClient = "oauth_client",
        OauthGrant = "oauth_grant",
        OauthToken = "oauth_token",
        Passkey = "passkey",
        Project = "project",
        ProjectKey = "project_key",
        Row = "row",
        Run = "run",
        Secret = "secret",
        Session = "session",
        SignIn = "sign_in",
        Table = "table",
        Token = "token",
        User = "user",
        Version = "version",
        Webhook = "webhook",
        Workspace = "workspace",
    }
}

impl AuditNoun {
    /// Returns the kind of object that an action on this noun changes for those who look at it.
    pub(super) fn changed_kind(self, verb: &str) -> Option<ChangedKind> {
        match (self, verb) {
            // Nothing that is shown is another after these.
            (Self::Project, "export") | (Self::Webhook, "test") | (Self::OauthGrant, "refresh") => None,
            (Self::Workspace, "transfer") | (Self::Member, _) => Some(ChangedKind::Member),
            (Self::Table, "policy" | "public_read") => Some(ChangedKind::Policy),
            (Self::Table | Self::Column | Self::Index, _) => Some(ChangedKind::Table),
            (Self::AgentTool, _) => Some(ChangedKind::AgentTool),
            (Self::App | Self::Secret, _) => Some(ChangedKind::App),
            (Self::Approval, _) => Some(ChangedKind::Approval),
            (Self::Automation, _) => Some(ChangedKind::Automation),
            (Self::Connection, _) => Some(ChangedKind::Connection),
            (Self::DeadLetter, _) => Some(ChangedKind::DeadLetter),
            (Self::Gate, _) => Some(ChangedKind::Gate),
            (Self::Invite, _) => Some(ChangedKind::Invite),
            (Self::JoinDomain, _) => Some(ChangedKind::JoinDomain),
            (Self::OauthGrant, _) => Some(ChangedKind::Grant),
            (Self::Project, _) => Some(ChangedKind::Project),
            (Self::ProjectKey, _) => Some(ChangedKind::ProjectKey),
            (Self::Token, _) => Some(ChangedKind::Token),
            (Self::Version, _) => Some(ChangedKind::Version),
            (Self::Webhook, _) => Some(ChangedKind::Webhook),
            (Self::Workspace, _) => Some(ChangedKind::Workspace),
            // The app of an import has events of its own.
            (Self::Import, _) => None,
            // Runs have events of their own, and writers of rows report them whether they are audited or not.
            (Self::Run | Self::Row, _) => None,
            // These belong to one person or to no workspace, and no page of the workspace shows them.
            (
                Self::Authorization
                | Self::Change
                | Self::Device
                | Self::Draft
                | Self::Identity
                | Self::Notification
                | Self::OauthClient
                | Self::OauthToken
                | Self::Passkey
                | Self::Session
                | Self::SignIn
                | Self::User,
                _,
            ) => None,
        }
    }
}
