//! Events as the columns of `workspace_events`.

use std::borrow::Cow;

use kernel::{
    Id, StoreError,
    authority::Role,
    changes::{Audience, Change, ChangedKind},
    events::{EventKind, RefusedRequest, RunStage},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::convert::{RowContext, to_json};

/// Numbers in `workspace_events.kind`.
pub(super) mod kind {
    pub(crate) const QUEUED: i16 = 1;
    pub(crate) const RETRIED: i16 = 2;
    pub(crate) const WAITING: i16 = 3;
    pub(crate) const SUCCEEDED: i16 = 4;
    pub(crate) const FAILED: i16 = 5;
    pub(crate) const BLOCKED: i16 = 6;
    pub(crate) const RUNNING: i16 = 7;
    pub(crate) const BUILD: i16 = 10;
    pub(crate) const ROLLBACK: i16 = 11;
    pub(crate) const GATE_REFUSAL: i16 = 20;
    pub(crate) const CALL_REFUSAL: i16 = 21;
    pub(crate) const LOG: i16 = 30;
    pub(crate) const APP_FAILING: i16 = 40;
    pub(crate) const AUTOMATION_FAILING: i16 = 41;
    pub(crate) const CONNECTOR_DOWN: i16 = 42;
    pub(crate) const CHANGED: i16 = 50;
}

/// JSON in `workspace_events.data`: what the other columns have no place for.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct EventData<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_version: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    automation: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Cow<'d, str>>,
    /// The changed object's kind and id, and the person who changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Cow<'d, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'d, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<Cow<'d, str>>,
    /// A version's number, or how many lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
}

impl EventData<'_> {
    fn into_change(self) -> Option<Change> {
        Some(Change {
            kind: self.changed?.parse::<ChangedKind>().ok()?,
            id: self.id?.into_owned(),
            by: self.by.map(Id::from_uuid),
            app: self.app.map(Id::from_uuid),
            automation: self.automation.map(Id::from_uuid),
            project: self.project.map(Id::from_uuid),
            table: self.table.map(Cow::into_owned),
        })
    }
}

/// The columns of one event.
pub(super) struct EventColumns<'h> {
    pub(super) kind: i16,
    pub(super) run: Option<Uuid>,
    pub(super) code: Option<&'h str>,
    pub(super) data: Option<String>,
}

impl<'h> EventColumns<'h> {
    pub(super) fn from_event_kind(what: &'h EventKind) -> Result<Self, StoreError> {
        let columns = |kind, code| Self { kind, run: None, code, data: None };
        let with =
            |kind, code, data: EventData<'_>| Ok(Self { data: Some(to_json(&data)?), ..columns(kind, code) });
        match what {
            EventKind::Run { run, stage } => {
                let (kind, code) = match stage {
                    RunStage::Queued => (kind::QUEUED, None),
                    RunStage::Running => (kind::RUNNING, None),
                    RunStage::Retried { code } => (kind::RETRIED, Some(code.as_str())),
                    RunStage::AwaitingApproval { approval } => {
                        let data = EventData { approval: Some(approval.uuid()), ..EventData::default() };
                        let columns = with(kind::WAITING, None, data)?;
                        return Ok(Self { run: Some(run.uuid()), ..columns });
                    }
                    RunStage::Succeeded => (kind::SUCCEEDED, None),
                    RunStage::Failed { code } => (kind::FAILED, Some(code.as_str())),
                    RunStage::Blocked { code } => (kind::BLOCKED, Some(code.as_str())),
                };
                Ok(Self { run: Some(run.uuid()), ..columns(kind, code) })
            }
            EventKind::VersionCreated { version, number } => {
                let data = EventData {
                    version: Some(version.uuid()),
                    number: Some(*number),
                    ..EventData::default()
                };
                with(kind::BUILD, None, data)
            }
            EventKind::RolledBack { from, version, number } => {
                let data = EventData {
                    version: Some(version.uuid()),
                    from_version: Some(from.uuid()),
                    number: Some(*number),
                    ..EventData::default()
                };
                with(kind::ROLLBACK, None, data)
            }
            EventKind::EgressRefused { run, request: refused } => {
                let data =
                    EventData { call: Some(Cow::Borrowed(&refused.request_line)), ..EventData::default() };
                let columns = with(kind::GATE_REFUSAL, Some(refused.code.as_str()), data)?;
                Ok(Self { run: run.map(Id::uuid), ..columns })
            }
            EventKind::WebhookCallRefused { delivery, automation, code } => {
                let (delivery, automation) = (Some(delivery.uuid()), Some(automation.uuid()));
                with(
                    kind::CALL_REFUSAL,
                    Some(code),
                    EventData { delivery, automation, ..EventData::default() },
                )
            }
            EventKind::AppFailing { run, code } => {
                Ok(Self { run: Some(run.uuid()), ..columns(kind::APP_FAILING, Some(code.as_str())) })
            }
            EventKind::AutomationFailing { automation, run, code } => {
                let data = EventData { automation: Some(automation.uuid()), ..EventData::default() };
                let columns = with(kind::AUTOMATION_FAILING, Some(code.as_str()), data)?;
                Ok(Self { run: Some(run.uuid()), ..columns })
            }
            EventKind::ConnectorDown { connection, code } => {
                let data = EventData { connection: Some(connection.uuid()), ..EventData::default() };
                with(kind::CONNECTOR_DOWN, Some(code.as_str()), data)
            }
            EventKind::LinesLogged { lines } => {
                with(kind::LOG, None, EventData { number: Some(*lines), ..EventData::default() })
            }
            EventKind::Changed(change) => {
                let data = EventData {
                    changed: Some(Cow::Borrowed(change.kind.as_str())),
                    id: Some(Cow::Borrowed(&change.id)),
                    by: change.by.map(Id::uuid),
                    app: change.app.map(Id::uuid),
                    automation: change.automation.map(Id::uuid),
                    project: change.project.map(Id::uuid),
                    table: change.table.as_deref().map(Cow::Borrowed),
                    ..EventData::default()
                };
                with(kind::CHANGED, None, data)
            }
        }
    }
}

/// Reads what [`EventColumns::from_event_kind`] made.
pub(super) fn parse_event_kind(
    row: RowContext,
    kind: i16,
    run: Option<Uuid>,
    code: Option<&str>,
    data: Option<&str>,
) -> Result<EventKind, StoreError> {
    let missing = || row.error("the event lacks something of its kind");
    let data: EventData<'static> = data.map_or_else(|| Ok(EventData::default()), |data| row.json(data))?;
    let code = || code.map(str::to_owned).ok_or_else(missing);
    let stage = match kind {
        kind::QUEUED => RunStage::Queued,
        kind::RUNNING => RunStage::Running,
        kind::RETRIED => RunStage::Retried { code: code()? },
        kind::WAITING => {
            RunStage::AwaitingApproval { approval: Id::from_uuid(data.approval.ok_or_else(missing)?) }
        }
        kind::SUCCEEDED => RunStage::Succeeded,
        kind::FAILED => RunStage::Failed { code: code()? },
        kind::BLOCKED => RunStage::Blocked { code: code()? },
        kind::BUILD => {
            let version = Id::from_uuid(data.version.ok_or_else(missing)?);
            return Ok(EventKind::VersionCreated { version, number: data.number.ok_or_else(missing)? });
        }
        kind::ROLLBACK => {
            return Ok(EventKind::RolledBack {
                from: Id::from_uuid(data.from_version.ok_or_else(missing)?),
                version: Id::from_uuid(data.version.ok_or_else(missing)?),
                number: data.number.ok_or_else(missing)?,
            });
        }
        kind::GATE_REFUSAL => {
            let call = data.call.ok_or_else(missing)?.into_owned();
            let refused = RefusedRequest { request_line: call, code: code()? };
            return Ok(EventKind::EgressRefused { run: run.map(Id::from_uuid), request: refused });
        }
        kind::CALL_REFUSAL => {
            return Ok(EventKind::WebhookCallRefused {
                delivery: Id::from_uuid(data.delivery.ok_or_else(missing)?),
                automation: Id::from_uuid(data.automation.ok_or_else(missing)?),
                code: code()?,
            });
        }
        kind::APP_FAILING => {
            let run = Id::from_uuid(run.ok_or_else(missing)?);
            return Ok(EventKind::AppFailing { run, code: code()? });
        }
        kind::AUTOMATION_FAILING => {
            let run = Id::from_uuid(run.ok_or_else(missing)?);
            let automation = Id::from_uuid(data.automation.ok_or_else(missing)?);
            return Ok(EventKind::AutomationFailing { automation, run, code: code()? });
        }
        kind::CONNECTOR_DOWN => {
            let connection = Id::from_uuid(data.connection.ok_or_else(missing)?);
            return Ok(EventKind::ConnectorDown { connection, code: code()? });
        }
        kind::CHANGED => return data.into_change().map(EventKind::Changed).ok_or_else(missing),
        kind::LOG => return Ok(EventKind::LinesLogged { lines: data.number.ok_or_else(missing)? }),
        unknown => return Err(row.error(format_args!("{unknown} is no kind of event"))),
    };
    Ok(EventKind::Run { run: Id::from_uuid(run.ok_or_else(missing)?), stage })
}

/// The audience of a change as columns.
#[derive(Default)]
pub(super) struct AudienceColumns {
    pub(super) app: Option<Uuid>,
    pub(super) role: Option<i16>,
    pub(super) user: Option<Uuid>,
}

impl From<&Audience> for AudienceColumns {
    fn from(audience: &Audience) -> Self {
        match audience {
            Audience::AppViewers(app) => Self { app: Some(app.uuid()), ..Self::default() },
            Audience::Members(role) => Self { role: Some(role_number(*role)), ..Self::default() },
            Audience::Person { user, role } => {
                Self { role: Some(role_number(*role)), user: Some(user.uuid()), ..Self::default() }
            }
        }
    }
}

/// Returns the number of a role in `workspace_events.audience_role`: the more authority, the smaller.
pub(super) fn role_number(role: Role) -> i16 {
    match role {
        Role::Owner => 0,
        Role::Admin => 1,
        Role::Builder => 2,
        Role::Member => 3,
        Role::Viewer => 4,
    }
}
