//! Types of `runs`.

use std::collections::BTreeMap;

use serde::Deserialize;
use utoipa::ToSchema;

use super::enumeration::enumerations;

/// Arguments of a tool: a subset of JSON Schema 2020-12 that clients of all large models accept, at most 16 KiB. The guide
/// lists its keywords.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a description, of which there are no values")]
pub(crate) struct ToolInputSchema {
    #[serde(rename = "type")]
    kind: ToolInputType,
    /// Schemas of the arguments, at most 100 in all objects, by names of 1 to 64 ASCII letters, digits, `_`, `.` and `-`.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    properties: BTreeMap<String, serde_json::Value>,
    /// Arguments that a call must have.
    #[serde(default)]
    #[schema(max_items = 20)]
    required: Option<Vec<String>>,
    /// `false` if a call may have no other arguments; other values are not accepted.
    #[serde(default)]
    additional_properties: Option<bool>,
}

/// Type of the arguments.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolInputType {
    /// They are members of an object.
    Object,
}

enumerations! {
    /// State of a tool: `needs_review` if its app may do something else than was reviewed, `paused` if the app or the
    /// automation is paused.
    AgentToolState: runs::agent_tools::AgentToolState;
    /// State of a question.
    ApprovalState: runs::approvals::ApprovalState;
    /// Status of an automation.
    AutomationStatus: runs::AutomationStatus;
    /// Policy for missed occurrences, such as those while no server ran.
    CatchUp: runs::automations::occurrences::CatchUp;
    /// Confidence of the rules in a cause.
    Confidence: runs::diagnosis::Confidence;
    /// Class of a failure.
    FailureClass: runs::diagnosis::FailureClass;
    /// Kind of the origin of a dead letter.
    LetterKind: runs::dead_letters::DeadLetterKind;
    /// State of a dead letter.
    LetterState: runs::dead_letters::DeadLetterState;
    /// Policy for an occurrence that comes while an earlier run of the automation is queued or executing.
    Overlap: runs::automations::occurrences::Overlap;
    /// Kind of proof that a webhook demands of its senders.
    ProofMode: runs::webhooks::ProofMode;
    /// Status of a run.
    RunStatus: runs::RunStatus;
    /// Status of a step.
    StepStatus: runs::runs::StepStatus;
    /// Reason for which an automation cannot be published as a tool: it runs no app, its app has no version, events start it,
    /// or the app or the automation is paused or a draft.
    ToolBlock: runs::agent_tools::ToolBlock;
    /// Kind of a trigger.
    TriggerKind: runs::TriggerKind;
    /// Version of the app that a replay runs.
    WhichVersion: runs::dead_letters::WhichVersion;
}
