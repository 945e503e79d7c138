//! Planning a change from an instruction.

use apps::changes::{Change, PlanRequest, check_plan, mentions_tables, plan_instruction};
use kernel::{
    Context,
    authority::{AppRight, CanEdit},
};

use crate::{Application, Problem, unit};

impl Application {
    /// Plans what an instruction asks for; returns the change and the name of the app. Nothing is built.
    ///
    /// # Errors
    /// [`Problem`] if the app has no version, the instruction is out of bounds, the caller has too many plans, or the store
    /// fails.
    pub async fn plan_change(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        instruction: &str,
    ) -> Result<(Change, String), Problem> {
        let workspace = right.member().workspace();
        let app = self.store().app(workspace, right.app()).await?;
        let app = app.ok_or_else(|| Problem::not_found("app"))?;
        let read = self.surroundings(ctx, right, &app, mentions_tables(instruction)).await?;
        let (surroundings, files) = read.ok_or_else(|| {
            Problem::conflict("no_version", "The app has no version to change.")
                .hint("Create its first version: POST /v1/apps/{id}/versions.")
        })?;
        let request = PlanRequest { instruction, surroundings: &surroundings, files: &files };
        let plan = self.change_planner().draft(request).await?;
        check_plan(&plan)?;
        let change = self
            .transaction(unit!(|tx| {
                // A planner may have asked a model meanwhile.
                let right = self.lock_app::<CanEdit>(tx, ctx, right.app()).await?;
                Ok::<_, Problem>(plan_instruction(tx, ctx, &right, plan.clone()).await?)
            }))
            .await?;
        Ok((change, app.name))
    }
}
