//! The events that an audit entry reports.

use super::{Audience, AuditNoun, Change, ChangedKind};
use crate::{
    AuditEntry,
    authority::Role,
    events::{Event, EventKind},
};

/// Error of an audit entry from which no event can be derived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the audit entry {action} {reason}")]
pub struct UnreportableChange {
    /// The action of the entry.
    pub action: String,
    /// The reason.
    pub reason: &'static str,
}

impl AuditEntry {
    /// Returns the events that report the change: none if nobody looks at what was changed.
    ///
    /// # Errors
    /// [`UnreportableChange`] if the action has no known noun, or the entry does not say what its noun needs.
    pub fn events(&self) -> Result<Vec<Event>, UnreportableChange> {
        let error = |reason| UnreportableChange { action: self.action.clone().into_owned(), reason };
        let (noun, verb) = self.action.split_once('.').ok_or_else(|| error("is not noun.verb"))?;
        let noun: AuditNoun = noun.parse().map_err(|_| error("has no noun of `AuditNoun`"))?;
        let Some(kind) = noun.changed_kind(verb) else { return Ok(Vec::new()) };
        let workspace = self.workspace.ok_or_else(|| error("does not say in which workspace"))?;
        let change = self.change(kind).map_err(error)?;
        let audiences = self.audiences(&change).map_err(error)?;
        let event = |audience| {
            let kind = EventKind::Changed(change.clone());
            Event { workspace, audience, at: self.at, kind }
        };
        Ok(audiences.into_iter().map(event).collect())
    }

    fn change(&self, kind: ChangedKind) -> Result<Change, &'static str> {
        let target = self.target.as_ref().ok_or("does not say what was changed")?.0.as_str();
        let mut change = Change {
            kind,
            id: target.to_owned(),
            by: self.actor.user(),
            app: self.app,
            automation: None,
            project: None,
            table: None,
        };
        match kind {
            ChangedKind::App => change.app = Some(target.parse().map_err(|_| "names no app")?),
            ChangedKind::Automation => {
                change.automation = Some(target.parse().map_err(|_| "names no automation")?);
            }
            ChangedKind::Webhook | ChangedKind::AgentTool => {
                let automation = self.detail_text("automation").and_then(|id| id.parse().ok());
                change.automation = Some(automation.ok_or("does not say of which automation")?);
            }
            ChangedKind::Project => change.project = Some(target.parse().map_err(|_| "names no project")?),
            ChangedKind::ProjectKey => {
                let project = self.detail_text("project").and_then(|id| id.parse().ok());
                change.project = Some(project.ok_or("does not say of which project")?);
            }
            ChangedKind::Table | ChangedKind::Policy | ChangedKind::Rows => {
                let project = target.parse().map_err(|_| "names no project")?;
                let table = self.detail_text("table").ok_or("does not say which table")?;
                change = Change::of_table(kind, project, table, change.by);
            }
            ChangedKind::Version
            | ChangedKind::Approval
            | ChangedKind::DeadLetter
            | ChangedKind::Gate
            | ChangedKind::Connection
            | ChangedKind::Member
            | ChangedKind::Invite
            | ChangedKind::JoinDomain
            | ChangedKind::Workspace
            | ChangedKind::Token
            | ChangedKind::Grant => {}
        }
        Ok(change)
    }

    fn detail_text(&self, member: &str) -> Option<&str> {
        self.detail.as_ref()?.get(member)?.as_str()
    }

    /// Returns those who may see the object, as the routes that show it decide, and those who could until now.
    fn audiences(&self, change: &Change) -> Result<Vec<Audience>, &'static str> {
        let mut audiences = match change.kind {
            ChangedKind::App
            | ChangedKind::Version
            | ChangedKind::Automation
            | ChangedKind::Webhook
            | ChangedKind::AgentTool
            | ChangedKind::Approval
            | ChangedKind::DeadLetter => {
                vec![Audience::AppViewers(change.app.ok_or("does not say of which app")?)]
            }
            ChangedKind::Gate | ChangedKind::Connection | ChangedKind::Member | ChangedKind::Workspace => {
                vec![Audience::Members(Role::Viewer)]
            }
            ChangedKind::Project | ChangedKind::Table | ChangedKind::Policy | ChangedKind::Rows => {
                vec![Audience::Members(Role::Member)]
            }
            ChangedKind::ProjectKey => {
                let creator = self.owner.ok_or("does not say who created the project")?;
                vec![Audience::Members(Role::Admin), Audience::Person { user: creator, role: Role::Member }]
            }
            ChangedKind::Invite | ChangedKind::JoinDomain => vec![Audience::Members(Role::Admin)],
            ChangedKind::Token | ChangedKind::Grant => {
                let owner = self.owner.or_else(|| self.actor.user()).ok_or("does not say whose it is")?;
                vec![Audience::Person { user: owner, role: Role::Viewer }]
            }
        };
        audiences.extend(self.former_viewers.iter().cloned());
        Ok(audiences)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        Actor, Caller,
        id::{AgentToolId, AppId, AutomationId, GateId, HookId, ProjectId, ProjectKeyId, TokenId, kind},
        testing::{at, context, id, session_of},
    };

    fn entry(action: &'static str) -> AuditEntry {
        context(session_of(id(1)), at(0)).audit_entry(action).workspace(id(2))
    }

    fn changes(entry: &AuditEntry) -> Vec<(Change, Audience)> {
        let reported = entry.events().unwrap().into_iter().map(|event| {
            assert_eq!((event.workspace, event.at), (id(2), at(0)));
            let EventKind::Changed(change) = event.kind else { panic!("{:?}", event.kind) };
            (change, event.audience)
        });
        reported.collect()
    }

    #[test]
    fn a_change_of_an_app_is_for_those_who_view_it_and_for_those_who_did() {
        let app: AppId = id(3);
        let until_now = vec![Audience::Members(Role::Viewer)];
        let reported = changes(&entry("app.share").target(app).former_viewers(until_now));
        let audiences: Vec<_> = reported.iter().map(|(_, audience)| audience.clone()).collect();
        assert_eq!(audiences, [Audience::AppViewers(app), Audience::Members(Role::Viewer)]);
        for (change, _) in reported {
            assert_eq!((change.kind, change.id, change.by), (ChangedKind::App, app.to_string(), Some(id(1))));
            assert_eq!(change.app, Some(app));
        }
    }

    #[test]
    fn what_belongs_to_an_app_must_name_it() {
        let automation: AutomationId = id(4);
        let forgotten = entry("automation.update").target(automation);
        assert_eq!(forgotten.events().unwrap_err().reason, "does not say of which app");
        let reported = changes(&forgotten.app(id(3)));
        let (change, audience) = &reported[0];
        assert_eq!((change.app, change.automation), (Some(id(3)), Some(automation)));
        assert_eq!((reported.len(), audience), (1, &Audience::AppViewers(id(3))));

        let webhook: HookId = id(5);
        let entry = entry("webhook.rotate").target(webhook).app(id(3));
        assert!(entry.events().is_err());
        let reported = changes(&entry.detail(json!({ "automation": automation })));
        assert_eq!((&reported[0].0.id, reported[0].0.automation), (&webhook.to_string(), Some(automation)));
    }

    #[test]
    fn a_tool_is_named_with_its_automation() {
        let (tool, automation): (AgentToolId, AutomationId) = (id(4), id(5));
        let entry = entry("agent_tool.publish").target(tool).app(id(3));
        assert!(entry.events().is_err());
        let (change, audience) = changes(&entry.detail(json!({ "automation": automation })))[0].clone();
        assert_eq!((change.kind, change.automation), (ChangedKind::AgentTool, Some(automation)));
        assert_eq!(audience, Audience::AppViewers(id(3)));
    }

    #[test]
    fn tables_are_named_with_their_project() {
        let project: ProjectId = id(6);
        for (action, kind) in [
            ("table.create", ChangedKind::Table),
            ("column.add", ChangedKind::Table),
            ("index.drop", ChangedKind::Table),
            ("table.policy", ChangedKind::Policy),
            ("table.public_read", ChangedKind::Policy),
        ] {
            let entry = entry(action).target(project);
            assert!(entry.events().is_err(), "{action}");
            let entry = entry.detail(json!({ "table": "notes" }));
            let expected = Change::of_table(kind, project, "notes", Some(id(1)));
            assert_eq!(expected.id, format!("{project}/notes"));
            assert_eq!(changes(&entry), [(expected, Audience::Members(Role::Member))], "{action}");
        }
    }

    #[test]
    fn own_objects_are_for_their_person_alone() {
        let token: TokenId = id(7);
        let mine = entry("token.create").target(token);
        let of = |user| Audience::Person { user: id(user), role: Role::Viewer };
        assert_eq!(changes(&mine)[0].1, of(1));
        let theirs = entry("token.revoke").target(token).owner(id(8));
        assert_eq!((changes(&theirs)[0].1.clone(), changes(&theirs)[0].0.by), (of(8), Some(id(1))));
        assert!(mine.actor(Actor::Visitor).events().is_err(), "nobody's token");

        let key: ProjectKeyId = id(9);
        let entry =
            entry("project_key.revoke").target(key).detail(json!({ "project": id::<kind::Project>(6) }));
        assert!(entry.events().is_err(), "the creator of the project sees its keys");
        let audiences: Vec<_> =
            changes(&entry.owner(id(8))).into_iter().map(|(_, audience)| audience).collect();
        let creator = Audience::Person { user: id(8), role: Role::Member };
        assert_eq!(audiences, [Audience::Members(Role::Admin), creator]);
    }

    #[test]
    fn the_rest_is_for_roles() {
        let gate: GateId = id(3);
        for (action, kind, role) in [
            ("gate.close", ChangedKind::Gate, Role::Viewer),
            ("connection.create", ChangedKind::Connection, Role::Viewer),
            ("member.change", ChangedKind::Member, Role::Viewer),
            ("workspace.transfer", ChangedKind::Member, Role::Viewer),
            ("workspace.update", ChangedKind::Workspace, Role::Viewer),
            ("invite.create", ChangedKind::Invite, Role::Admin),
            ("join_domain.put", ChangedKind::JoinDomain, Role::Admin),
        ] {
            let reported = changes(&entry(action).target(gate));
            assert_eq!((reported[0].0.kind, &reported[0].1), (kind, &Audience::Members(role)), "{action}");
        }
    }

    #[test]
    fn what_no_page_shows_is_not_reported() {
        let quiet = ["session.create", "run.start", "row.insert", "webhook.test", "oauth_grant.refresh"];
        for action in quiet {
            assert_eq!(entry(action).events().unwrap(), [], "{action}");
        }
    }

    #[test]
    fn an_entry_that_says_too_little_is_an_error() {
        for action in ["invoice.create", "create", "app.update"] {
            assert!(entry(action).events().is_err(), "{action}");
        }
        let elsewhere = context(Caller::Anonymous, at(0)).audit_entry("member.join").target("x");
        assert!(elsewhere.events().is_err(), "a member of no workspace");
    }
}
