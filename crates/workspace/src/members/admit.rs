//! Letting somebody in: the one place where a person becomes a member, whatever door they came through.

use kernel::{
    Context, Timestamp,
    authority::Role,
    id::{UserId, WorkspaceId},
};

use super::{LeaveReason, Membership};
use crate::{WorkspaceError, invites::InvitesTx};

/// The door somebody comes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinChannel {
    /// An invite sent to their address.
    Invite,
    /// Their address is of the workspace's domain, and they asked.
    Domain,
    /// Their address is of the workspace's domain, and they signed in.
    AutoJoin,
}

impl JoinChannel {
    fn as_str(self) -> &'static str {
        match self {
            Self::Invite => "invite",
            Self::Domain => "domain",
            Self::AutoJoin => "auto_join",
        }
    }
}

/// Whom to let in, as what.
#[derive(Debug, Clone)]
pub struct Admission<'a> {
    /// Where.
    pub workspace: WorkspaceId,
    /// Who.
    pub user: UserId,
    /// Their verified address.
    pub email: &'a str,
    /// As what.
    pub role: Role,
    /// Until when.
    pub access_ends_at: Option<Timestamp>,
    /// How.
    pub channel: JoinChannel,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedMember {
    /// Where.
    pub workspace: WorkspaceId,
    /// Who.
    pub user: UserId,
    /// Whether they were no member before. What they held from an earlier time, tokens above all, must then end.
    pub is_new: bool,
}

/// Lets a person in. Whoever is in already keeps what they have, unless the admission is to a higher role; that comes
/// with its own end of access.
///
/// Who was removed, or whose access ended, comes back by an invite only. Invites that still wait for the address are
/// revoked: an old link must not bring somebody back later.
///
/// The caller has locked the members.
///
/// # Errors
/// 404 when the door is closed to this person, or what the store says.
pub async fn admit(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    admission: &Admission<'_>,
) -> Result<AdmittedMember, WorkspaceError> {
    let Admission { workspace, user, email, role, access_ends_at, channel } = *admission;
    let before = tx.membership_of(workspace, user).await?;
    let membership = Membership { user, role, joined_at: ctx.now, access_ends_at };
    let (membership, is_new) = match before {
        Some(known) if known.is_active(ctx.now) => {
            if known.role.at_least(role) {
                return Ok(AdmittedMember { workspace, user, is_new: false });
            }
            (Membership { joined_at: known.joined_at, ..membership }, false)
        }
        ended => {
            let leave_reason = tx.leave_reason(workspace, user).await?;
            let may_join = match channel {
                JoinChannel::Invite => true,
                JoinChannel::Domain => ended.is_none() && leave_reason != Some(LeaveReason::Removed),
                JoinChannel::AutoJoin => ended.is_none() && leave_reason.is_none(),
            };
            if !may_join {
                return Err(WorkspaceError::WorkspaceNotFound);
            }
            (membership, true)
        }
    };
    tx.upsert_membership(workspace, &membership).await?;
    tx.set_leave_reason(workspace, user, None).await?;
    tx.revoke_pending(workspace, email, ctx.now).await?;
    let detail = serde_json::json!({ "role": role, "by": channel.as_str(), "accessEndsAt": access_ends_at });
    let mut entry = ctx.audit_entry("member.join").workspace(workspace).target(user).detail(detail);
    // At sign-in the caller is still nobody.
    entry.actor = user.to_string();
    tx.audit(entry);
    Ok(AdmittedMember { workspace, user, is_new })
}
