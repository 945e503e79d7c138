//! The port of planners, which make plans of instructions.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{ChangePlan, plan_instruction::draft_plan, surroundings::Surroundings};
use crate::{AppError, InvalidInput, versions::check_files};

/// Input of a planner.
#[derive(Debug, Clone, Copy)]
pub struct PlanRequest<'a> {
    /// Instruction in a person's words; its bounds are [`INSTRUCTION_CHARS`](super::INSTRUCTION_CHARS).
    pub instruction: &'a str,
    /// Objects that the instruction may name.
    pub surroundings: &'a Surroundings,
    /// Files of the current version.
    pub files: &'a BTreeMap<String, String>,
}

/// A planner: rules, or a model.
#[async_trait]
pub trait ChangePlanner: Send + Sync {
    /// Drafts the plan of an instruction. Nothing is built. What is not understood is a note of the plan.
    ///
    /// # Errors
    /// [`AppError::InvalidInput`] when the instruction is out of bounds.
    async fn draft(&self, request: PlanRequest<'_>) -> Result<ChangePlan, AppError>;
}

/// The planner without a model: rules that are the same for everybody.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflinePlanner;

#[async_trait]
impl ChangePlanner for OfflinePlanner {
    async fn draft(&self, request: PlanRequest<'_>) -> Result<ChangePlan, AppError> {
        Ok(draft_plan(request.instruction, request.surroundings, request.files)?)
    }
}

/// Checks what a planner drafted, whoever it is: a plan has a valid manifest, and files within the bounds of a version.
///
/// # Errors
/// [`InvalidInput`] for the first bound that is broken.
pub fn check_plan(plan: &ChangePlan) -> Result<(), InvalidInput> {
    plan.manifest.check().map_err(InvalidInput::from)?;
    plan.planned_by.files().map_or(Ok(()), check_files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        changes::{PlannedBy, plan_instruction::tests::surroundings},
        versions::{ChangeBuilder, ENTRY_FILE},
    };

    #[tokio::test]
    async fn rules_plan_without_a_model_and_keep_the_code() {
        let (surroundings, files) = (surroundings(), BTreeMap::new());
        let request = PlanRequest {
            instruction: "Each run saves 5 minutes.",
            surroundings: &surroundings,
            files: &files,
        };
        let plan = OfflinePlanner.draft(request).await.unwrap();
        assert_eq!((plan.planned_by.builder(), plan.planned_by.model()), (ChangeBuilder::Offline, None));
        assert_eq!(plan.planned_by.files(), None);
        check_plan(&plan).unwrap();

        let refused = OfflinePlanner.draft(PlanRequest { instruction: "No", ..request }).await;
        assert!(matches!(refused, Err(AppError::InvalidInput(InvalidInput::Instruction(_)))), "{refused:?}");
    }

    #[tokio::test]
    async fn the_output_of_every_planner_is_checked() {
        let (surroundings, files) = (surroundings(), BTreeMap::new());
        let request = PlanRequest {
            instruction: "Each run saves 5 minutes.",
            surroundings: &surroundings,
            files: &files,
        };
        let mut plan = OfflinePlanner.draft(request).await.unwrap();
        let by_model = |path: &str| PlannedBy::Model {
            model: "a-model".to_owned(),
            files: Some(BTreeMap::from([(path.to_owned(), String::new())])),
        };
        plan.planned_by = by_model("other.js");
        assert_eq!(check_plan(&plan), Err(InvalidInput::NoEntryFile));
        plan.planned_by = by_model(ENTRY_FILE);
        check_plan(&plan).unwrap();
        plan.manifest.name = String::new();
        assert!(matches!(check_plan(&plan), Err(InvalidInput::Manifest(_))));
    }
}
