//! Looking at an invite as the person it is for.

use kernel::{Context, token::Peppers};

use super::{
    Invite, InvitesRead,
    link::{check_acceptable, token_digests},
};
use crate::WorkspaceError;

/// What a link leads to, for a person with this verified address. It changes nothing.
///
/// # Errors
/// As [`accept_invite`].
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
