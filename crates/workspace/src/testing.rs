//! An in-memory store and the fixtures that the tests of use cases share.

mod ports;

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Context, Timestamp,
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
    Plan, Workspace,
    invites::{Invite, InviteRole, InviteState},
    join_domains::{Domain, DomainState, JoinDomain, JoinRole},
    members::{LeaveReason, Membership},
    workspaces::{Currency, Profile, TeamSize},
};

/// A change that another transaction commits while this one waits for a lock.
type ConcurrentChange = Box<dyn FnOnce(&mut FakeTx) + Send + Sync>;

/// The workspace's tables in memory. Ports whose documentation asks for locked members panic without the lock.
#[derive(Default)]
pub(crate) struct FakeTx {
    pub(crate) work: RecordingUnitOfWork,
    pub(crate) workspaces: Vec<Workspace>,
    /// Workspaces with the people who created them.
    pub(crate) creators: Vec<(WorkspaceId, UserId)>,
    pub(crate) memberships: BTreeMap<(WorkspaceId, UserId), Membership>,
    pub(crate) leave_reasons: BTreeMap<(WorkspaceId, UserId), (LeaveReason, Timestamp)>,
    pub(crate) addresses: BTreeMap<UserId, String>,
    pub(crate) invites: Vec<(Invite, Digest)>,
    pub(crate) join_domains: BTreeMap<WorkspaceId, JoinDomain>,
    /// Domains that a concurrent transaction has verified: this one does not read them, and cannot verify them either.
    pub(crate) verified_concurrently: Vec<Domain>,
    /// Deleted workspaces, with when and by whom.
    pub(crate) deleted: BTreeMap<WorkspaceId, (Timestamp, UserId)>,
    /// Deleted workspaces whose purge has begun.
    pub(crate) purging: BTreeSet<WorkspaceId>,
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
