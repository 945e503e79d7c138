//! Analysing an export.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use apps::versions::Handlers;
use imports::{Analysis, Surroundings, analyze};
use kernel::{Context, Locale, ShareId, authority::Member, id::WorkspaceId};
use runs::{
    automations::schedule::Schedule,
    engine::{Bundle, FailureCode},
    fair_share::{FairSemaphore, ShareLimits},
};

use crate::{Application, Problem, app_versions::handlers, turns::wait_for_turn};

/// Analyses of this process at once, one of each person. Each takes a thread for a fraction of a second.
static ANALYSES: LazyLock<Arc<FairSemaphore>> =
    LazyLock::new(|| FairSemaphore::new(2, ShareLimits { permits: 1, waiting: 8 }));
/// Most steps of an export whose code does not compile. Each is found by compiling the app once more.
const MAX_BROKEN: usize = 40;

impl Application {
    /// Analyses an export in the language and the time zone of the workspace. Nothing is kept.
    ///
    /// # Errors
    /// [`Problem`] if the export is too long, no JSON or of no known format, no turn comes or no worker is free
    /// in time, or the store fails.
    pub async fn analyze_import(
        &self,
        ctx: &Context,
        member: &Member,
        source: String,
    ) -> Result<Analysis, Problem> {
        Ok(self.analyze_and_check(ctx, member, source).await?.0)
    }

    /// Analyses an export, as [`Self::analyze_import`], and returns the handlers of its code if it can be created.
    pub(super) async fn analyze_and_check(
        &self,
        ctx: &Context,
        member: &Member,
        source: String,
    ) -> Result<(Analysis, Option<Handlers>), Problem> {
        let workspace = member.workspace();
        let settings = self.store().workspace(workspace).await?;
        let settings = settings.ok_or_else(|| Problem::not_found("workspace"))?;
        let source: Arc<str> = source.into();
        let share = ShareId::of(ctx.caller.user(), workspace);
        let mut broken = BTreeMap::new();
        for _ in 0..=MAX_BROKEN {
            let analysis =
                run_analysis(share, &source, (settings.locale, &settings.timezone), &broken).await?;
            if !analysis.report.can_create {
                return Ok((analysis, None));
            }
            let message = match self.check_analysis(ctx, workspace, &analysis).await? {
                Ok(handlers) => return Ok((analysis, Some(handlers))),
                Err(message) => message,
            };
            // The error begins with the path of the module.
            let found = analysis.code_files.iter().find(|path| message.starts_with(path.as_str()));
            let Some(path) = found else {
                return Err(Problem::internal(format!("the code of an import does not compile: {message}")));
            };
            broken.insert(path.clone(), message);
        }
        let message = format_args!("has more than {MAX_BROKEN} steps whose code does not compile");
        Err(Problem::invalid_field("source", message))
    }

    /// Returns the handlers of the app of an analysis, or why it does not compile.
    async fn check_analysis(
        &self,
        ctx: &Context,
        workspace: WorkspaceId,
        analysis: &Analysis,
    ) -> Result<Result<Handlers, String>, Problem> {
        let bundle = Arc::new(Bundle::new(ctx.new_id(), analysis.files.clone()));
        match self.engine().check(workspace, ctx.caller.user(), bundle).await {
            Ok(exported) => Ok(Ok(handlers(exported))),
            Err(failure) if failure.code == FailureCode::Overloaded => {
                Err(Problem::unavailable("overloaded", "The code cannot be checked right now.")
                    .hint("Try again in a moment."))
            }
            Err(failure) => Ok(Err(failure.message)),
        }
    }
}

/// Analyses once, when it is the share's turn.
async fn run_analysis(
    share: ShareId,
    source: &Arc<str>,
    (locale, timezone): (Locale, &str),
    broken: &BTreeMap<String, String>,
) -> Result<Analysis, Problem> {
    let turn = wait_for_turn(&ANALYSES, share, "Too many exports are being analysed.").await?;
    let (source, timezone, broken) = (Arc::clone(source), timezone.to_owned(), broken.clone());
    let analysis = tokio::task::spawn_blocking(move || {
        let is_schedule = |cron: &str, timezone: &str| Schedule::parse(cron, Some(timezone)).is_ok();
        let surroundings =
            Surroundings { locale, timezone: &timezone, is_schedule: &is_schedule, broken: &broken };
        let analysis = analyze(&source, &surroundings);
        // Not before its end, even if nobody waits for it any more.
        drop(turn);
        analysis
    });
    Ok(analysis.await.map_err(Problem::internal)??)
}
