//! Changing what a person is told by e-mail.

use kernel::{Context, StoreError, authority::Member};
use serde_json::json;

use super::{NotificationSettings, NotificationsTx};

/// Turns the e-mail of a workspace's notifications on or off for the caller; `None` leaves it as it is.
///
/// # Errors
/// When the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn configure_notifications(
    tx: &mut dyn NotificationsTx,
    ctx: &Context,
    member: &Member,
    email: Option<bool>,
) -> Result<NotificationSettings, StoreError> {
    let (workspace, user) = (member.workspace(), member.user());
    let stored = tx.notification_settings_for_update(workspace, user).await?;
    let Some(email) = email.filter(|email| *email != stored.email) else { return Ok(stored) };
    tx.set_notification_email(workspace, user, email).await?;
    let entry = ctx.audit_entry("notification.configure").workspace(workspace).target(user);
    tx.audit(entry.detail(json!({ "email": email })));
    Ok(NotificationSettings { email, ..stored })
}
