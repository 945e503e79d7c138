//! Types of `application`.

#![expect(dead_code, reason = "described, never created")]

use chrono::{DateTime, Utc};
use kernel::id::{AppId, ApprovalId, ConnectionId, RunId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::enumeration::enumerations;

enumerations! {
    /// The kind of an object that a search finds.
    FoundKind: application::search::FoundKind;
    /// Type of an alert.
    AgentAlert: application::feeds::AgentAlert;
    /// Type of an event for agents.
    AgentEventKind: application::feeds::AgentEventKind;
}

/// Events since a number, and the number from which to continue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentFeed {
    #[schema(max_items = 100)]
    items: Vec<AgentEvent>,
    /// Value to send as `since` in the next request. It also moves past events that you may not see.
    cursor: u64,
    /// `true` if events between `since` and the first item are no longer stored.
    gap: bool,
}

/// An event that an agent may want to act on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentEvent {
    #[schema(minimum = 1)]
    seq: u64,
    at: DateTime<Utc>,
    kind: AgentEventKind,
    /// Type of the alert, if the event is one.
    #[schema(required)]
    alert: Option<AgentAlert>,
    #[schema(required)]
    app_id: Option<AppId>,
    #[schema(required)]
    app_name: Option<String>,
    #[schema(required)]
    run_id: Option<RunId>,
    /// Approval that the run waits for.
    #[schema(required)]
    approval_id: Option<ApprovalId>,
    /// Connection that does not work any more.
    #[schema(required)]
    connection_id: Option<ConnectionId>,
    /// Error code, if something failed or was refused.
    #[schema(required, max_length = 64)]
    code: Option<String>,
    /// `true` if a token or an agent requested the run.
    asked_by_agent: bool,
}
