//! Recording which notifications a person has seen.

use kernel::{StoreError, authority::Member};

use super::NotificationsTx;

/// Records that the caller has seen the notifications up to a number. It is no change of the workspace and is not audited.
///
/// # Errors
/// When the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn mark_notifications_read(
    tx: &mut dyn NotificationsTx,
    member: &Member,
    up_to: u64,
) -> Result<(), StoreError> {
    tx.set_notifications_read(member.workspace(), member.user(), up_to).await
}
