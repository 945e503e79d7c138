//! Notifications: what is told of alerts, to whom, and what became of it.

use ::workspace::members::{MembersTx as _, Membership};
use chrono::TimeDelta;
use kernel::{
    Timestamp, UnitOfWork as _,
    authority::{Member, Role, Sharing},
    changes::Audience,
    events::{Event, EventKind},
    id::{AppId, ConnectionId, UserId},
    page::{Page, PageRequest},
};
use observability::{
    NotificationQueue as _, NotificationsRead as _, NotificationsTx as _,
    notifications::{
        Channel, DeliveryOutcome, DeliveryReason, EmailOrder, ListedNotification, NewDelivery, Notification,
        NotificationKind, NotificationSettings, NotificationSubject,
    },
};
use runs::queue::{AttemptOutcome, RunFault};

use crate::{
    contract,
    harness::{Database, World, at, member, reader},
};

contract!(
    alerts_of_an_hour_about_one_object_are_one_notification,
    a_failing_automation_is_told_and_its_app_is_not,
    a_plan_is_made_once_and_its_e_mails_are_claimed_once,
    admins_and_the_maker_of_an_app_are_told_unless_they_turned_it_off,
    what_was_e_mailed_lately_is_known,
    whoever_may_not_see_the_object_any_more_is_not_told,
    members_see_notifications_of_what_they_may_view,
    what_a_person_has_read_only_grows_and_ends_at_the_newest,
    notifications_are_kept_for_thirty_days,
    a_page_and_a_claim_have_bounds,
);

const FIRST: PageRequest<u64> = PageRequest { limit: 100, after: None };
const LEASE: TimeDelta = TimeDelta::minutes(15);
const HOUR: i64 = 3_600_000;

/// Reports that a connection went down.
async fn bring_down(world: &World, connection: ConnectionId, when: Timestamp) {
    let event = Event {
        workspace: world.workspace,
        audience: Audience::Members(Role::Viewer),
        at: when,
        kind: EventKind::ConnectorDown { connection, code: "auth_rejected".to_owned() },
    };
    world
        .write(async |tx| {
            tx.publish(event);
            Ok(())
        })
        .await;
}

/// Reports that an app keeps failing.
async fn fail_app(world: &World, app: AppId, when: Timestamp) {
    let kind = EventKind::AppFailing { run: world.id(), code: "timeout".to_owned() };
    world
        .write(async |tx| {
            tx.publish(Event::of_app(world.workspace, app, when, kind));
            Ok(())
        })
        .await;
}

async fn listed(world: &World, member: &Member) -> Vec<ListedNotification> {
    world.store.notifications(member, FIRST).await.unwrap()
}

async fn count_unread(world: &World, member: &Member, limit: u32) -> u32 {
    let position = world.store.read_position(member).await.unwrap().unwrap();
    world.store.count_unread_notifications(member, position, limit).await.unwrap()
}

async fn add_member(world: &World, name: &str, role: Role) -> UserId {
    let user = world.add_person(name).await;
    let membership = Membership { user, role, joined_at: at(0), access_ends_at: None };
    world.write(async |tx| tx.upsert_membership(world.workspace, &membership).await).await;
    user
}

async fn set_email(world: &World, user: UserId, email: bool) {
    world
        .write(async |tx| {
            tx.notification_settings_for_update(world.workspace, user).await?;
            tx.set_notification_email(world.workspace, user, email).await
        })
        .await;
}

/// Claims the one notification whose deliveries are to be planned.
async fn claim(world: &World, now: Timestamp) -> Notification {
    let claimed = world.store.claim_notifications(10, now, LEASE).await.unwrap();
    let [notification] = claimed.as_slice() else { panic!("{claimed:?}") };
    notification.clone()
}

fn email_to(world: &World, recipient: UserId, due_at: Timestamp) -> NewDelivery {
    let order = EmailOrder { recipient, due_at, expires_at: due_at + TimeDelta::days(1) };
    NewDelivery { id: world.id(), channel: Channel::Email, order: Ok(order) }
}

fn no_messenger(world: &World) -> NewDelivery {
    NewDelivery { id: world.id(), channel: Channel::Messenger, order: Err(DeliveryReason::NotConfigured) }
}

async fn alerts_of_an_hour_about_one_object_are_one_notification(database: Database) {
    let world = World::new(database).await;
    let (first, second) = (world.id(), world.id());
    for (connection, when) in [(first, 1), (first, 2), (second, 3), (first, 4), (first, HOUR)] {
        bring_down(&world, connection, at(when)).await;
    }
    let found = listed(&world, &reader(world.workspace)).await;
    let told: Vec<_> = found.iter().map(|item| (item.notification.subject, item.repeats)).collect();
    let of = |connection| NotificationSubject::Connection(connection);
    assert_eq!(told, [(of(first), 0), (of(second), 0), (of(first), 2)]);
    // The number is that of the first event, and each transaction of `write` has one.
    let seqs: Vec<_> = found.iter().map(|item| item.notification.seq).collect();
    assert!(seqs.is_sorted_by(|newer, older| newer > older), "{seqs:?}");
    let channels: Vec<_> =
        found[0].channels.iter().map(|report| (report.channel, report.recipients, report.reason)).collect();
    let pending = Some(DeliveryReason::Pending);
    assert_eq!(
        channels,
        [
            (Channel::InApp, None, None),
            (Channel::Email, Some(0), pending),
            (Channel::Messenger, Some(0), Some(DeliveryReason::NotConfigured))
        ]
    );
    let second_page = PageRequest { limit: 1, after: Some(seqs[0]) };
    let page = world.store.notifications(&reader(world.workspace), second_page).await.unwrap();
    let page = Page::from_limit_plus_one(page, 1, |item| item.notification.seq);
    assert_eq!(page.items[0].notification.seq, seqs[1]);
    assert!(page.next_cursor.is_some());
}

async fn a_failing_automation_is_told_and_its_app_is_not(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    let mut last = None;
    for _ in 0..3 {
        last = Some(world.enqueue(&automation, at(1)).await);
        let claimed = world.claim(node, 1, at(2)).await;
        let fault = RunFault { code: "timeout".to_owned(), message: "No.".to_owned() };
        assert!(world.finish(node, &claimed[0], AttemptOutcome::Failed(fault)).await);
    }
    let found = listed(&world, &reader(world.workspace)).await;
    let [told] = found.as_slice() else { panic!("{found:?}") };
    let subject =
        NotificationSubject::Automation { app: world.app, automation: automation.id, run: last.unwrap() };
    assert_eq!((told.notification.subject, told.notification.code.as_str()), (subject, "timeout"));
    assert_eq!(told.notification.subject.kind(), NotificationKind::AutomationFailing);
    assert_eq!(
        (told.names.app.as_deref(), told.names.automation.as_deref()),
        (Some("Invoices"), Some("Nightly"))
    );
}

async fn a_plan_is_made_once_and_its_e_mails_are_claimed_once(database: Database) {
    let world = World::new(database).await;
    let other = add_member(&world, "ada", Role::Admin).await;
    fail_app(&world, world.app, at(1)).await;
    let notification = claim(&world, at(2)).await;
    let again = world.store.claim_notifications(10, at(3), LEASE).await.unwrap();
    assert_eq!(again, [], "it is leased");
    let after_lease = world.store.claim_notifications(10, at(2) + LEASE, LEASE).await.unwrap();
    assert_eq!(after_lease, std::slice::from_ref(&notification), "a node that died does not keep it");

    let planned =
        [email_to(&world, world.user, at(10)), email_to(&world, other, at(20)), no_messenger(&world)];
    world.store.plan_deliveries(&notification, &planned).await.unwrap();
    let twice = [email_to(&world, world.user, at(10))];
    world.store.plan_deliveries(&notification, &twice).await.unwrap();
    assert_eq!(world.count("notification_deliveries").await, 3);
    assert_eq!(world.store.claim_notifications(10, at(2) + LEASE * 3, LEASE).await.unwrap(), []);

    assert_eq!(world.store.claim_deliveries(10, at(9), LEASE).await.unwrap(), []);
    let first = world.store.claim_deliveries(10, at(10), LEASE).await.unwrap();
    assert_eq!((first.len(), first[0].recipient, first[0].attempts), (1, world.user, 0));
    assert_eq!(world.store.claim_deliveries(10, at(11), LEASE).await.unwrap(), []);
    world.store.end_attempt(first[0].id, DeliveryOutcome::Retry(at(15))).await.unwrap();
    let mut both = world.store.claim_deliveries(10, at(20), LEASE).await.unwrap();
    both.sort_by_key(|claimed| claimed.recipient == other);
    assert_eq!(both.iter().map(|claimed| claimed.attempts).collect::<Vec<_>>(), [1, 0]);
    let content = world.store.email_content(&both[1], at(21)).await.unwrap().unwrap();
    assert_eq!((content.address.as_str(), content.workspace_name.as_str()), ("ada@example.com", "Acme"));
    assert_eq!(content.names.app.as_deref(), Some("Invoices"));

    world.store.end_attempt(both[0].id, DeliveryOutcome::Sent).await.unwrap();
    let rejected = DeliveryOutcome::Undelivered(DeliveryReason::Rejected);
    world.store.end_attempt(both[1].id, rejected).await.unwrap();
    assert_eq!(world.store.claim_deliveries(10, at(HOUR), LEASE).await.unwrap(), []);
    let found = listed(&world, &reader(world.workspace)).await;
    let reports: Vec<_> = found[0].channels.iter().map(|report| (report.recipients, report.reason)).collect();
    assert_eq!(reports, [(None, None), (Some(1), None), (Some(0), Some(DeliveryReason::NotConfigured))]);
}

async fn admins_and_the_maker_of_an_app_are_told_unless_they_turned_it_off(database: Database) {
    let world = World::new(database).await;
    let admin = add_member(&world, "ada", Role::Admin).await;
    let maker = add_member(&world, "bo", Role::Builder).await;
    let stranger = add_member(&world, "mo", Role::Member).await;
    let app = world.id();
    let made = ::apps::App { created_by: maker, ..world.app_of(app, Sharing::Private) };
    world.write(async |tx| ::apps::AppsTx::insert_app(tx, &made).await).await;
    fail_app(&world, app, at(1)).await;
    let notification = claim(&world, at(2)).await;
    let recipients = async || world.store.email_facts(&notification, at(3)).await.unwrap().recipients;
    assert_eq!(recipients().await, [world.user, admin, maker], "by role");
    set_email(&world, admin, false).await;
    set_email(&world, stranger, true).await;
    assert_eq!(recipients().await, [world.user, maker]);
    let settings = world.store.notification_settings(world.workspace, admin).await.unwrap();
    assert!(!settings.email);
    set_email(&world, admin, true).await;
    let ending =
        Membership { user: maker, role: Role::Builder, joined_at: at(0), access_ends_at: Some(at(3)) };
    world.write(async |tx| tx.upsert_membership(world.workspace, &ending).await).await;
    assert_eq!(recipients().await, [world.user, admin]);

    bring_down(&world, world.id(), at(5)).await;
    let down = claim(&world, at(6)).await;
    let facts = world.store.email_facts(&down, at(6)).await.unwrap();
    assert_eq!(facts.recipients, [world.user, admin], "a connection has no maker");
}

async fn what_was_e_mailed_lately_is_known(database: Database) {
    let world = World::new(database).await;
    // Just before an hour ends, so that the same object is told of again soon after.
    let end = at(0) + TimeDelta::milliseconds(HOUR - 1_000);
    let connection = world.id();
    bring_down(&world, connection, end).await;
    let first = claim(&world, end).await;
    let facts = world.store.email_facts(&first, end).await.unwrap();
    assert_eq!((facts.is_repeated, facts.emailed), (false, 0));
    world.store.plan_deliveries(&first, &[email_to(&world, world.user, end)]).await.unwrap();

    let later = end + TimeDelta::minutes(2);
    bring_down(&world, connection, later).await;
    let again = claim(&world, later).await;
    let facts = world.store.email_facts(&again, later).await.unwrap();
    assert_eq!((facts.is_repeated, facts.emailed), (true, 1));
    let skipped =
        NewDelivery { id: world.id(), channel: Channel::Email, order: Err(DeliveryReason::Repeated) };
    world.store.plan_deliveries(&again, &[skipped]).await.unwrap();

    bring_down(&world, world.id(), later).await;
    let other = claim(&world, later).await;
    let facts = world.store.email_facts(&other, later).await.unwrap();
    assert_eq!((facts.is_repeated, facts.emailed), (false, 1), "one that was not e-mailed does not count");
    assert_eq!(facts.waiting, 1);
    let facts = world.store.email_facts(&other, end + TimeDelta::hours(1)).await.unwrap();
    assert_eq!(facts.emailed, 0);

    // Apps that fail do not count against connections.
    fail_app(&world, world.app, later).await;
    let app = claim(&world, later).await;
    assert_eq!(world.store.email_facts(&app, later).await.unwrap().emailed, 0);
    let sent = world.store.claim_deliveries(10, later, LEASE).await.unwrap();
    world.store.end_attempt(sent[0].id, DeliveryOutcome::Sent).await.unwrap();
    assert_eq!(world.store.email_facts(&app, later).await.unwrap().waiting, 0);
}

async fn whoever_may_not_see_the_object_any_more_is_not_told(database: Database) {
    let world = World::new(database).await;
    let admin = add_member(&world, "ada", Role::Admin).await;
    fail_app(&world, world.app, at(1)).await;
    let notification = claim(&world, at(2)).await;
    world.store.plan_deliveries(&notification, &[email_to(&world, admin, at(2))]).await.unwrap();
    let claimed = world.store.claim_deliveries(10, at(3), LEASE).await.unwrap();
    let refused = async || world.store.email_content(&claimed[0], at(4)).await.unwrap().err();
    assert_eq!(refused().await, None);
    set_email(&world, admin, false).await;
    assert_eq!(refused().await, Some(DeliveryReason::TurnedOff));
    set_email(&world, admin, true).await;
    let demoted = Membership { user: admin, role: Role::Member, joined_at: at(0), access_ends_at: None };
    world.write(async |tx| tx.upsert_membership(world.workspace, &demoted).await).await;
    assert_eq!(refused().await, Some(DeliveryReason::NoAccess));
    let promoted = Membership { role: Role::Admin, ..demoted };
    world.write(async |tx| tx.upsert_membership(world.workspace, &promoted).await).await;
    assert_eq!(refused().await, None);
    world.write(async |tx| tx.delete_membership(world.workspace, admin).await).await;
    assert_eq!(refused().await, Some(DeliveryReason::NoAccess));
    let settings = world.store.notification_settings(world.workspace, admin).await.unwrap();
    assert_eq!(settings, NotificationSettings::DEFAULT, "what a member chose goes with them");

    // A connection that is gone has no name to tell.
    bring_down(&world, world.id(), at(5)).await;
    let down = claim(&world, at(6)).await;
    world.store.plan_deliveries(&down, &[email_to(&world, world.user, at(6))]).await.unwrap();
    let claimed = world.store.claim_deliveries(10, at(7), LEASE).await.unwrap();
    let content = world.store.email_content(&claimed[0], at(8)).await.unwrap();
    assert_eq!(content.err(), Some(DeliveryReason::NoAccess));
}

async fn members_see_notifications_of_what_they_may_view(database: Database) {
    let world = World::new(database).await;
    let shared = world.id();
    world.add_app(shared, Sharing::Workspace).await;
    fail_app(&world, world.app, at(1)).await;
    fail_app(&world, shared, at(2)).await;
    bring_down(&world, world.id(), at(3)).await;
    let viewer = add_member(&world, "viv", Role::Viewer).await;
    let viewer = member(world.workspace, viewer, Role::Viewer);
    let kinds = async |who: &Member| {
        let found = listed(&world, who).await;
        found.iter().map(|item| item.notification.subject.app()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&reader(world.workspace)).await, [None, Some(shared), Some(world.app)]);
    assert_eq!(kinds(&viewer).await, [None, Some(shared)]);
    let owner = member(world.workspace, world.user, Role::Owner);
    assert_eq!(count_unread(&world, &owner, 100).await, 3);
    assert_eq!(count_unread(&world, &owner, 2).await, 2);
    assert_eq!(count_unread(&world, &viewer, 100).await, 2);

    // Who joins later has nothing to catch up on.
    let late = world.add_person("late").await;
    let joined = Membership { user: late, role: Role::Admin, joined_at: at(10), access_ends_at: None };
    world.write(async |tx| tx.upsert_membership(world.workspace, &joined).await).await;
    let late = member(world.workspace, late, Role::Admin);
    assert_eq!(count_unread(&world, &late, 100).await, 0);
    assert_eq!(listed(&world, &late).await.len(), 3);

    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    assert_eq!(listed(&world, &member(elsewhere, world.user, Role::Owner)).await, []);
    // What belongs to a deleted app is not listed.
    world.write(async |tx| ::apps::AppsTx::delete_app(tx, world.workspace, shared, at(20)).await).await;
    assert_eq!(kinds(&viewer).await, [None]);
}

async fn what_a_person_has_read_only_grows_and_ends_at_the_newest(database: Database) {
    let world = World::new(database).await;
    let owner = member(world.workspace, world.user, Role::Owner);
    for when in 1..=3 {
        bring_down(&world, world.id(), at(when)).await;
    }
    let seqs: Vec<u64> = listed(&world, &owner).await.iter().map(|item| item.notification.seq).collect();
    let read = async |up_to: u64| {
        let mut tx = kernel::Transactions::begin(&world.store).await.unwrap();
        tx.set_notifications_read(world.workspace, world.user, up_to).await.unwrap();
        Box::new(tx).commit().await.unwrap();
        count_unread(&world, &owner, 100).await
    };
    assert_eq!(read(seqs[1]).await, 1);
    assert_eq!(read(seqs[2]).await, 1, "it never goes back");
    assert_eq!(read(u64::MAX).await, 0);
    bring_down(&world, world.id(), at(4)).await;
    assert_eq!(count_unread(&world, &owner, 100).await, 1);
    assert!(world.store.notification_settings(world.workspace, world.user).await.unwrap().email);
}

async fn notifications_are_kept_for_thirty_days(database: Database) {
    let world = World::new(database).await;
    bring_down(&world, world.id(), at(0)).await;
    let notification = claim(&world, at(1)).await;
    world.store.plan_deliveries(&notification, &[no_messenger(&world)]).await.unwrap();
    let day = TimeDelta::days(1);
    world.store.delete_expired(at(0) + day * 30 - TimeDelta::milliseconds(1)).await.unwrap();
    assert_eq!(world.count("notifications").await, 1);
    world.store.delete_expired(at(0) + day * 31).await.unwrap();
    assert_eq!((world.count("notifications").await, world.count("notification_deliveries").await), (0, 0));
}

async fn a_page_and_a_claim_have_bounds(database: Database) {
    let world = World::new(database).await;
    let connection = world.id();
    for hour in 0..120 {
        bring_down(&world, connection, at(hour * HOUR)).await;
    }
    let newest = PageRequest { limit: 20, after: None };
    let page = world.store.notifications(&reader(world.workspace), newest).await.unwrap();
    assert_eq!(page.len(), 21);
    let claimed = world.store.claim_notifications(50, at(200 * HOUR), LEASE).await.unwrap();
    assert_eq!(claimed.len(), 50);
    assert!(claimed.iter().all(|notification| notification.at < at(50 * HOUR)), "the oldest first");
}
