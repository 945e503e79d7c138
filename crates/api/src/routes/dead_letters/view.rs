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
    dead_letters::{DeadLetter, LetterFate, LetterKind, LetterOrigin, LetterState},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{routes::runs::VersionRefView, state::Api};

/// A failed run or refused call, kept for replay.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterSummary)]
pub(super) struct LetterView {
    id: DeadLetterId,
    kind: LetterKind,
    state: LetterState,
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
    #[serde(serialize_with = "crate::moment::millis")]
    created_at: DateTime<Utc>,
    /// When it was replayed or discarded.
    #[schema(required)]
    #[serde(serialize_with = "crate::moment::millis_or_null")]
    settled_at: Option<DateTime<Utc>>,
    #[schema(required)]
    settled_by_name: Option<String>,
    /// The run that replays it.
    #[schema(required)]
    replay_run_id: Option<RunId>,
    /// Whether the caller may replay it.
    can_manage: bool,
}

impl LetterView {
    pub(super) fn of(letter: DeadLetter, can_manage: bool) -> Self {
        let (run_id, delivery_id) = match letter.origin {
            LetterOrigin::Run(run) => (Some(run), None),
            LetterOrigin::Delivery(delivery) => (None, Some(delivery)),
        };
        let (settled, replay_run_id) = match &letter.fate {
            LetterFate::Open => (None, None),
            LetterFate::Replayed(settled, run) => (Some(settled), Some(*run)),
            LetterFate::Discarded(settled) => (Some(settled), None),
        };
        Self {
            settled_at: settled.map(|settled| settled.at),
            settled_by_name: settled.and_then(|settled| settled.by.clone()),
            replay_run_id,
            id: letter.id,
            kind: letter.origin.kind(),
            state: letter.fate.state(),
            app_id: letter.app,
            app_name: letter.app_name,
            road_id: letter.automation,
            road_name: letter.automation_name,
            trigger: letter.trigger,
            reason: letter.reason,
            message: letter.message,
            run_id,
            delivery_id,
            version: letter.version.map(Into::into),
            attempt: letter.attempt,
            has_payload: letter.has_payload,
            payload_bytes: letter.payload_bytes,
            preview: letter.preview,
            created_at: letter.created_at,
            can_manage,
        }
    }

    /// Letters of several apps, each with whether the caller may replay it.
    pub(super) async fn of_all(
        api: &Api,
        member: &Member,
        letters: Vec<DeadLetter>,
    ) -> Result<Vec<Self>, Problem> {
        let mut manages: HashMap<AppId, bool> = HashMap::new();
        let mut views = Vec::with_capacity(letters.len());
        for letter in letters {
            let can_manage = match manages.get(&letter.app) {
                Some(known) => *known,
                None => {
                    // An app that was deleted has no rights any more.
                    let fact = api.store().app_fact(letter.app, member.user()).await?;
                    let access = authorize_app(member.clone(), fact.as_ref());
                    access.is_ok_and(|access| access.rights().contains(AppRightName::CanEdit))
                }
            };
            manages.insert(letter.app, can_manage);
            views.push(Self::of(letter, can_manage));
        }
        Ok(views)
    }
}
