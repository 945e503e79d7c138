//! Issuing a token to a person who has been authorised.

use chrono::TimeDelta;
use kernel::{
    Actor, Context,
    caller::Scopes,
    id::{UserId, WorkspaceId},
    token::{self, Peppers, TokenHint, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{MAX_TOKENS, Token};
use crate::{IdentityError, IdentityTx, InvalidInput};

/// Request for a token.
#[derive(Debug, Clone)]
pub struct CreateToken {
    /// Name, 1 to 60 printable characters; surrounding white space is removed.
    pub name: String,
    /// Scopes of the token.
    pub scopes: Scopes,
    /// Lifetime in days, 1 to 365; none for a token that does not expire.
    pub expires_in_days: Option<u16>,
}

/// A new token and its value.
#[derive(Debug)]
pub struct CreatedToken {
    /// The token as stored.
    pub token: Token,
    /// Value of the token, shown once; only its digest is stored.
    pub secret: SecretString,
}

/// Issues a token to a person; the caller has checked that they are a member and may have the scopes.
///
/// # Errors
/// [`IdentityError::InvalidInput`] if a field is out of bounds; [`IdentityError::TooManyTokens`] at the limit;
/// [`IdentityError::Store`] if the store fails.
pub(crate) async fn issue_token(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    (workspace, user): (WorkspaceId, UserId),
    input: CreateToken,
) -> Result<CreatedToken, IdentityError> {
    let name = input.name.trim().to_owned();
    if !(1..=60).contains(&name.chars().count()) || !kernel::text::is_visible_line(&name) {
        return Err(InvalidInput::TokenName.into());
    }
    if tx.count_tokens(workspace, user, ctx.now).await? >= MAX_TOKENS {
        return Err(IdentityError::TooManyTokens);
    }
    if input.expires_in_days.is_some_and(|days| !(1..=365).contains(&days)) {
        return Err(InvalidInput::TokenLifetime.into());
    }

    let secret = token::mint(TokenKind::Personal, ctx.random());
    let token = Token {
        id: ctx.new_id(),
        workspace,
        user,
        name,
        scopes: input.scopes,
        hint: TokenHint::of(TokenKind::Personal, &secret),
        created_at: ctx.now,
        last_used_at: None,
        expires_at: input.expires_in_days.map(|days| ctx.now + TimeDelta::days(days.into())),
        revoked_at: None,
    };
    tx.insert_token(&token, &peppers.digest(secret.expose_secret())).await?;
    let entry =
        ctx.audit_entry("token.create").workspace(token.workspace).target(token.id).detail(
            serde_json::json!({ "hint": token.hint.to_string(), "scopes": token.scopes.to_string() }),
        );
    // The request may come from a command line whose login the person approved.
    tx.audit(entry.actor(Actor::Person(user)));
    Ok(CreatedToken { token, secret })
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeStore, aru, bek, peppers, visitor, workspace};

    fn input(name: &str, expires_in_days: Option<u16>) -> CreateToken {
        CreateToken { name: name.to_owned(), scopes: "read write".parse().unwrap(), expires_in_days }
    }

    async fn issue(store: &mut FakeStore, input: CreateToken) -> Result<CreatedToken, IdentityError> {
        issue_token(store, &visitor(), &peppers(), (workspace(), aru().id), input).await
    }

    #[tokio::test]
    async fn a_token_is_stored_under_the_digest_of_its_secret() {
        let mut store = FakeStore::default();
        let CreatedToken { token, secret } = issue(&mut store, input(" ci ", Some(365))).await.unwrap();
        let secret = secret.expose_secret();

        assert_eq!(kernel::token::detect_kind(secret), Some(TokenKind::Personal));
        assert_eq!(store.tokens, [(token.clone(), peppers().digest(secret))]);
        assert_eq!((token.name.as_str(), token.expires_at), ("ci", Some(at(0) + TimeDelta::days(365))));
        assert!(secret.starts_with(&token.hint.prefix) && secret.ends_with(&token.hint.last4));
        // The request came from a command line, which is nobody; the person is who acts.
        store.assert_audited(&[("token.create", &aru().id, &token.id)]);
        let entry = &store.work.audit[0];
        assert_eq!(entry.workspace, Some(workspace()));
        let detail = json!({ "hint": token.hint.to_string(), "scopes": "read write" });
        assert_eq!(entry.detail, Some(detail));
        store.assert_not_audited(&[secret]);
    }

    #[tokio::test]
    async fn a_token_lasts_for_ever_unless_days_are_given() {
        let created = issue(&mut FakeStore::default(), input("ci", None)).await.unwrap();
        assert_eq!(created.token.expires_at, None);
    }

    #[tokio::test]
    async fn fields_out_of_bounds_are_refused() {
        let (long, longest) = ("n".repeat(61), "n".repeat(60));
        for (name, days, expected) in [
            ("", None, Some(InvalidInput::TokenName)),
            (" \t", None, Some(InvalidInput::TokenName)),
            ("a\nb", None, Some(InvalidInput::TokenName)),
            (&long, None, Some(InvalidInput::TokenName)),
            (&longest, Some(1), None),
            ("ci", Some(0), Some(InvalidInput::TokenLifetime)),
            ("ci", Some(366), Some(InvalidInput::TokenLifetime)),
        ] {
            let mut store = FakeStore::default();
            let refused = match issue(&mut store, input(name, days)).await {
                Ok(_) => None,
                Err(IdentityError::InvalidInput(invalid)) => Some(invalid),
                Err(error) => panic!("{error}"),
            };
            assert_eq!(refused, expected, "{name:?} {days:?}");
            let written = usize::from(expected.is_none());
            assert_eq!((store.tokens.len(), store.work.audit.len()), (written, written));
        }
    }

    #[tokio::test]
    async fn a_person_has_at_most_a_hundred_active_tokens_in_a_workspace() {
        let mut store = FakeStore::default();
        for _ in 0..3 {
            issue(&mut store, input("ci", None)).await.unwrap();
        }
        let (template, digest) = store.tokens[0].clone();
        // None of these counts: expired, revoked, another workspace's, another person's.
        store.tokens[0].0.expires_at = Some(at(0));
        store.tokens[1].0.revoked_at = Some(at(0));
        store.tokens[2].0.workspace = id(101);
        store.tokens.push((Token { user: bek().id, ..template.clone() }, digest));
        store.tokens.extend((0..99).map(|_| (template.clone(), digest)));
        issue(&mut store, input("the hundredth", None)).await.unwrap();
        let (tokens, audited) = (store.tokens.len(), store.work.audit.len());

        let refused = issue(&mut store, input("one more", None)).await;
        assert!(matches!(refused, Err(IdentityError::TooManyTokens)));
        assert_eq!((store.tokens.len(), store.work.audit.len()), (tokens, audited));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let failed = issue(&mut FakeStore::unavailable(), input("ci", None)).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
