//! Planned changes on the wire.

use apps::{
    Manifest,
    changes::Change,
    manifest::diff::{Difference, diff_manifests},
};
use kernel::{
    Locale,
    authority::Role,
    id::{AppId, ChangeId, VersionId},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::schemas;

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
    builder: ChangeBuilder,
    #[schema(required)]
    model: Option<String>,
    #[schema(required)]
    template_id: Option<String>,
    #[schema(max_items = 8)]
    notes: Vec<String>,
    admin_approval: AdminApproval,
}

/// Differences between the current and the new manifest.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ManifestDiff {
    /// Permissions that the app gains.
    gains: Vec<DiffDetail>,
    /// Permissions that the app loses.
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
    /// `egress`, `data`, `connector`, `secret`, `ai` or `trigger`.
    subject: &'static str,
    /// `added`, `removed` or `changed`.
    change: &'static str,
    /// Host, name in the code, or type of the trigger.
    name: String,
    /// Methods or kind of access; empty for all.
    terms: String,
    sentence: String,
}

/// Planner of a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeBuilder {
    /// A model.
    #[expect(dead_code, reason = "no model can be connected yet")]
    ModelBuilder,
    /// Rules.
    Offline,
}

/// Approval by an admin; required if the plan opens a gate or uses a connection and its planner is not an admin.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdminApproval {
    required: bool,
    /// New connections that the app would use, by their names in the code.
    connectors: Vec<String>,
}

impl ManifestDiff {
    /// Describes differences in the language of the reader.
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
            let permissions =
                found.iter().filter(|it| it.subject != Subject::Trigger && it.widens_access == gains);
            permissions.map(detail).collect()
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
        let found = diff_manifests(&plan.before, &plan.manifest);
        let connectors = found.iter().filter(|it| it.subject == Subject::Connector && it.widens_access);
        let connectors: Vec<String> = connectors.map(|it| it.name.clone()).collect();
        let for_an_admin = !connectors.is_empty() || !plan.needs_console.is_empty();
        Self {
            change_id: change.id,
            app_id: change.app,
            app_name,
            base_version_id: plan.base,
            instruction: plan.instruction,
            summary: plan.summary,
            diff: ManifestDiff::of(&found, Locale::En),
            manifest: plan.manifest,
            steps: plan.steps,
            rebuilds_code: false,
            builder: ChangeBuilder::Offline,
            model: None,
            template_id: None,
            notes: plan.notes,
            admin_approval: AdminApproval {
                required: for_an_admin && !planner.at_least(Role::Admin),
                connectors,
            },
        }
    }
}
