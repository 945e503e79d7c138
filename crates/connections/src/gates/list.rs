//! The gates of a workspace.

use kernel::{Context, Problem, authority::Member};

use super::{GateReader, GateView};

/// Lists the gates of the member's workspace.
///
/// # Errors
/// 503 when the store cannot answer.
pub async fn list_gates(
    reader: &dyn GateReader,
    ctx: &Context,
    member: &Member,
) -> Result<Vec<GateView>, Problem> {
    let day_ago = ctx.now - std::time::Duration::from_secs(24 * 60 * 60);
    Ok(reader.list(member.workspace(), day_ago).await?)
}
