//! The gates of a workspace.

use kernel::{Context, StoreError, authority::Member};

use super::{GateReader, GateView};

/// Lists the gates of the member's workspace.
///
/// # Errors
/// [`StoreError`] when the store fails.
pub async fn list_gates(
    reader: &dyn GateReader,
    ctx: &Context,
    member: &Member,
) -> Result<Vec<GateView>, StoreError> {
    let day_ago = ctx.now - std::time::Duration::from_secs(24 * 60 * 60);
    reader.list(member.workspace(), day_ago).await
}
