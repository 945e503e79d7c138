//! Reading an invite as anyone who has its link.

use kernel::{Context, token::Peppers};

use super::{Invite, InviteStatus, InvitesRead, link::token_digests};
use crate::WorkspaceError;

/// Returns the invite behind a link while it is pending; `None` for any other token. Changes nothing.
///
/// # Errors
/// A failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn preview_invite(
    read: &dyn InvitesRead,
    ctx: &Context,
    peppers: &Peppers,
    token: &str,
) -> Result<Option<Invite>, WorkspaceError> {
    let Ok(digests) = token_digests(peppers, token) else { return Ok(None) };
    let found = read.find_invite_by_digest(&digests).await?;
    let is_acceptable = |invite: &Invite| {
        invite.status(ctx.now) == InviteStatus::Pending
            && invite.access_ends_at.is_none_or(|end| ctx.now < end)
    };
    Ok(found.filter(is_acceptable))
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;

    use super::*;
    use crate::{
        invites::InviteState,
        testing::{DAY, FakeTx, peppers, request_at, stranger},
    };

    #[tokio::test]
    async fn only_a_pending_invite_is_shown_to_whoever_holds_its_link() {
        let mut tx = FakeTx::acme();
        let (invite, token) = tx.add_invite(10, "bek@example.com");
        let (_, unknown) = FakeTx::acme().add_invite(11, "bek@example.com");
        let preview = async |tx: &FakeTx, now, token: &str| {
            preview_invite(tx, &request_at(stranger(), now), &peppers(), token).await.unwrap()
        };
        assert_eq!(preview(&tx, at(1), &token).await, Some(invite.clone()));
        assert_eq!(preview(&tx, at(7 * DAY), &token).await, None, "expired");
        assert_eq!(preview(&tx, at(1), &unknown).await, None);
        assert_eq!(preview(&tx, at(1), "no token").await, None);

        tx.edit_invite(invite.id, |invite| invite.access_ends_at = Some(at(5)));
        assert!(preview(&tx, at(4), &token).await.is_some());
        assert_eq!(preview(&tx, at(5), &token).await, None, "the access it gives is over");
        for state in [InviteState::Revoked { at: at(0) }, InviteState::Accepted { by: stranger(), at: at(0) }]
        {
            tx.edit_invite(invite.id, |invite| invite.state = state);
            assert_eq!(preview(&tx, at(1), &token).await, None);
        }
        tx.assert_nothing_recorded();
    }
}
