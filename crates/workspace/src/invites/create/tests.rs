use kernel::{
    Locale,
    authority::Role,
    testing::{at, id},
};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::*;
use crate::{
    InvalidInput,
    invites::{InvitesRead as _, link::token_digests},
    testing::{
        DAY, FakeTx, acme, address_of, admin, as_admin, builder, open_email, peppers, request_of, vault,
        viewer,
    },
};

const LINK: InviteDelivery<'_> = InviteDelivery::Link { public_url: "https://q.example" };

fn input(emails: &[&str]) -> CreateInvites {
    CreateInvites {
        emails: emails.iter().map(|email| (*email).to_owned()).collect(),
        role: InviteRole::Builder,
        expires_in_days: None,
        access_ends_at: None,
    }
}

/// One context a test: its randomness goes on, so that no two invites get one token.
async fn create(
    tx: &mut FakeTx,
    ctx: &Context,
    input: CreateInvites,
) -> Result<Vec<IssuedInvite>, WorkspaceError> {
    create_invites(tx, ctx, &peppers(), &as_admin(ctx), input, &LINK).await
}

fn token_of(issued: &IssuedInvite) -> &str {
    issued.link.expose_secret().strip_prefix("https://q.example/invite/").unwrap()
}

#[tokio::test]
async fn each_address_gets_one_invite_and_each_invite_is_audited() {
    let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
    let input = CreateInvites {
        expires_in_days: Some(3),
        access_ends_at: Some(at(9)),
        ..input(&["bek@example.com", "aru@example.com", "bek@example.com"])
    };
    let issued = create(&mut tx, &ctx, input).await.unwrap();
    assert_eq!(issued.len(), 2);
    for (issued, email) in issued.iter().zip(["bek@example.com", "aru@example.com"]) {
        let invite = &issued.invite;
        let expected = Invite {
            id: invite.id,
            workspace: acme(),
            email: email.to_owned(),
            role: InviteRole::Builder,
            invited_by: admin(),
            created_at: at(0),
            lifetime_days: 3,
            expires_at: at(3 * DAY),
            access_ends_at: Some(at(9)),
            state: InviteState::Pending,
        };
        assert_eq!(*invite, expected);
        let digests = token_digests(&peppers(), token_of(issued)).unwrap();
        assert_eq!(tx.find_invite_by_digest(&digests).await.unwrap(), Some(expected));
        let detail = json!({ "email": email, "role": "builder", "replaces": false, "by": "link" });
        assert!(tx.audited().contains(&("invite.create", invite.id.to_string(), detail)));
        assert!(!format!("{:?}", tx.work.audit).contains(token_of(issued)));
    }
    assert_eq!(tx.work.audited_actions(), ["invite.create"; 2]);
    assert!(tx.work.emails.is_empty(), "links that are shown are not mailed");
}

#[tokio::test]
async fn a_mailed_invite_carries_the_link_in_the_language_of_the_workspace() {
    let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
    tx.workspaces[0].locale = Locale::Kk;
    let delivery = InviteDelivery::Email {
        vault: &vault(),
        public_url: "https://q.example",
        inviter: "Aru",
        locale: None,
    };
    let input = input(&["bek@example.com"]);
    let issued = create_invites(&mut tx, &ctx, &peppers(), &as_admin(&ctx), input, &delivery).await.unwrap();
    let [email] = &tx.work.emails[..] else { panic!("{:?}", tx.work.emails) };
    assert_eq!((email.kind, email.created_at, email.expires_at), ("invite.create", at(0), at(7 * DAY)));
    let content = open_email(email);
    assert_eq!(content.to, "bek@example.com");
    assert!(content.html.contains("lang=\"kk\""), "{}", content.html);
    for part in ["Aru", "Acme", issued[0].link.expose_secret()] {
        assert!(content.text.contains(part), "{part}: {}", content.text);
    }
    assert_eq!(tx.audited()[0].2["by"], "email");
    assert!(!format!("{:?}", tx.work).contains(token_of(&issued[0])));
}

#[tokio::test]
async fn a_pending_invite_of_the_address_is_replaced() {
    let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
    let first = create(&mut tx, &ctx, input(&["bek@example.com"])).await.unwrap();
    let second = create(&mut tx, &ctx, input(&["bek@example.com", "aru@example.com"])).await.unwrap();
    assert_eq!(tx.invite_state(first[0].invite.id), InviteState::Revoked { at: at(0) });
    assert_eq!(tx.invite_state(second[0].invite.id), InviteState::Pending);
    let replaces: Vec<_> =
        tx.audited().into_iter().map(|(_, _, detail)| detail["replaces"].clone()).collect();
    assert_eq!(replaces, [false, true, false]);
}

#[tokio::test]
async fn nobody_is_invited_when_one_is_a_member() {
    let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
    let emails = ["bek@example.com", &address_of(viewer()), &address_of(builder())];
    let refused = create(&mut tx, &ctx, input(&emails)).await;
    let Err(WorkspaceError::AlreadyMembers(members)) = refused else { panic!("{refused:?}") };
    assert_eq!(members, [address_of(builder()), address_of(viewer())]);
    assert!(tx.invites.is_empty());
    tx.assert_nothing_recorded();

    tx.edit(viewer(), |membership| membership.access_ends_at = Some(at(0)));
    create(&mut tx, &ctx, input(&[&address_of(viewer())])).await.unwrap();
    assert_eq!(tx.work.audited_actions(), ["invite.create"]);
}

#[tokio::test]
async fn at_most_five_hundred_invites_are_pending_and_a_replaced_one_does_not_count() {
    let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
    for number in 1_000..1_499 {
        tx.add_invite(number, &format!("{number}@example.com"));
    }
    let refused = create(&mut tx, &ctx, input(&["bek@example.com", "aru@example.com"])).await;
    assert!(matches!(refused, Err(WorkspaceError::TooManyInvites)), "{refused:?}");
    tx.assert_nothing_recorded();

    create(&mut tx, &ctx, input(&["bek@example.com"])).await.unwrap();
    create(&mut tx, &ctx, input(&["1000@example.com"])).await.unwrap();
    let refused = create(&mut tx, &ctx, input(&["aru@example.com"])).await;
    assert!(matches!(refused, Err(WorkspaceError::TooManyInvites)), "{refused:?}");

    tx.edit_invite(id(1_001), |invite| invite.expires_at = at(0));
    create(&mut tx, &ctx, input(&["aru@example.com"])).await.unwrap();
}

#[tokio::test]
async fn a_field_out_of_bounds_is_refused_by_name() {
    let one = || input(&["bek@example.com"]);
    for (input, expected) in [
        (input(&[]), InvalidInput::EmailCount),
        (input(&["bek@example.com"; 21]), InvalidInput::EmailCount),
        (CreateInvites { expires_in_days: Some(0), ..one() }, InvalidInput::LinkLifetime),
        (CreateInvites { expires_in_days: Some(31), ..one() }, InvalidInput::LinkLifetime),
        (CreateInvites { access_ends_at: Some(at(0)), ..one() }, InvalidInput::AccessEnd),
    ] {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let refused = create(&mut tx, &ctx, input).await;
        assert!(
            matches!(refused, Err(WorkspaceError::InvalidInput(invalid)) if invalid == expected),
            "{refused:?}"
        );
        assert!(tx.invites.is_empty());
        tx.assert_nothing_recorded();
    }
}

#[tokio::test]
async fn an_admin_who_was_demoted_meanwhile_invites_nobody() {
    let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
    tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Builder));
    let refused = create(&mut tx, &ctx, input(&["bek@example.com"])).await;
    assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
    assert!(tx.invites.is_empty());
    tx.assert_nothing_recorded();
}
