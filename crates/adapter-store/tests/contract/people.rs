//! Members, invites, join domains, and the audit log.

use ::identity::people::{PeopleRead as _, PeopleTx as _};
use ::identity::{
    IdentityTx as _,
    sessions::{Session, SignInMethod},
};
use ::workspace::{
    WorkspaceTx as _,
    audit_log::{ActorFilter, AuditFilter, AuditRead as _},
    invites::{Invite, InviteRole, InviteState, InvitesRead as _, InvitesTx as _},
    join_domains::{Domain, DomainState, JoinDomain, JoinDomainsRead as _, JoinDomainsTx as _, JoinRole},
    members::{LeaveReason, MemberPosition, MembersRead as _, MembersTx as _, Membership},
};
use kernel::{
    Caller, StoreError, UnitOfWork as _,
    authority::Role,
    caller::{Scope, Scopes, TokenCaller},
    id::{AppId, GrantId, UserId, VersionId, WorkspaceId, kind},
    page::{Page, PageRequest},
    testing::{session_of, token_of},
    token::{Digest, Peppers},
    vault::MasterKeys,
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract!(
    members_are_listed_by_authority_while_they_have_access,
    owners_who_go_at_once_are_counted_one_after_the_other,
    how_somebody_went_is_noted_and_forgotten,
    an_address_waits_for_one_invite_at_a_time,
    an_invite_is_found_by_its_newest_link_only,
    a_domain_is_proved_by_one_workspace_and_claimed_by_many,
    a_suggestion_leaves_out_who_is_or_was_removed,
    tokens_of_one_person_in_one_workspace_end_together,
    who_was_seen_lately_is_online,
    the_audit_log_is_read_in_pages,
    an_agent_is_told_from_its_person,
    the_history_of_an_app_has_what_belongs_to_it,
    an_invite_is_kept_for_ninety_days_after_its_end,
    pages_of_members_are_stable,
);

/// The first page of members.
const MEMBERS: PageRequest<MemberPosition> = PageRequest { limit: 100, after: None };

fn membership_of(user: UserId, role: Role) -> Membership {
    Membership { user, role, joined_at: at(0), access_ends_at: None }
}

fn digest(text: &str) -> Digest {
    Peppers::derive(&MasterKeys::new(vec![[1; 32]]).unwrap()).digest(text)
}

async fn members_are_listed_by_authority_while_they_have_access(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let mut expected = vec![membership_of(world.user, Role::Owner)];
    for (name, role) in
        [("viv", Role::Viewer), ("bo", Role::Builder), ("ada", Role::Admin), ("mo", Role::Member)]
    {
        let membership = membership_of(world.add_person(name).await, role);
        world.write(async |tx| tx.upsert_membership(world.workspace, &membership).await).await;
        expected.push(membership);
    }
    expected.sort_by_key(|place| place.role);
    assert_eq!(world.store.members(world.workspace, at(1), MEMBERS).await.unwrap(), expected);

    let ending = Membership { access_ends_at: Some(at(1_000)), ..expected[4].clone() };
    world.write(async |tx| tx.upsert_membership(world.workspace, &ending).await).await;
    assert_eq!(world.store.members(world.workspace, at(999), MEMBERS).await.unwrap().len(), 5);
    assert_eq!(world.store.members(world.workspace, at(1_000), MEMBERS).await.unwrap(), expected[..4]);
    let found = world.write(async |tx| tx.membership_of(world.workspace, ending.user).await).await;
    assert_eq!(found, Some(ending));
    assert_eq!(world.store.members(elsewhere, at(1), MEMBERS).await.unwrap().len(), 1);
}

async fn pages_of_members_are_stable(database: Database) {
    let world = World::new(database).await;
    for number in 0..12_u8 {
        let user = world.add_person(&format!("person{number}")).await;
        let role = Role::ALL[usize::from(number) % Role::ALL.len()];
        // Some join at the same time.
        let joined_at = at(i64::from(number / 3));
        let membership = Membership { joined_at, ..membership_of(user, role) };
        world.write(async |tx| tx.upsert_membership(world.workspace, &membership).await).await;
    }
    let all = world.store.members(world.workspace, at(1), MEMBERS).await.unwrap();
    assert_eq!(all.len(), 13);
    for limit in [1, 4, 5, 13] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = PageRequest { limit, after };
            let read = world.store.members(world.workspace, at(1), page).await.unwrap();
            let page = Page::from_limit_plus_one(read, limit, |member| MemberPosition::from(member));
            found.extend(page.items);
            let Some(cursor) = page.next_cursor else { break };
            after = PageRequest::parse(None, Some(&cursor)).unwrap().after;
        }
        assert_eq!(found, all, "{limit} a page");
    }
    // The member at the end of the page before has left, and others come before it.
    let last = MemberPosition::from(&all[4]);
    world.write(async |tx| tx.delete_membership(world.workspace, all[4].user).await).await;
    let owner = membership_of(world.add_person("late").await, Role::Owner);
    world.write(async |tx| tx.upsert_membership(world.workspace, &owner).await).await;
    let page = PageRequest { limit: 100, after: Some(last) };
    assert_eq!(world.store.members(world.workspace, at(1), page).await.unwrap(), all[5..]);
}

async fn owners_who_go_at_once_are_counted_one_after_the_other(database: Database) {
    let world = World::new(database).await;
    let second = world.add_person("second").await;
    world
        .write(async |tx| tx.upsert_membership(world.workspace, &membership_of(second, Role::Owner)).await)
        .await;
    let leave = async |user: UserId| {
        let mut tx = world.store.begin().await.unwrap();
        assert!(tx.lock_members(world.workspace).await.unwrap().is_some());
        if tx.count_owners(world.workspace, at(1)).await.unwrap() < 2 {
            return false;
        }
        tx.delete_membership(world.workspace, user).await.unwrap();
        tx.audit(world.context().audit_entry("session.end"));
        Box::new(tx).commit().await.unwrap();
        true
    };
    let (one, other) = tokio::join!(leave(world.user), leave(second));
    assert!(one != other, "{one} {other}");
    assert_eq!(world.count("members WHERE role = 'owner'").await, 1);
    let nowhere = world.id();
    assert_eq!(world.write(async |tx| tx.lock_members(nowhere).await).await, None);
}

async fn how_somebody_went_is_noted_and_forgotten(database: Database) {
    let world = World::new(database).await;
    let workspace = world.workspace;
    let departure = async || world.write(async |tx| tx.leave_reason(workspace, world.user).await).await;
    assert_eq!(departure().await, None);
    for how in [LeaveReason::Left, LeaveReason::Removed] {
        world.write(async |tx| tx.set_leave_reason(workspace, world.user, Some((how, at(1)))).await).await;
        assert_eq!(departure().await, Some(how));
    }
    world.write(async |tx| tx.set_leave_reason(workspace, world.user, None).await).await;
    assert_eq!(departure().await, None);
}

fn invite(world: &World, workspace: WorkspaceId, email: &str) -> Invite {
    Invite {
        id: world.id(),
        workspace,
        email: email.to_owned(),
        role: InviteRole::Builder,
        invited_by: world.user,
        created_at: at(0),
        lifetime_days: 7,
        expires_at: at(10_000),
        access_ends_at: Some(at(99_000)),
        state: InviteState::Pending,
    }
}

async fn an_address_waits_for_one_invite_at_a_time(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let first = invite(&world, world.workspace, "bek@example.com");
    world.write(async |tx| tx.insert_invite(&first, &digest("1")).await).await;
    let second = invite(&world, world.workspace, "bek@example.com");
    let refused = world.try_write(async |tx| tx.insert_invite(&second, &digest("2")).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    let there = invite(&world, elsewhere, "bek@example.com");
    world.write(async |tx| tx.insert_invite(&there, &digest("3")).await).await;

    let count = async |now| world.write(async |tx| tx.count_pending(world.workspace, now).await).await;
    assert_eq!((count(at(9_999)).await, count(at(10_000)).await), (1, 0));
    let revoked =
        world.write(async |tx| tx.revoke_pending(world.workspace, "bek@example.com", at(5)).await).await;
    assert_eq!(revoked, 1);
    world.write(async |tx| tx.insert_invite(&second, &digest("2")).await).await;
    let settled = Invite { state: InviteState::Revoked { at: at(5) }, ..first };
    assert_eq!(world.store.invites(world.workspace, PAGE).await.unwrap(), [second.clone(), settled]);
    assert_eq!(world.store.invites(elsewhere, PAGE).await.unwrap(), [there]);
    let read = async |workspace| world.write(async |tx| tx.invite(workspace, second.id).await).await;
    assert_eq!((read(world.workspace).await, read(elsewhere).await), (Some(second.clone()), None));

    let emails = ["aru@example.com", "bek@example.com"].map(str::to_owned);
    let members = world.write(async |tx| tx.members_among(world.workspace, &emails, at(1)).await).await;
    assert_eq!(members, ["aru@example.com"]);
}

async fn an_invite_is_found_by_its_newest_link_only(database: Database) {
    let world = World::new(database).await;
    let first = invite(&world, world.workspace, "bek@example.com");
    world.write(async |tx| tx.insert_invite(&first, &digest("old")).await).await;
    let resent = Invite { expires_at: at(20_000), ..first };
    world.write(async |tx| tx.update_invite(&resent, Some(&digest("new"))).await).await;
    assert_eq!(world.store.find_invite_by_digest(&[digest("old")]).await.unwrap(), None);
    assert_eq!(world.store.find_invite_by_digest(&[]).await.unwrap(), None);
    assert_eq!(
        world.store.find_invite_by_digest(&[digest("x"), digest("new")]).await.unwrap(),
        Some(resent.clone())
    );
    let accepted = Invite { state: InviteState::Accepted { by: world.user, at: at(7) }, ..resent };
    world.write(async |tx| tx.update_invite(&accepted, None).await).await;
    assert_eq!(world.store.find_invite_by_digest(&[digest("new")]).await.unwrap(), Some(accepted));
}

fn domain(workspace: WorkspaceId, name: &str, state: DomainState) -> JoinDomain {
    JoinDomain {
        workspace,
        domain: name.parse().unwrap(),
        verification_record: format!("proof of {workspace}"),
        auto_join: true,
        role: JoinRole::Viewer,
        created_at: at(0),
        state,
    }
}

const VERIFIED: DomainState = DomainState::Verified {
    at: kernel::Timestamp::UNIX_EPOCH,
    recheck_at: kernel::Timestamp::UNIX_EPOCH,
    misses: 2,
};

async fn a_domain_is_proved_by_one_workspace_and_claimed_by_many(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let here = domain(world.workspace, "tulpar.kz", DomainState::Pending);
    let there = domain(elsewhere, "tulpar.kz", DomainState::Pending);
    for claimed in [&here, &there] {
        world.write(async |tx| tx.upsert_join_domain(claimed).await).await;
    }
    let name: Domain = "tulpar.kz".parse().unwrap();
    let proved = async || world.write(async |tx| tx.verified_join_domain(&name).await).await;
    assert_eq!(proved().await, None);
    let there = JoinDomain { state: VERIFIED, ..there };
    world.write(async |tx| tx.upsert_join_domain(&there).await).await;
    assert_eq!(proved().await, Some(there.clone()));
    let late = JoinDomain { state: VERIFIED, ..here.clone() };
    let refused = world.try_write(async |tx| tx.upsert_join_domain(&late).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    assert_eq!(world.store.join_domain(world.workspace).await.unwrap(), Some(here));
    assert_eq!(world.store.due_join_domains(at(0), 10).await.unwrap(), [there]);

    assert!(world.write(async |tx| tx.delete_join_domain(elsewhere).await).await);
    assert!(!world.write(async |tx| tx.delete_join_domain(elsewhere).await).await);
    world.write(async |tx| tx.upsert_join_domain(&late).await).await;
    assert_eq!(proved().await, Some(late));
}

async fn a_suggestion_leaves_out_who_is_or_was_removed(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let name: Domain = "tulpar.kz".parse().unwrap();
    let suggested = async |user| world.store.join_suggestion(&name, user, at(1)).await.unwrap();
    let claimed = domain(world.workspace, "tulpar.kz", DomainState::Pending);
    world.write(async |tx| tx.upsert_join_domain(&claimed).await).await;
    assert_eq!(suggested(bek).await, None);
    world.write(async |tx| tx.upsert_join_domain(&JoinDomain { state: VERIFIED, ..claimed }).await).await;
    let found = suggested(bek).await.unwrap();
    assert_eq!((found.workspace, found.member_count, found.role), (world.workspace, 1, JoinRole::Viewer));
    assert_eq!(suggested(world.user).await, None);
    for (how, seen) in [(LeaveReason::Left, true), (LeaveReason::Removed, false)] {
        world.write(async |tx| tx.set_leave_reason(world.workspace, bek, Some((how, at(1)))).await).await;
        assert_eq!(suggested(bek).await.is_some(), seen);
    }
}

async fn tokens_of_one_person_in_one_workspace_end_together(database: Database) {
    use ::identity::{IdentityRead as _, tokens::Token};
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let bek = world.add_person("bek").await;
    world.write(async |tx| tx.insert_member(world.workspace, bek, Role::Member, at(0)).await).await;
    let mut of_bek = Vec::new();
    for (number, (workspace, user)) in
        [(world.workspace, bek), (world.workspace, bek), (world.workspace, world.user), (elsewhere, bek)]
            .into_iter()
            .enumerate()
    {
        let token = Token {
            id: world.id(),
            workspace,
            user,
            name: "ci".to_owned(),
            scopes: "read".parse().unwrap(),
            hint: kernel::token::TokenHint { prefix: "qat_abcd".to_owned(), last4: "wxyz".to_owned() },
            created_at: at(0),
            last_used_at: None,
            expires_at: None,
            revoked_at: None,
        };
        world.write(async |tx| tx.insert_token(&token, &digest(&number.to_string())).await).await;
        if number < 2 {
            of_bek.push(token.id);
        }
    }
    let revoke = async || {
        let mut revoked =
            world.write(async |tx| tx.revoke_tokens_of(world.workspace, bek, at(5)).await).await;
        revoked.sort_unstable();
        revoked
    };
    assert_eq!(revoke().await, of_bek);
    assert_eq!(revoke().await, []);
    let live = async |workspace, user| {
        let tokens = world.store.tokens(workspace, user, PAGE).await.unwrap();
        tokens.iter().filter(|token| token.revoked_at.is_none()).count()
    };
    assert_eq!(
        (
            live(world.workspace, bek).await,
            live(world.workspace, world.user).await,
            live(elsewhere, bek).await
        ),
        (0, 1, 1)
    );
}

async fn who_was_seen_lately_is_online(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let session = |user, last_seen_at, expires_at| Session {
        id: world.id(),
        user,
        workspace: None,
        is_dev_login: false,
        method: SignInMethod::Email,
        authenticated_at: at(0),
        stepped_up_at: None,
        client_ip: None,
        device: None,
        last_seen_at,
        created_at: at(0),
        expires_at,
    };
    let sessions = [session(world.user, at(1_000), at(9_000)), session(bek, at(0), at(9_000))];
    for (number, session) in sessions.iter().enumerate() {
        world.write(async |tx| tx.insert_session(session, &digest(&number.to_string())).await).await;
    }
    let online = async |since, now| {
        let online = world.store.find_online_users(&[world.user, bek], since, now).await.unwrap();
        online.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(online(at(500), at(2_000)).await, [world.user]);
    assert_eq!(online(at(-1), at(2_000)).await.len(), 2);
    assert_eq!(online(at(-1), at(9_000)).await, []);
    let mut users = world.store.users(&[bek, world.id(), world.user]).await.unwrap();
    users.sort_by_key(|user| user.id);
    assert_eq!(users.iter().map(|user| user.id).collect::<Vec<_>>(), [world.user, bek]);
}

async fn the_audit_log_is_read_in_pages(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    for number in 0..7 {
        let mut context = world.context();
        context.now = at(100 + number);
        if number % 2 == 0 {
            context.caller = Caller::Session(kernel::caller::SessionCaller {
                session: world.id(),
                user: world.user,
                workspace: None,
                is_dev_login: false,
                view_as: None,
            });
        }
        let mut tx = world.store.begin().await.unwrap();
        let place = if number == 6 { elsewhere } else { world.workspace };
        tx.audit(
            context.audit_entry(if number < 3 { "session.create" } else { "session.end" }).workspace(place),
        );
        Box::new(tx).commit().await.unwrap();
    }
    let read = async |filter: &AuditFilter, page| {
        world.store.audit_records(world.workspace, filter, page).await.unwrap()
    };
    let mut page = PageRequest { limit: 4, after: None };
    let mut seen = Vec::new();
    loop {
        let found =
            Page::from_limit_plus_one(read(&AuditFilter::default(), page).await, 4, |record| record.id);
        seen.extend(found.items);
        match found.next_cursor {
            Some(cursor) => page = PageRequest::parse(Some(4), Some(&cursor)).unwrap(),
            None => break,
        }
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.is_sorted_by(|newer, older| newer.id > older.id));
    let all = PageRequest { limit: 100, after: None };
    let only = AuditFilter { action: Some("session.create".to_owned()), ..AuditFilter::default() };
    assert_eq!(read(&only, all).await.len(), 3);
    let only = AuditFilter { actor: Some(ActorFilter::Person(world.user)), ..only };
    assert_eq!(read(&only, all).await.len(), 2);
    let nobody = AuditFilter { actor: Some(ActorFilter::Person(world.id())), ..AuditFilter::default() };
    assert_eq!(read(&nobody, all).await, []);
    let actions = world.store.audit_actions(world.workspace).await.unwrap();
    assert_eq!(actions, ["session.create", "session.end"]);
    let span = AuditFilter { from: Some(at(-1)), to: Some(at(-1)), ..AuditFilter::default() };
    assert_eq!(read(&span, all).await, [], "the end is exclusive");
}

async fn an_agent_is_told_from_its_person(database: Database) {
    let world = World::new(database).await;
    let (grant, other): (GrantId, GrantId) = (world.id(), world.id());
    let personal = token_of(world.user, world.workspace, Scopes::of(Scope::Write));
    let Caller::Token(token) = personal.clone() else { unreachable!("a token's caller") };
    let agent = |grant| Caller::Token(TokenCaller { grant: Some(grant), ..token.clone() });
    for caller in [session_of(world.user), personal, agent(grant), agent(grant), agent(other)] {
        let mut context = world.context();
        context.caller = caller;
        world
            .write(async |tx| {
                let target = "app_of_the_test";
                tx.audit(context.audit_entry("app.update").workspace(world.workspace).target(target));
                Ok(())
            })
            .await;
    }
    let all = PageRequest { limit: 100, after: None };
    let count = async |actor| {
        let filter =
            AuditFilter { actor, target: Some("app_of_the_test".to_owned()), ..AuditFilter::default() };
        world.store.audit_records(world.workspace, &filter, all).await.unwrap().len()
    };
    assert_eq!(count(None).await, 5);
    assert_eq!(count(Some(ActorFilter::Person(world.user))).await, 5);
    assert_eq!(count(Some(ActorFilter::Agents)).await, 3);
    assert_eq!(count(Some(ActorFilter::Grant(grant))).await, 2);
    assert_eq!(count(Some(ActorFilter::Grant(world.id()))).await, 0);
}

async fn the_history_of_an_app_has_what_belongs_to_it(database: Database) {
    let world = World::new(database).await;
    let (app, other, version): (AppId, AppId, VersionId) = (world.id(), world.id(), world.id());
    let context = world.context();
    world
        .write(async |tx| {
            let entry = |action| context.audit_entry(action).workspace(world.workspace);
            tx.audit(entry("app.update").target(app));
            tx.audit(entry("version.create").target(version).app(app));
            tx.audit(entry("app.update").target(other));
            tx.audit(entry("gate.create").target(world.id::<kind::Gate>()));
            Ok(())
        })
        .await;
    let filter = AuditFilter { app: Some(app), ..AuditFilter::default() };
    let all = PageRequest { limit: 100, after: None };
    let found = world.store.audit_records(world.workspace, &filter, all).await.unwrap();
    let mut targets: Vec<String> = found.into_iter().filter_map(|record| record.target).collect();
    targets.sort();
    assert_eq!(targets, [app.to_string(), version.to_string()]);
    assert_eq!(world.store.audit_records(world.id(), &filter, all).await.unwrap(), [], "another workspace");
}

async fn an_invite_is_kept_for_ninety_days_after_its_end(database: Database) {
    let world = World::new(database).await;
    let (waits, accepted) = (
        invite(&world, world.workspace, "bek@example.com"),
        invite(&world, world.workspace, "aru@example.com"),
    );
    let accepted = Invite { state: InviteState::Accepted { by: world.user, at: at(1) }, ..accepted };
    let later = Invite { expires_at: at(20_000), ..invite(&world, world.workspace, "gul@example.com") };
    world
        .write(async |tx| {
            tx.insert_invite(&waits, &digest("1")).await?;
            tx.insert_invite(&later, &digest("3")).await?;
            let pending = Invite { state: InviteState::Pending, ..accepted.clone() };
            tx.insert_invite(&pending, &digest("2")).await?;
            tx.update_invite(&accepted, None).await
        })
        .await;
    let days = i64::from(90 * 24) * 3_600_000;
    let mut left = Vec::new();
    for now in [10_000, 9_999 + days, 10_000 + days, 20_000 + days] {
        world.store.delete_expired(at(now)).await.unwrap();
        left.push(world.count("invites").await);
    }
    assert_eq!(left, [3, 3, 1, 0], "whatever became of it");
}
