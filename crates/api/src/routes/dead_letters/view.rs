//! Dead letters on the wire.

use std::collections::HashMap;

use application::Problem;
use chrono::{DateTime, Utc};
use kernel::{
    authority::{AppRightName, Member, authorize_app},
    id::{AppId, AutomationId, DeadLetterId, DeliveryId, RunId},
};
use runs::{
    TriggerKind,
    dead_letters::{DeadLetter, DeadLetterKind, DeadLetterOrigin, DeadLetterState, DeadLetterStatus},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::schemas;

use crate::{routes::runs::view::VersionRefView, state::Api};

/// A failed run or a refused call, kept for replay.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterSummary)]
pub(super) struct DeadLetterView {
    id: DeadLetterId,
    #[schema(value_type = schemas::runs::LetterKind)]
    kind: DeadLetterKind,
    #[schema(value_type = schemas::runs::LetterState)]
    state: DeadLetterState,
    app_id: AppId,
    app_name: String,
    /// Automation of the run or the call.
    #[schema(required)]
    road_id: Option<AutomationId>,
    #[schema(required)]
    road_name: Option<String>,
    #[schema(value_type = schemas::runs::TriggerKind)]
    trigger: TriggerKind,
    /// Error code of the run, or of the refusal.
    reason: String,
    message: String,
    /// Failed run.
    #[schema(required)]
    run_id: Option<RunId>,
    /// Refused call.
    #[schema(required)]
    delivery_id: Option<DeliveryId>,
    /// Version that ran, or would have run.
    #[schema(required)]
    version: Option<VersionRefView>,
    /// Number of attempts of the run, or of identical calls.
    #[schema(minimum = 1)]
    attempt: u32,
    /// `true` if the input is still stored.
    has_payload: bool,
    /// Size of the input as JSON, in bytes.
    payload_bytes: u64,
    /// First 200 characters of the input.
    #[schema(required)]
    preview: Option<String>,
    /// Time of the failure or refusal.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    /// Time at which it was replayed or discarded.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    settled_at: Option<DateTime<Utc>>,
    #[schema(required)]
    settled_by_name: Option<String>,
    /// Run that replays it.
    #[schema(required)]
    replay_run_id: Option<RunId>,
    /// `true` if you may replay it.
    can_manage: bool,
}

impl DeadLetterView {
    pub(super) fn of(dead_letter: DeadLetter, can_manage: bool) -> Self {
        let (run_id, delivery_id) = match dead_letter.origin {
            DeadLetterOrigin::Run(run) => (Some(run), None),
            DeadLetterOrigin::Delivery(delivery) => (None, Some(delivery)),
        };
        let (settled, replay_run_id) = match &dead_letter.status {
            DeadLetterStatus::Open => (None, None),
            DeadLetterStatus::Replayed(settled, run) => (Some(settled), Some(*run)),
            DeadLetterStatus::Discarded(settled) => (Some(settled), None),
        };
        Self {
            settled_at: settled.map(|settled| settled.at),
            settled_by_name: settled.and_then(|settled| settled.by.clone()),
            replay_run_id,
            id: dead_letter.id,
            kind: dead_letter.origin.kind(),
            state: dead_letter.status.state(),
            app_id: dead_letter.app,
            app_name: dead_letter.app_name,
            road_id: dead_letter.automation,
            road_name: dead_letter.automation_name,
            trigger: dead_letter.trigger,
            reason: dead_letter.reason,
            message: dead_letter.message,
            run_id,
            delivery_id,
            version: dead_letter.version.map(Into::into),
            attempt: dead_letter.attempt,
            has_payload: dead_letter.has_payload,
            payload_bytes: dead_letter.payload_bytes,
            preview: dead_letter.preview,
            created_at: dead_letter.created_at,
            can_manage,
        }
    }

    /// Converts dead letters of several apps, and looks up for each app whether the caller may replay them.
    pub(super) async fn of_all(
        api: &Api,
        member: &Member,
        dead_letters: Vec<DeadLetter>,
    ) -> Result<Vec<Self>, Problem> {
        let mut can_manage_by_app: HashMap<AppId, bool> = HashMap::new();
        let mut views = Vec::with_capacity(dead_letters.len());
        for dead_letter in dead_letters {
            let can_manage = match can_manage_by_app.get(&dead_letter.app) {
                Some(known) => *known,
                None => {
                    // Nobody has rights on a deleted app.
                    let fact = api.store().app_fact(dead_letter.app, member.user()).await?;
                    let access = authorize_app(member.clone(), fact.as_ref());
                    access.is_ok_and(|access| access.rights().contains(AppRightName::CanEdit))
                }
            };
            can_manage_by_app.insert(dead_letter.app, can_manage);
            views.push(Self::of(dead_letter, can_manage));
        }
        Ok(views)
    }
}
