//! Reading an invite as the invited person.

use kernel::{Context, token::Peppers};

use super::{
    Invite, InvitesRead,
    link::{check_acceptable, token_digests},
};
use crate::WorkspaceError;

/// Returns the invite behind a link for a person with this verified address. Changes nothing.
///
/// # Errors
/// The errors of [`accept_invite`](super::accept_invite).
#[tracing::instrument(level = "debug", skip_all)]
pub async fn inspect_invite(
    read: &dyn InvitesRead,
    ctx: &Context,
    peppers: &Peppers,
    email: &str,
    token: &str,
) -> Result<Invite, WorkspaceError> {
    let invite = read.find_invite_by_digest(&token_digests(peppers, token)?).await?;
    check_acceptable(invite, ctx, email)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        invites::InviteState,
        testing::{FakeTx, peppers, request_of, stranger},
    };

    #[tokio::test]
    async fn the_invited_person_sees_the_invite_and_nothing_changes() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(stranger()));
        let (invite, token) = tx.add_invite(10, "bek@example.com");
        for _ in 0..2 {
            let seen = inspect_invite(&tx, &ctx, &peppers(), "bek@example.com", &token).await.unwrap();
            assert_eq!(seen, invite);
        }
        assert_eq!(tx.invite_state(invite.id), InviteState::Pending);
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn another_person_and_another_token_see_nothing() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(stranger()));
        let (_, token) = tx.add_invite(10, "bek@example.com");
        let (_, unknown) = FakeTx::acme().add_invite(11, "bek@example.com");
        let refused = inspect_invite(&tx, &ctx, &peppers(), "aru@example.com", &token).await;
        assert!(matches!(refused, Err(WorkspaceError::WrongInviteEmail)), "{refused:?}");
        for token in [&*unknown, "no token"] {
            let refused = inspect_invite(&tx, &ctx, &peppers(), "bek@example.com", token).await;
            assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");
        }
    }
}
