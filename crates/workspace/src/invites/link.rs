//! The link of an invite, and the rules for following it.

use chrono::TimeDelta;
use kernel::{
    Context,
    token::{self, Digest, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Invite, InviteStatus};
use crate::WorkspaceError;

/// Returns the URL of the page for a token.
pub(super) fn invite_link(public_url: &str, token: &SecretString) -> SecretString {
    format!("{public_url}/invite/{}", token.expose_secret()).into()
}

pub(super) fn link_lifetime(days: u16) -> TimeDelta {
    TimeDelta::days(days.into())
}

pub(super) fn token_digests(peppers: &Peppers, token: &str) -> Result<Vec<Digest>, WorkspaceError> {
    if token::detect_kind(token) != Some(TokenKind::Invite) {
        return Err(WorkspaceError::InviteNotFound);
    }
    Ok(peppers.candidate_digests(token).collect())
}

pub(super) fn check_acceptable(
    invite: Option<Invite>,
    ctx: &Context,
    email: &str,
) -> Result<Invite, WorkspaceError> {
    let invite = invite.ok_or(WorkspaceError::InviteNotFound)?;
    let status = invite.status(ctx.now);
    let access_over = invite.access_ends_at.is_some_and(|end| end <= ctx.now);
    match (status, invite.email == email) {
        (InviteStatus::Pending, true) if access_over => Err(WorkspaceError::InviteExpired),
        (InviteStatus::Pending, true) => Ok(invite),
        (InviteStatus::Pending, false) => Err(WorkspaceError::WrongInviteEmail),
        (InviteStatus::Accepted, true) => Err(WorkspaceError::InviteAccepted),
        (InviteStatus::Expired, true) => Err(WorkspaceError::InviteExpired),
        (InviteStatus::Revoked, _) | (_, false) => Err(WorkspaceError::InviteNotFound),
    }
}

#[cfg(test)]
mod tests {
    use kernel::{
        SeededRandomness,
        testing::{at, id},
    };

    use super::*;
    use crate::{
        invites::InviteState,
        testing::{DAY, FakeTx, peppers, request_at, stranger},
    };

    #[test]
    fn only_a_pending_invite_is_acceptable_and_only_for_its_own_address() {
        let (pending, _) = FakeTx::acme().add_invite(10, "bek@example.com");
        let accepted = InviteState::Accepted { by: id(9), at: at(0) };
        let revoked = InviteState::Revoked { at: at(0) };
        let (soon, late) = (request_at(stranger(), at(1)), request_at(stranger(), at(7 * DAY)));
        let invite = |state| Some(Invite { state, ..pending.clone() });
        let outcome = |invite, ctx, email| match check_acceptable(invite, ctx, email) {
            Ok(_) => "acceptable",
            Err(WorkspaceError::WrongInviteEmail) => "another address",
            Err(WorkspaceError::InviteExpired) => "expired",
            Err(WorkspaceError::InviteAccepted) => "accepted",
            Err(WorkspaceError::InviteNotFound) => "not found",
            Err(error) => panic!("{error:?}"),
        };
        let access_over = Some(Invite { access_ends_at: Some(at(1)), ..pending.clone() });
        for (invite, ctx, for_its_person, for_others) in [
            (invite(InviteState::Pending), &soon, "acceptable", "another address"),
            (access_over, &soon, "expired", "another address"),
            (invite(InviteState::Pending), &late, "expired", "not found"),
            (invite(accepted), &soon, "accepted", "not found"),
            (invite(revoked), &soon, "not found", "not found"),
            (None, &soon, "not found", "not found"),
        ] {
            assert_eq!(outcome(invite.clone(), ctx, "bek@example.com"), for_its_person, "{invite:?}");
            assert_eq!(outcome(invite.clone(), ctx, "aru@example.com"), for_others, "{invite:?}");
        }
    }

    #[test]
    fn only_the_token_of_an_invite_is_looked_up() {
        let random = SeededRandomness::new(1);
        let text = |kind| token::mint(kind, &random).expose_secret().to_owned();
        assert_eq!(token_digests(&peppers(), &text(TokenKind::Invite)).unwrap().len(), 1);
        for text in [text(TokenKind::Personal), "qiv_short".to_owned(), String::new()] {
            let refused = token_digests(&peppers(), &text);
            assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");
        }
    }
}
