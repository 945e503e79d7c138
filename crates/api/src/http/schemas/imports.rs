//! Types of `imports`.

use super::enumeration::enumerations;

enumerations! {
    /// The format of an export: `workflow_a` is a workflow of n8n, `workflow_b` a blueprint of Make, and `workflow_c` flows of
    /// Node-RED.
    ImportFormat: imports::Format;
    /// Share of a step that the app keeps: all of it, a part, nothing, or nothing because the step does nothing.
    ImportGrade: imports::Grade;
    /// The state of an import.
    ImportStatus: imports::imports::ImportStatus;
    /// The start of an imported workflow.
    ImportTrigger: imports::report::TriggerKind;
}
