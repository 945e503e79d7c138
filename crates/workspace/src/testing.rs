//! An in-memory store and the fixtures that the tests of use cases share.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kernel::{
    Context, StoreError, Timestamp,
    authority::{Admin, Member, Owner, Role},
    delegate_unit_of_work,
    id::{InviteId, UserId, WorkspaceId},
    mail::{ClaimedEmail, OutboxEmail, RenderedEmail},
    testing::{RecordingUnitOfWork, at, context, id, member, session_of},
    token::{Digest, Peppers},
    vault::{MasterKeys, Vault},
};
use serde_json::Value;

use crate::{
    Plan, Workspace, WorkspaceTx,
    invites::{Invite, InviteRole, InviteState, InvitesRead, InvitesTx},
    join_domains::{Domain, DomainState, JoinDomain, JoinDomainsTx, JoinRole},
    members::{LeaveReason, MembersTx, Membership, WorkspaceInfo},
    workspaces::{Currency, Profile, TeamSize},
};

/// A change that another transaction commits while this one waits for a lock.
type ConcurrentChange = Box<dyn FnOnce(&mut FakeTx) + Send + Sync>;

/// The workspace's tables in memory. Ports whose documentation asks for locked members panic without the lock.
#[derive(Default)]
pub(crate) struct FakeTx {
    pub(crate) work: RecordingUnitOfWork,
    pub(crate) workspaces: Vec<Workspace>,
    pub(crate) memberships: BTreeMap<(WorkspaceId, UserId), Membership>,
    pub(crate) leave_reasons: BTreeMap<(WorkspaceId, UserId), (LeaveReason, Timestamp)>,
    pub(crate) addresses: BTreeMap<UserId, String>,
    pub(crate) invites: Vec<(Invite, Digest)>,
    pub(crate) join_domains: BTreeMap<WorkspaceId, JoinDomain>,
    /// Domains that a concurrent transaction has verified: this one does not read them, and cannot verify them either.
    pub(crate) verified_concurrently: Vec<Domain>,
    /// True makes the lock fail as an unreachable database does.
    pub(crate) is_unavailable: bool,
    locked: BTreeSet<WorkspaceId>,
    while_waiting: Option<ConcurrentChange>,
}

delegate_unit_of_work!(FakeTx, work);

impl FakeTx {
    /// Acme with an owner, an admin, a builder and a viewer.
    pub(crate) fn acme() -> Self {
        let mut tx = Self { workspaces: vec![workspace(acme(), "Acme")], ..Self::default() };
        for (user, role) in [
            (owner(), Role::Owner),
            (admin(), Role::Admin),
            (builder(), Role::Builder),
            (viewer(), Role::Viewer),
        ] {
            tx.add_member(acme(), user, role);
        }
        tx
    }

    /// Adds a second workspace with one owner, who is nobody in Acme.
    pub(crate) fn add_globex(&mut self) {
        self.workspaces.push(workspace(globex(), "Globex"));
        self.add_member(globex(), stranger(), Role::Owner);
    }

    pub(crate) fn add_member(&mut self, workspace: WorkspaceId, user: UserId, role: Role) {
        let membership = Membership { user, role, joined_at: at(-1_000), access_ends_at: None };
        self.memberships.insert((workspace, user), membership);
        self.addresses.insert(user, address_of(user));
    }

    /// The membership in Acme.
    pub(crate) fn membership(&self, user: UserId) -> Option<&Membership> {
        self.memberships.get(&(acme(), user))
    }

    /// The role in Acme.
    pub(crate) fn role(&self, user: UserId) -> Option<Role> {
        self.membership(user).map(|membership| membership.role)
    }

    /// Changes a membership in Acme.
    pub(crate) fn edit(&mut self, user: UserId, edit: impl FnOnce(&mut Membership)) {
        edit(self.memberships.get_mut(&(acme(), user)).unwrap());
    }

    /// Deletes a membership in Acme.
    pub(crate) fn delete_member(&mut self, user: UserId) {
        self.memberships.remove(&(acme(), user));
    }

    /// Adds a pending invite into Acme, and returns it with its token.
    pub(crate) fn add_invite(&mut self, number: u128, email: &str) -> (Invite, String) {
        let invite = Invite {
            id: id(number),
            workspace: acme(),
            email: email.to_owned(),
            role: InviteRole::Builder,
            invited_by: admin(),
            created_at: at(0),
            lifetime_days: 7,
            expires_at: at(7 * DAY),
            access_ends_at: None,
            state: InviteState::Pending,
        };
        let random = kernel::SeededRandomness::new(u64::try_from(number).unwrap());
        let token = kernel::token::mint(kernel::token::TokenKind::Invite, &random);
        let token = secrecy::ExposeSecret::expose_secret(&token).to_owned();
        self.invites.push((invite.clone(), peppers().digest(&token)));
        (invite, token)
    }

    /// Changes an invite.
    pub(crate) fn edit_invite(&mut self, invite: InviteId, edit: impl FnOnce(&mut Invite)) {
        edit(&mut self.invites.iter_mut().find(|(known, _)| known.id == invite).unwrap().0);
    }

    /// The state of an invite.
    pub(crate) fn invite_state(&self, invite: InviteId) -> InviteState {
        self.invites.iter().find(|(known, _)| known.id == invite).unwrap().0.state
    }

    /// Adds Acme's claim of `acme.example`.
    pub(crate) fn add_join_domain(&mut self, state: DomainState) -> JoinDomain {
        let domain = JoinDomain {
            workspace: acme(),
            domain: "acme.example".parse().unwrap(),
            verification_record: "qala-domain-verification=abc".to_owned(),
            auto_join: true,
            role: JoinRole::Member,
            created_at: at(0),
            state,
        };
        self.join_domains.insert(acme(), domain.clone());
        domain
    }

    /// Runs `change` as another transaction's when this one next locks the members.
    pub(crate) fn while_waiting(&mut self, change: impl FnOnce(&mut Self) + Send + Sync + 'static) {
        self.while_waiting = Some(Box::new(change));
    }

    /// Audited actions with target and detail, oldest first; all of them in Acme.
    pub(crate) fn audited(&self) -> Vec<(&str, String, Value)> {
        let audited = self.work.audit.iter().map(|entry| {
            assert_eq!(entry.workspace, Some(acme()), "{entry:?}");
            let target = entry.target.as_ref().map(|target| target.0.clone());
            (&*entry.action, target.unwrap_or_default(), entry.detail.clone().unwrap_or_default())
        });
        audited.collect()
    }

    /// Asserts that nothing was audited and nothing sent.
    pub(crate) fn assert_nothing_recorded(&self) {
        assert_eq!(self.work.audited_actions(), [""; 0]);
        assert!(self.work.emails.is_empty() && self.work.events.is_empty());
    }

    fn assert_locked(&self, workspace: WorkspaceId) {
        assert!(self.locked.contains(&workspace), "the members of {workspace} are not locked");
    }
}

/// Milliseconds of a day.
pub(crate) const DAY: i64 = 86_400_000;

/// The state of a verified join domain, where its times do not matter.
pub(crate) const VERIFIED: DomainState =
    DomainState::Verified { at: Timestamp::UNIX_EPOCH, recheck_at: Timestamp::UNIX_EPOCH, misses: 0 };

pub(crate) fn acme() -> WorkspaceId {
    id(100)
}

pub(crate) fn globex() -> WorkspaceId {
    id(200)
}

pub(crate) fn owner() -> UserId {
    id(1)
}

pub(crate) fn admin() -> UserId {
    id(2)
}

pub(crate) fn builder() -> UserId {
    id(3)
}

pub(crate) fn viewer() -> UserId {
    id(4)
}

/// A person who is no member of Acme.
pub(crate) fn stranger() -> UserId {
    id(5)
}

/// The verified address of a person.
pub(crate) fn address_of(user: UserId) -> String {
    format!("p{}@acme.example", user.uuid().as_u128())
}

/// A request of a signed-in person.
pub(crate) fn request_of(user: UserId) -> Context {
    context(session_of(user), at(0))
}

/// A request of a signed-in person at a time.
pub(crate) fn request_at(user: UserId, now: Timestamp) -> Context {
    context(session_of(user), now)
}

/// The proof that the caller is a member of Acme.
pub(crate) fn as_member(ctx: &Context) -> Member {
    member(ctx, acme(), Role::Viewer)
}

/// The proof that the caller is an admin of Acme.
pub(crate) fn as_admin(ctx: &Context) -> Admin {
    member(ctx, acme(), Role::Admin).require_admin().unwrap()
}

/// The proof that the caller is an owner of Acme.
pub(crate) fn as_owner(ctx: &Context) -> Owner {
    member(ctx, acme(), Role::Owner).require_owner().unwrap()
}

fn master_keys() -> MasterKeys {
    MasterKeys::new(vec![[7; 32]]).unwrap()
}

pub(crate) fn peppers() -> Peppers {
    Peppers::derive(&master_keys())
}

pub(crate) fn vault() -> Vault {
    Vault::new(&master_keys())
}

/// Opens a sealed e-mail.
pub(crate) fn open_email(email: &OutboxEmail) -> RenderedEmail {
    let claimed = ClaimedEmail {
        id: email.id,
        kind: email.kind.to_owned(),
        sealed: email.sealed.clone(),
        attempts: 0,
        expires_at: email.expires_at,
    };
    claimed.open(&vault()).unwrap()
}

fn workspace(id: WorkspaceId, name: &str) -> Workspace {
    Workspace {
        id,
        slug: name.to_lowercase(),
        name: name.to_owned(),
        profile: Profile::Global,
        team_size: TeamSize::Small,
        intents: Vec::new(),
        locale: kernel::Locale::En,
        timezone: "UTC".to_owned(),
        currency: Currency::Usd,
        hourly_cost_minor: 2_500,
        plan: Plan::Free,
        created_at: at(-1_000),
    }
}

#[async_trait]
impl WorkspaceTx for FakeTx {
    async fn insert_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError> {
        if self.workspaces.iter().any(|known| known.slug == workspace.slug) {
            return Err(StoreError::Duplicate);
        }
        self.workspaces.push(workspace.clone());
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
impl MembersTx for FakeTx {
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<WorkspaceInfo>, StoreError> {
        if self.is_unavailable {
            return Err(StoreError::Unavailable("connection refused".into()));
        }
        if let Some(change) = self.while_waiting.take() {
            change(self);
        }
        let found = self.workspaces.iter().find(|known| known.id == workspace);
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
    async fn invites(&self, workspace: WorkspaceId) -> Result<Vec<Invite>, StoreError> {
        let invites =
            self.invites.iter().map(|(invite, _)| invite).filter(|known| known.workspace == workspace);
        Ok(invites.rev().take(500).cloned().collect())
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
