//! The version that a new one is measured against, and the check of whether its caller may publish what it gains.

use kernel::{
    Context,
    authority::{Role, Sharing},
    id::VersionId,
};

use super::{AppVersion, VersionContent};
use crate::{
    App, AppError, AppsTx, Category, Manifest,
    safe_band::{OutsideBand, PublishRule, Reach, check_gains, is_confined, reasons_outside},
};

/// The version that a new one is measured against, as it was read before the transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    version: Option<VersionId>,
    manifest: Manifest,
    trust_score: u8,
    has_fetch: bool,
    /// Sharing before; none if it stays as it is.
    sharing: Option<Sharing>,
}

impl Baseline {
    /// Returns the baseline of an app that has no version: a manifest that asks for nothing.
    #[must_use]
    pub fn nothing() -> Self {
        let manifest = Manifest::minimal("Nothing", "It asks for nothing.", "workshop", Category::Interface);
        Self { version: None, manifest, trust_score: 100, has_fetch: false, sharing: None }
    }

    /// Returns the baseline of an app that is created with its first version.
    #[must_use]
    pub fn new_app() -> Self {
        Self { sharing: Some(Sharing::Private), ..Self::nothing() }
    }

    /// Returns the baseline of a version.
    #[must_use]
    pub fn of(version: &AppVersion, manifest: Manifest, has_fetch: bool) -> Self {
        let (version, trust_score) = (Some(version.id), version.trust_score);
        Self { version, manifest, trust_score, has_fetch, sharing: None }
    }

    /// Returns the version; none for an app that has none.
    #[must_use]
    pub fn version(&self) -> Option<VersionId> {
        self.version
    }

    /// Returns the manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns why a version is outside the safe band of this one.
    #[must_use]
    pub fn reasons_outside(&self, after: Reach<'_>) -> Vec<OutsideBand> {
        let before = Reach {
            manifest: &self.manifest,
            trust_score: self.trust_score,
            has_fetch: self.has_fetch,
            sharing: self.sharing.unwrap_or(after.sharing),
        };
        reasons_outside(before, after)
    }
}

/// The circumstances in which a version is published.
#[derive(Debug, Clone, PartialEq)]
pub struct Publishing {
    /// Version that it was measured against.
    pub baseline: Baseline,
    /// Rule for what it gains.
    pub rule: PublishRule,
    /// True if it has the manifest of the baseline because the caller gave none.
    pub inherits_manifest: bool,
}

impl Publishing {
    /// Checks what a version gains by the version that is current now, whose app the transaction has locked.
    ///
    /// # Errors
    /// * [`AppError::StaleVersion`] when another version became current, and the new one would give the app what that one has
    ///   not
    /// * those of [`check_gains`]
    pub(super) async fn check(
        &self,
        tx: &mut dyn AppsTx,
        ctx: &Context,
        role: Role,
        app: &App,
        after: Reach<'_>,
    ) -> Result<(), AppError> {
        let measured = self.baseline.reasons_outside(after);
        if app.current_version == self.baseline.version {
            return check_gains(&ctx.caller, role, self.rule, &measured);
        }
        if self.inherits_manifest {
            return Err(AppError::StaleVersion);
        }
        let current = app.current_version.ok_or(AppError::StaleVersion)?;
        let found = tx.version_content(app.workspace, app.id, current).await?;
        let (version, VersionContent { manifest, .. }) = found.ok_or(AppError::StaleVersion)?;
        let has_fetch = version.handlers.is_some_and(|handlers| handlers.fetch);
        let now = Baseline::of(&version, manifest, has_fetch).reasons_outside(after);
        let is_new_access = |reason: &OutsideBand| match reason {
            OutsideBand::Permission(_)
            | OutsideBand::Connector(_)
            | OutsideBand::Header(_)
            | OutsideBand::Budget => !measured.contains(reason),
            OutsideBand::Sharing | OutsideBand::Trust | OutsideBand::Visitors => false,
        };
        let is_refused = is_confined(&ctx.caller, role, self.rule) && !now.is_empty();
        if is_refused || now.iter().any(is_new_access) {
            return Err(AppError::StaleVersion);
        }
        check_gains(&ctx.caller, role, self.rule, &now)
    }
}
