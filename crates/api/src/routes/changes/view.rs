//! Planned changes on the wire.

use apps::{
    Manifest,
    changes::{Change, ChangeOutcome, ChangeState},
    manifest::diff::Difference,
    versions::ChangeBuilder,
};
use chrono::{DateTime, Utc};
use kernel::{
    Locale, Timestamp,
    authority::Role,
    id::{AppId, ChangeId, VersionId},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::{conditional::Representation, schemas};

/// A planned change and its state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Change)]
pub(crate) struct ChangeView {
    change_id: ChangeId,
    app_id: AppId,
    #[schema(value_type = schemas::apps::ChangeState)]
    state: ChangeState,
    /// Reason of the failure.
    #[schema(required)]
    message: Option<String>,
    /// Version that the change became; the plan's base version if the manifest stayed as it was.
    #[schema(required)]
    version_id: Option<VersionId>,
    /// Trust score of the planned version; null for a plan that a run suggested.
    #[schema(required, maximum = 100)]
    trust_score: Option<u8>,
    /// Current step of the work on the change; null unless its state is `building`.
    #[schema(required)]
    stage: Option<String>,
    plan: OpenPlan,
}

/// The plan, and the time until which it can be approved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenPlan {
    #[serde(flatten)]
    plan: ChangePlanView,
    /// Reasons why only a person in the console may approve the plan, and steps that only an admin can take there.
    needs_console: Vec<String>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
}

impl Representation for ChangeView {}

impl ChangeView {
    pub(crate) fn of(change: Change, app_name: String, planner: Role, now: Timestamp) -> Self {
        let (version_id, message) = match &change.outcome {
            Some(ChangeOutcome::Live(version)) => (Some(*version), None),
            Some(ChangeOutcome::Failed(message)) => (None, Some(message.clone())),
            None => (None, None),
        };
        Self {
            change_id: change.id,
            app_id: change.app,
            state: change.state(now),
            message,
            version_id,
            trust_score: change.plan.trust.map(|trust| trust.after),
            stage: None,
            plan: OpenPlan {
                needs_console: change.plan.needs_console.clone(),
                expires_at: change.expires_at,
                plan: ChangePlanView::of(change, app_name, planner),
            },
        }
    }
}

/// The plan of a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChangePlan)]
pub(crate) struct ChangePlanView {
    change_id: ChangeId,
    app_id: AppId,
    app_name: String,
    base_version_id: VersionId,
    instruction: String,
    #[schema(min_length = 1, max_length = 300)]
    summary: String,
    /// The new manifest.
    #[schema(value_type = schemas::apps::Manifest)]
    manifest: Manifest,
    diff: ManifestDiff,
    /// Steps that follow the approval of the plan.
    steps: Vec<String>,
    /// `true` if the code changes too.
    rebuilds_code: bool,
    #[schema(value_type = schemas::apps::ChangeBuilder)]
    builder: ChangeBuilder,
    #[schema(required)]
    model: Option<String>,
    #[schema(required)]
    template_id: Option<String>,
    #[schema(max_items = 8)]
    notes: Vec<String>,
    admin_approval: AdminApproval,
}

/// Differences between the current and the new manifest, and changes of the app and its automations.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ManifestDiff {
    /// Permissions that the app gains, and wider sharing.
    gains: Vec<DiffDetail>,
    /// Permissions that the app loses, and narrower sharing.
    losses: Vec<DiffDetail>,
    triggers_added: Vec<DiffDetail>,
    triggers_removed: Vec<DiffDetail>,
    /// All differences.
    details: Vec<DiffDetail>,
}

/// A difference.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffDetail {
    /// `egress`, `header`, `data`, `connector`, `secret`, `ai`, `trigger`, `sharing`, `name`, `description`, `roi` or `retries`.
    subject: &'static str,
    /// `added`, `removed` or `changed`.
    change: &'static str,
    /// Host, name in the code, type of the trigger, or automation; empty where an app has only one.
    name: String,
    /// Methods, headers, kind of access or value; empty for all.
    terms: String,
    sentence: String,
}

/// Approval by an admin; required if the plan opens a gate, uses a connection or lets the code set headers with credentials, and
/// its planner is not an admin.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdminApproval {
    required: bool,
    /// New connections that the app would use, by their names in the code.
    connectors: Vec<String>,
}

impl ManifestDiff {
    /// Describes differences in a language.
    pub(crate) fn of(found: &[Difference], locale: Locale) -> Self {
        use apps::manifest::diff::{DifferenceKind, Subject};
        let detail = |it: &Difference| DiffDetail {
            subject: it.subject.as_str(),
            change: it.change.as_str(),
            name: it.name.clone(),
            terms: it.details.clone(),
            sentence: it.describe(locale),
        };
        let permissions = |gains: bool| {
            let of_access =
                found.iter().filter(|it| it.subject.is_permission() || it.subject == Subject::Sharing);
            of_access.filter(|it| it.widens_access == gains).map(detail).collect()
        };
        let triggers = |turn: DifferenceKind| {
            let triggers = found.iter().filter(|it| it.subject == Subject::Trigger && it.change == turn);
            triggers.map(detail).collect()
        };
        Self {
            gains: permissions(true),
            losses: permissions(false),
            triggers_added: triggers(DifferenceKind::Added),
            triggers_removed: triggers(DifferenceKind::Removed),
            details: found.iter().map(detail).collect(),
        }
    }
}

impl ChangePlanView {
    pub(crate) fn of(change: Change, app_name: String, planner: Role) -> Self {
        use apps::manifest::diff::Subject;
        let plan = change.plan;
        let found = plan.differences();
        let connectors = found.iter().filter(|it| it.subject == Subject::Connector && it.widens_access);
        let connectors: Vec<String> = connectors.map(|it| it.name.clone()).collect();
        let sets_headers = found.iter().any(|it| it.subject == Subject::Header && it.widens_access);
        let for_an_admin = !connectors.is_empty() || sets_headers || !plan.closed_hosts.is_empty();
        Self {
            change_id: change.id,
            app_id: change.app,
            app_name,
            base_version_id: plan.base,
            instruction: plan.instruction,
            summary: plan.summary,
            diff: ManifestDiff::of(&found, plan.locale),
            manifest: plan.manifest,
            steps: plan.steps,
            rebuilds_code: plan.planned_by.files().is_some(),
            builder: plan.planned_by.builder(),
            model: plan.planned_by.model().map(str::to_owned),
            template_id: None,
            notes: plan.notes,
            admin_approval: AdminApproval {
                required: for_an_admin && !planner.at_least(Role::Admin),
                connectors,
            },
        }
    }
}
