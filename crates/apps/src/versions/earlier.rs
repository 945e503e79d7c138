//! An earlier version of an app that a caller wants to have again: current, or for one run.

use kernel::{
    Caller, Context,
    authority::{AppRight, CanEdit, Locked, Role, Sharing},
};

use super::{AppVersion, Publishing};
use crate::{
    App, AppError, AppsTx, Manifest,
    safe_band::{Reach, check_gains},
};

/// An earlier version of an app, and the current one that it is measured against.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierVersion {
    /// The version. Versions never change, so it was read before the transaction.
    pub version: AppVersion,
    /// Manifest of that version.
    pub manifest: Manifest,
    /// True if its code will answer requests of visitors.
    pub has_fetch: bool,
    /// Version that it is measured against, and the rule.
    pub publishing: Publishing,
}

impl EarlierVersion {
    /// Checks before a transaction that a caller may have what the version may do and the current one may not.
    ///
    /// # Errors
    /// Those of [`check_gains`].
    pub fn check_gains(&self, caller: &Caller, role: Role) -> Result<(), AppError> {
        // The sharing of the app stays, so it is no gain.
        let reasons = self.publishing.baseline.reasons_outside(self.reach(Sharing::Private));
        check_gains(caller, role, self.publishing.rule, &reasons)
    }

    /// Checks the same against the version that is current now, whose app the transaction has locked.
    pub(super) async fn check(
        &self,
        tx: &mut dyn AppsTx,
        ctx: &Context,
        role: Role,
        app: &App,
    ) -> Result<(), AppError> {
        self.publishing.check(tx, ctx, role, app, self.reach(app.sharing)).await
    }

    fn reach(&self, sharing: Sharing) -> Reach<'_> {
        let trust_score = self.version.trust_score;
        Reach { manifest: &self.manifest, trust_score, has_fetch: self.has_fetch, sharing }
    }
}

/// Checks in a transaction that a caller may run an earlier version of an app, which stays at its current one. A run of code
/// that may do more than the current version is as much a gain as a rollback to it.
///
/// # Errors
/// * [`AppError::AppNotFound`] when the app was deleted, or the version is of another app
/// * [`AppError::StaleVersion`] when another version became current, and the earlier one would have what that one has not
/// * those of [`check_gains`]
/// * [`AppError::Store`] when the store fails
pub async fn check_earlier_version(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &Locked<AppRight<CanEdit>>,
    earlier: &EarlierVersion,
) -> Result<(), AppError> {
    let found = tx.app_for_update(right.member().workspace(), right.app()).await?;
    let app = found.filter(|app| app.id == earlier.version.app).ok_or(AppError::AppNotFound)?;
    earlier.check(tx, ctx, right.member().role(), &app).await
}

#[cfg(test)]
mod tests {
    use kernel::{
        caller::{Scope, Scopes},
        id::VersionId,
        testing::{at, context, id, token_of},
    };

    use super::*;
    use crate::{
        manifest::ConnectorPermission,
        safe_band::PublishRule,
        testing::{FakeTx, builder_context, builder_id, can_edit, draft, manifest, workspace},
        versions::{Baseline, VersionContent, VersionKind},
    };

    /// An app whose first version had a connection, which the second, current one has not.
    fn with_less_than_before() -> FakeTx {
        let mut with = manifest();
        with.permissions.connectors.push(ConnectorPermission {
            name: "orders".to_owned(),
            connection_id: id(40),
            methods: None,
            paths: None,
        });
        let app = App { current_version: Some(id(21)), ..draft(7) };
        let version = |number: u32, manifest| {
            let version = AppVersion {
                id: id(19 + u128::from(number)),
                app: app.id,
                workspace: workspace(),
                number,
                created_at: at(0),
                created_by: builder_id(),
                bundle_hash: String::new(),
                trust_score: 100,
                handlers: None,
                kind: VersionKind::Edit,
                summary: "A version".to_owned(),
                base: None,
                created_by_name: None,
                is_runnable: true,
                built_from: None,
            };
            (version, VersionContent { manifest, files: std::collections::BTreeMap::new() })
        };
        FakeTx { versions: vec![version(1, with), version(2, manifest())], ..FakeTx::with_app(&app) }
    }

    /// The first version, measured against one of them.
    fn first(tx: &FakeTx, baseline: VersionId) -> EarlierVersion {
        let find = |wanted| tx.versions.iter().find(|(known, _)| known.id == wanted).cloned().unwrap();
        let (version, content) = find(id(20));
        let (before, current) = find(baseline);
        let baseline = Baseline::of(&before, current.manifest, false);
        let publishing = Publishing { baseline, rule: PublishRule::Direct, inherits_manifest: false };
        EarlierVersion { version, manifest: content.manifest, has_fetch: false, publishing }
    }

    async fn check(tx: &mut FakeTx, ctx: &Context, earlier: &EarlierVersion) -> Result<(), AppError> {
        check_earlier_version(tx, ctx, &can_edit(ctx, &draft(7)), earlier).await
    }

    #[tokio::test]
    async fn a_version_with_a_connection_that_was_taken_away_needs_an_admin_in_the_console() {
        let mut tx = with_less_than_before();
        let earlier = first(&tx, id(21));
        let token = context(token_of(builder_id(), workspace(), Scopes::of(Scope::Admin)), at(1_000));
        for ctx in [builder_context(), token] {
            let before = earlier.check_gains(&ctx.caller, Role::Builder);
            assert!(matches!(before, Err(AppError::ConnectionNeedsAdmin { .. })), "{before:?}");
            let refused = check(&mut tx, &ctx, &earlier).await;
            assert!(matches!(refused, Err(AppError::ConnectionNeedsAdmin { .. })), "{refused:?}");
        }
        earlier.check_gains(&builder_context().caller, Role::Admin).unwrap();
    }

    #[tokio::test]
    async fn what_is_taken_away_after_the_first_check_is_refused_by_the_second() {
        let mut tx = with_less_than_before();
        // It was current when it was read.
        let earlier = first(&tx, id(20));
        earlier.check_gains(&builder_context().caller, Role::Builder).unwrap();
        let refused = check(&mut tx, &builder_context(), &earlier).await;
        assert!(matches!(refused, Err(AppError::StaleVersion)), "{refused:?}");
        tx.apps[0].current_version = Some(id(20));
        check(&mut tx, &builder_context(), &earlier).await.unwrap();
        // And given back meanwhile, it is no gain.
        let earlier = first(&tx, id(21));
        check(&mut tx, &builder_context(), &earlier).await.unwrap();
    }

    #[tokio::test]
    async fn a_version_of_another_app_or_a_deleted_one_is_not_found() {
        let mut tx = with_less_than_before();
        let mut foreign = first(&tx, id(20));
        foreign.version.app = id(8);
        let refused = check(&mut tx, &builder_context(), &foreign).await;
        assert!(matches!(refused, Err(AppError::AppNotFound)), "{refused:?}");
        let earlier = first(&tx, id(20));
        tx.apps.clear();
        let refused = check(&mut tx, &builder_context(), &earlier).await;
        assert!(matches!(refused, Err(AppError::AppNotFound)), "{refused:?}");
    }
}
