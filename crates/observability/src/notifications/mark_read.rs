//! Recording which notifications a person has seen.

use kernel::{StoreError, authority::Member};

use super::NotificationsTx;

/// Records that the caller has seen the notifications up to a number. It is no change of the workspace and is not audited.
/// In a view as a role nothing is recorded: what it shows is not what the person sees.
///
/// # Errors
/// When the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn mark_notifications_read(
    tx: &mut dyn NotificationsTx,
    member: &Member,
    up_to: u64,
) -> Result<(), StoreError> {
    match member.beneficiary() {
        Some(user) => tx.set_notifications_read(member.workspace(), user, up_to).await,
        None => Ok(()),
    }
}
