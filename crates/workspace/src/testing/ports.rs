//! The ports of this crate over the in-memory store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::Role,
    id::{InviteId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};

use super::FakeTx;
use crate::{
    Plan, Workspace, WorkspaceTx,
    invites::{Invite, InviteState, InvitesRead, InvitesTx},
    join_domains::{Domain, JoinDomain, JoinDomainsTx},
    members::{LeaveReason, MembersTx, Membership, WorkspaceInfo},
    workspaces::deletion::DeletionTx,
};

#[async_trait]
impl WorkspaceTx for FakeTx {
    async fn insert_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError> {
        if self.workspaces.iter().any(|known| known.slug == workspace.slug) {
            return Err(StoreError::Duplicate);
        }
        self.workspaces.push(workspace.clone());
        Ok(())
    }

    async fn record_creator(&mut self, workspace: WorkspaceId, creator: UserId) -> Result<u64, StoreError> {
        self.creators.push((workspace, creator));
        Ok(self.creators.iter().filter(|(_, known)| *known == creator).count() as u64)
    }

    async fn workspace_for_update(
        &mut self,
        workspace: WorkspaceId,
    ) -> Result<Option<Workspace>, StoreError> {
        Ok(self.workspaces.iter().find(|known| known.id == workspace).cloned())
    }

    async fn update_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError> {
        if let Some(known) = self.workspaces.iter_mut().find(|known| known.id == workspace.id) {
            known.clone_from(workspace);
        }
        Ok(())
    }

    async fn insert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError> {
        let membership = Membership { user, role, joined_at, access_ends_at: None };
        match self.memberships.insert((workspace, user), membership) {
            Some(_) => Err(StoreError::Duplicate),
            None => Ok(()),
        }
    }

    async fn set_plan(&mut self, workspace: WorkspaceId, plan: Plan) -> Result<bool, StoreError> {
        let found = self.workspaces.iter_mut().find(|known| known.id == workspace);
        Ok(found.map(|known| known.plan = plan).is_some())
    }

    async fn upsert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError> {
        let joined_at = self.memberships.get(&(workspace, user)).map_or(joined_at, |known| known.joined_at);
        let membership = Membership { user, role, joined_at, access_ends_at: None };
        self.memberships.insert((workspace, user), membership);
        Ok(())
    }
}

#[async_trait]
impl DeletionTx for FakeTx {
    async fn mark_workspace_deleted(
        &mut self,
        workspace: WorkspaceId,
        at: Timestamp,
        by: UserId,
    ) -> Result<(), StoreError> {
        self.assert_locked(workspace);
        self.deleted.insert(workspace, (at, by));
        Ok(())
    }

    async fn lock_deleted_workspace(
        &mut self,
        workspace: WorkspaceId,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.locked.insert(workspace);
        let deleted = self.deleted.get(&workspace).filter(|_| !self.purging.contains(&workspace));
        Ok(deleted.map(|(at, _)| *at))
    }

    async fn unmark_workspace_deleted(&mut self, workspace: WorkspaceId) -> Result<(), StoreError> {
        self.assert_locked(workspace);
        self.deleted.remove(&workspace);
        Ok(())
    }
}

#[async_trait]
impl MembersTx for FakeTx {
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<WorkspaceInfo>, StoreError> {
        if self.is_unavailable {
            return Err(StoreError::Unavailable("connection refused".into()));
        }
        if let Some(change) = self.while_waiting.take() {
            change(self);
        }
        let is_deleted = self.deleted.contains_key(&workspace);
        let found = self.workspaces.iter().find(|known| known.id == workspace && !is_deleted);
        let info = found.map(|known| WorkspaceInfo { name: known.name.clone(), locale: known.locale });
        if info.is_some() {
            self.locked.insert(workspace);
        }
        Ok(info)
    }

    async fn membership_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError> {
        Ok(self.memberships.get(&(workspace, user)).cloned())
    }

    async fn count_owners(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let owners = self.memberships.iter().filter(|((known, _), membership)| {
            *known == workspace && membership.role == Role::Owner && membership.is_active(now)
        });
        Ok(owners.count() as u64)
    }

    async fn upsert_membership(
        &mut self,
        workspace: WorkspaceId,
        membership: &Membership,
    ) -> Result<(), StoreError> {
        self.assert_locked(workspace);
        self.memberships.insert((workspace, membership.user), membership.clone());
        Ok(())
    }

    async fn delete_membership(&mut self, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError> {
        self.assert_locked(workspace);
        self.memberships.remove(&(workspace, user));
        Ok(())
    }

    async fn leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<LeaveReason>, StoreError> {
        Ok(self.leave_reasons.get(&(workspace, user)).map(|(reason, _)| *reason))
    }

    async fn set_leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        reason: Option<(LeaveReason, Timestamp)>,
    ) -> Result<(), StoreError> {
        self.assert_locked(workspace);
        match reason {
            Some(reason) => self.leave_reasons.insert((workspace, user), reason),
            None => self.leave_reasons.remove(&(workspace, user)),
        };
        Ok(())
    }
}

#[async_trait]
impl InvitesRead for FakeTx {
    async fn invites(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Vec<Invite>, StoreError> {
        let own = self.invites.iter().map(|(invite, _)| invite).filter(|known| known.workspace == workspace);
        let rest = own.rev().filter(|invite| page.after.is_none_or(|after| invite.id.uuid() < after));
        Ok(rest.take(page.limit as usize + 1).cloned().collect())
    }

    async fn invite_address(
        &self,
        workspace: WorkspaceId,
        invite: InviteId,
    ) -> Result<Option<String>, StoreError> {
        let mut invites = self.invites.iter().map(|(invite, _)| invite);
        let found = invites.find(|known| known.workspace == workspace && known.id == invite);
        Ok(found.map(|known| known.email.clone()))
    }

    async fn find_invite_by_digest(&self, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
        Ok(self.invites.iter().find(|(_, digest)| digests.contains(digest)).map(|(invite, _)| invite.clone()))
    }
}

#[async_trait]
impl InvitesTx for FakeTx {
    async fn invite_by_digest(&mut self, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
        self.find_invite_by_digest(digests).await
    }

    async fn invite(
        &mut self,
        workspace: WorkspaceId,
        invite: InviteId,
    ) -> Result<Option<Invite>, StoreError> {
        let mut invites = self.invites.iter().map(|(invite, _)| invite);
        Ok(invites.find(|known| known.workspace == workspace && known.id == invite).cloned())
    }

    async fn count_pending(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let pending = self.invites.iter().filter(|(known, _)| {
            known.workspace == workspace && known.state == InviteState::Pending && now < known.expires_at
        });
        Ok(pending.count() as u64)
    }

    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        emails: &[String],
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let members = self
            .memberships
            .iter()
            .filter(|((known, _), membership)| *known == workspace && membership.is_active(now));
        let addresses = members.filter_map(|((_, user), _)| self.addresses.get(user));
        Ok(addresses.filter(|address| emails.contains(address)).cloned().collect())
    }

    async fn insert_invite(&mut self, invite: &Invite, digest: &Digest) -> Result<(), StoreError> {
        self.assert_locked(invite.workspace);
        let is_pending = |(known, _): &(Invite, Digest)| {
            known.workspace == invite.workspace
                && known.email == invite.email
                && known.state == InviteState::Pending
        };
        if self.invites.iter().any(is_pending) {
            return Err(StoreError::Duplicate);
        }
        self.invites.push((invite.clone(), *digest));
        Ok(())
    }

    async fn update_invite(&mut self, invite: &Invite, digest: Option<&Digest>) -> Result<(), StoreError> {
        self.assert_locked(invite.workspace);
        let found = self.invites.iter_mut().find(|(known, _)| known.id == invite.id);
        if let Some((known, known_digest)) = found {
            *known = invite.clone();
            *known_digest = digest.copied().unwrap_or(*known_digest);
        }
        Ok(())
    }

    async fn revoke_invites_of(
        &mut self,
        workspace: WorkspaceId,
        inviter: UserId,
        at: Timestamp,
    ) -> Result<Vec<InviteId>, StoreError> {
        let mut revoked = Vec::new();
        for (invite, _) in &mut self.invites {
            if invite.workspace == workspace
                && invite.invited_by == inviter
                && invite.state == InviteState::Pending
            {
                invite.state = InviteState::Revoked { at };
                revoked.push(invite.id);
            }
        }
        Ok(revoked)
    }

    async fn revoke_pending(
        &mut self,
        workspace: WorkspaceId,
        email: &str,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        self.assert_locked(workspace);
        let mut revoked = 0;
        for (invite, _) in &mut self.invites {
            if invite.workspace == workspace && invite.email == email && invite.state == InviteState::Pending
            {
                invite.state = InviteState::Revoked { at };
                revoked += 1;
            }
        }
        Ok(revoked)
    }
}

#[async_trait]
impl JoinDomainsTx for FakeTx {
    async fn join_domain_of(&mut self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError> {
        Ok(self.join_domains.get(&workspace).cloned())
    }

    async fn verified_join_domain(&mut self, domain: &Domain) -> Result<Option<JoinDomain>, StoreError> {
        let mut domains = self.join_domains.values();
        Ok(domains.find(|known| known.is_verified() && known.domain == *domain).cloned())
    }

    async fn upsert_join_domain(&mut self, domain: &JoinDomain) -> Result<(), StoreError> {
        self.assert_locked(domain.workspace);
        let is_taken = self.verified_concurrently.contains(&domain.domain)
            || self.join_domains.values().any(|known| {
                known.workspace != domain.workspace && known.is_verified() && known.domain == domain.domain
            });
        if domain.is_verified() && is_taken {
            return Err(StoreError::Duplicate);
        }
        self.join_domains.insert(domain.workspace, domain.clone());
        Ok(())
    }

    async fn delete_join_domain(&mut self, workspace: WorkspaceId) -> Result<bool, StoreError> {
        self.assert_locked(workspace);
        Ok(self.join_domains.remove(&workspace).is_some())
    }
}
