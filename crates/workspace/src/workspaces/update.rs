//! Changing a workspace's name and defaults.

use kernel::{Context, Locale, authority::Admin};
use serde_json::{Map, Value, json};

use super::{
    bounds::{check_timezone, parse_name},
    types::{Currency, Workspace},
};
use crate::{InvalidInput, WorkspaceError, WorkspaceTx};

/// Highest cost of an hour of a person's work, in the minor unit of the currency.
pub const MAX_HOURLY_COST_MINOR: u32 = 1_000_000_000;

/// Changes of a workspace; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct WorkspaceChange {
    /// The display name, 2 to 60 characters after trimming.
    pub name: Option<String>,
    /// The default language of e-mails.
    pub locale: Option<Locale>,
    /// An IANA time zone.
    pub timezone: Option<String>,
    /// The currency. The cost of an hour keeps its number.
    pub currency: Option<Currency>,
    /// Cost of an hour of a person's work, in the minor unit of the currency; at most [`MAX_HOURLY_COST_MINOR`].
    pub hourly_cost_minor: Option<u32>,
}

/// Changes a workspace and returns it. Without a difference nothing is written.
///
/// # Errors
/// [`WorkspaceError::InvalidInput`] when a field is out of bounds; [`WorkspaceError::WorkspaceNotFound`]; a failure of
/// the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn update_workspace(
    tx: &mut dyn WorkspaceTx,
    ctx: &Context,
    admin: &Admin,
    change: WorkspaceChange,
) -> Result<Workspace, WorkspaceError> {
    let name = change.name.as_deref().map(parse_name).transpose()?;
    change.timezone.as_deref().map(check_timezone).transpose()?;
    if change.hourly_cost_minor.is_some_and(|cost| cost > MAX_HOURLY_COST_MINOR) {
        return Err(InvalidInput::HourlyCost.into());
    }
    let before =
        tx.workspace_for_update(admin.workspace()).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let mut after = before.clone();
    after.name = name.unwrap_or(after.name);
    after.locale = change.locale.unwrap_or(after.locale);
    after.timezone = change.timezone.unwrap_or(after.timezone);
    after.currency = change.currency.unwrap_or(after.currency);
    after.hourly_cost_minor = change.hourly_cost_minor.unwrap_or(after.hourly_cost_minor);
    let differences = differences(&before, &after);
    if differences.is_empty() {
        return Ok(after);
    }
    tx.update_workspace(&after).await?;
    let entry = ctx.audit_entry("workspace.update").workspace(after.id).target(after.id);
    tx.audit(entry.detail(Value::Object(differences)));
    Ok(after)
}

/// Returns the new values of the fields that differ.
fn differences(before: &Workspace, after: &Workspace) -> Map<String, Value> {
    let fields = |workspace: &Workspace| {
        [
            ("name", json!(workspace.name)),
            ("locale", json!(workspace.locale)),
            ("timezone", json!(workspace.timezone)),
            ("currency", json!(workspace.currency)),
            ("hourlyCostMinor", json!(workspace.hourly_cost_minor)),
        ]
    };
    let changed = fields(before).into_iter().zip(fields(after)).filter(|(before, after)| before != after);
    changed.map(|(_, (name, value))| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakeTx, acme, admin, as_admin, request_of};

    async fn update(tx: &mut FakeTx, change: WorkspaceChange) -> Result<Workspace, WorkspaceError> {
        let ctx = request_of(admin());
        update_workspace(tx, &ctx, &as_admin(&ctx), change).await
    }

    #[tokio::test]
    async fn what_is_given_changes_and_is_audited() {
        let mut tx = FakeTx::acme();
        let before = tx.workspaces[0].clone();
        let change = WorkspaceChange {
            name: Some("  Acme Kazakhstan ".to_owned()),
            locale: Some(Locale::Kk),
            timezone: Some("Asia/Almaty".to_owned()),
            currency: Some(Currency::Kzt),
            hourly_cost_minor: Some(0),
        };
        let updated = update(&mut tx, change).await.unwrap();
        let expected = Workspace {
            name: "Acme Kazakhstan".to_owned(),
            locale: Locale::Kk,
            timezone: "Asia/Almaty".to_owned(),
            currency: Currency::Kzt,
            hourly_cost_minor: 0,
            ..before
        };
        assert_eq!((&updated, &tx.workspaces[0]), (&expected, &expected));
        let detail = json!({
            "name": "Acme Kazakhstan", "locale": "kk", "timezone": "Asia/Almaty", "currency": "KZT", "hourlyCostMinor": 0
        });
        assert_eq!(tx.audited(), [("workspace.update", acme().to_string(), detail)]);
    }

    #[tokio::test]
    async fn what_is_not_given_stays_and_no_difference_is_no_change() {
        let mut tx = FakeTx::acme();
        let before = tx.workspaces[0].clone();
        let currency = WorkspaceChange { currency: Some(Currency::Eur), ..WorkspaceChange::default() };
        let updated = update(&mut tx, currency.clone()).await.unwrap();
        assert_eq!(updated, Workspace { currency: Currency::Eur, ..before });
        update(&mut tx, currency).await.unwrap();
        update(&mut tx, WorkspaceChange::default()).await.unwrap();
        assert_eq!(tx.audited(), [("workspace.update", acme().to_string(), json!({ "currency": "EUR" }))]);
    }

    #[tokio::test]
    async fn a_field_out_of_bounds_is_refused() {
        let name = |name: &str| WorkspaceChange { name: Some(name.to_owned()), ..WorkspaceChange::default() };
        let cost = Some(MAX_HOURLY_COST_MINOR + 1);
        for (change, expected) in [
            (name(" x "), InvalidInput::Name),
            (name("a\u{0}b"), InvalidInput::Name),
            (
                WorkspaceChange { timezone: Some("Moon/Crater".to_owned()), ..WorkspaceChange::default() },
                InvalidInput::Timezone,
            ),
            (
                WorkspaceChange { hourly_cost_minor: cost, ..WorkspaceChange::default() },
                InvalidInput::HourlyCost,
            ),
        ] {
            let mut tx = FakeTx::acme();
            let refused = update(&mut tx, change).await;
            assert!(
                matches!(refused, Err(WorkspaceError::InvalidInput(invalid)) if invalid == expected),
                "{refused:?}"
            );
            tx.assert_nothing_recorded();
        }
    }

    #[tokio::test]
    async fn a_workspace_that_was_deleted_meanwhile_is_not_found() {
        let mut tx = FakeTx::acme();
        tx.workspaces.clear();
        let refused = update(&mut tx, WorkspaceChange::default()).await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
    }
}
