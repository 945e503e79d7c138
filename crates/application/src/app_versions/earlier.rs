//! Having an earlier version of an app again, as the current one or for one run.

use apps::{
    AppVersion, Manifest,
    safe_band::PublishRule,
    versions::{Baseline, EarlierVersion, Publishing},
};
use kernel::{Context, authority::Member};

use crate::{Application, Problem, ProblemKind};

impl Application {
    /// Checks that the caller may give an app the projects and connections that an earlier version has and the current one
    /// does not. What else it gains is for [`EarlierVersion::check_gains`].
    ///
    /// # Errors
    /// 409 `version_unusable` if a project or connection is gone or the caller may not use it; 403 if it needs an admin in
    /// the console; a [`Problem`] if the store fails.
    pub(crate) async fn measure_earlier_version(
        &self,
        ctx: &Context,
        member: &Member,
        (version, manifest, has_fetch): (AppVersion, Manifest, bool),
        baseline: Baseline,
    ) -> Result<EarlierVersion, Problem> {
        let publishing = Publishing { baseline, rule: PublishRule::Direct, inherits_manifest: false };
        self.check_permissions(ctx, member, &manifest, &publishing).await.map_err(as_unusable)?;
        Ok(EarlierVersion { version, manifest, has_fetch, publishing })
    }
}

/// The version was allowed once: what is wrong with it now is no mistake in the request.
pub(super) fn as_unusable(problem: Problem) -> Problem {
    match problem.kind {
        ProblemKind::Invalid | ProblemKind::NotFound => {
            let message = format!("The version cannot be used any more: {}", problem.message);
            Problem::conflict("version_unusable", message)
                .hint("Create a version from its files with a manifest that fits.")
        }
        _ => problem,
    }
}
