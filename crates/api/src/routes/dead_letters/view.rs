//! A dead letter as it stands on the wire.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use kernel::{
    Problem,
    authority::{AppRightName, Member, authorize_app},
    id::{AppId, AutomationId, DeadLetterId, DeliveryId, RunId},
};
use runs::{
    TriggerKind,
    dead_letters::{DeadLetter, DeadLetterKind, DeadLetterOrigin, DeadLetterState, DeadLetterStatus},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{routes::runs::VersionRefView, state::Api};

/// A failed run or refused call, kept for replay.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterSummary)]
pub(super) struct DeadLetterView {
    id: DeadLetterId,
    kind: DeadLetterKind,
    state: DeadLetterState,
    app_id: AppId,
    app_name: String,
    /// The automation that was to start it.
    #[schema(required)]
    road_id: Option<AutomationId>,
    #[schema(required)]
    road_name: Option<String>,
    trigger: TriggerKind,
    /// Why it failed or was refused: the run's error code, or the refusal's.
    reason: String,
    message: String,
    /// The run that failed.
    #[schema(required)]
    run_id: Option<RunId>,
    /// The call that was refused.
    #[schema(required)]
    delivery_id: Option<DeliveryId>,
    /// What ran, or would have.
    #[schema(required)]
    version: Option<VersionRefView>,
    /// Attempts of the run, or calls that were the same.
    #[schema(minimum = 1)]
    attempt: u32,
    /// Whether what the app was given is still there.
    has_payload: bool,
    /// How large it is, as JSON.
    payload_bytes: u64,
    /// Its first 200 characters.
    #[schema(required)]
    preview: Option<String>,
    /// When it failed or was refused.
    #[serde(serialize_with = "crate::rfc3339::millis")]
    created_at: DateTime<Utc>,
    /// When it was replayed or discarded.
    #[schema(required)]
    #[serde(serialize_with = "crate::rfc3339::millis_or_null")]
    settled_at: Option<DateTime<Utc>>,
    #[schema(required)]
    settled_by_name: Option<String>,
    /// The run that replays it.
    #[schema(required)]
    replay_run_id: Option<RunId>,
    /// Whether the caller may replay it.
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

    /// Letters of several apps, each with whether the caller may replay it.
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
                    // An app that was deleted has no rights any more.
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
