//! Types of `runs`.

use super::enumeration::enumerations;

enumerations! {
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
    /// Kind of a trigger.
    TriggerKind: runs::TriggerKind;
    /// Version of the app that a replay runs.
    WhichVersion: runs::dead_letters::WhichVersion;
}
