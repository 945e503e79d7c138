//! The check of a token without HTTP: the cost of a request with a token before its handler starts.
//!
//! It calls the functions of `application` that lead from the text of a token to a membership, with a real store.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use adapter_store::{DatabaseUrl, Store};
use anyhow::{Context as _, Result};
use identity::{IdentityTx as _, User, tokens::Token};
use kernel::{
    Caller, Clock as _, Context, Id, SystemClock, SystemRandomness, UnitOfWork as _,
    authority::Role,
    caller::{Scope, Scopes},
    id::WorkspaceId,
    token::{Peppers, TokenHint, TokenKind, mint},
    vault::MasterKeys,
};
use secrecy::{ExposeSecret as _, SecretString};
use workspace::{
    Plan, Workspace, WorkspaceTx as _,
    workspaces::{Currency, Profile, TeamSize},
};

use super::{TableRow, load};

/// Number of checks that are timed.
const CHECK_COUNT: usize = 200_000;

/// Measures the median and the p99 of the check of a token that is in the cache.
pub(super) async fn token_check() -> Result<TableRow> {
    measure(CHECK_COUNT).await
}

async fn measure(checks: usize) -> Result<TableRow> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(&DatabaseUrl::Sqlite(folder.path().join("qala.db"))).await?;
    let peppers = Peppers::derive(&MasterKeys::new(vec![[7; 32]])?);
    let (workspace, secret) = create_token(&store, &peppers).await?;
    let clock = SystemClock;
    let mut durations = Vec::with_capacity(checks);
    for number in 0..=checks {
        let started_at = Instant::now();
        let now = clock.now();
        let token =
            application::authentication::personal_caller(&store, &peppers, secret.expose_secret(), now).await;
        let caller = Caller::Token(token.map_err(anyhow::Error::new)?);
        let member = application::authorization::membership_of(&store, &caller, workspace, now)
            .await
            .map_err(anyhow::Error::new)?;
        std::hint::black_box(member);
        // The first check reads the database.
        if number > 0 {
            durations.push(started_at.elapsed());
        }
    }
    let p99 = load::percentile(&mut durations, 99);
    let median: Duration = load::percentile(&mut durations, 50).context("no check was timed")?;
    let value = format!("{:.2} µs", median.as_secs_f64() * 1e6);
    Ok(TableRow { p99, ..TableRow::without_baseline("token check in process", value) })
}

/// Creates a person with a workspace and a token.
async fn create_token(store: &Store, peppers: &Peppers) -> Result<(WorkspaceId, SecretString)> {
    let random: Arc<dyn kernel::Randomness> = Arc::new(SystemRandomness);
    let now = SystemClock.now();
    let request = Id::generate(&*random, now);
    let ctx = Context::new(Caller::System("bench"), now, request, None, random);
    let email = "bench@example.test".parse().map_err(anyhow::Error::new)?;
    let user = User { id: ctx.new_id(), name: "Bench".to_owned(), email, created_at: now };
    let workspace = Workspace {
        id: ctx.new_id(),
        slug: "bench".to_owned(),
        name: "Bench".to_owned(),
        profile: Profile::Global,
        team_size: TeamSize::Solo,
        intents: Vec::new(),
        locale: kernel::Locale::default(),
        timezone: "UTC".to_owned(),
        currency: Currency::Eur,
        hourly_cost_minor: 0,
        plan: Plan::Sovereign,
        created_at: now,
    };
    let secret = mint(TokenKind::Personal, ctx.random());
    let token = Token {
        id: ctx.new_id(),
        workspace: workspace.id,
        user: user.id,
        name: "Bench".to_owned(),
        scopes: Scopes::of(Scope::Read),
        hint: TokenHint::of(TokenKind::Personal, &secret),
        created_at: now,
        last_used_at: None,
        expires_at: None,
        revoked_at: None,
    };
    let mut tx = store.begin().await?;
    tx.insert_user(&user).await?;
    tx.insert_workspace(&workspace).await?;
    tx.insert_member(workspace.id, user.id, Role::Owner, now).await?;
    tx.insert_token(&token, &peppers.digest(secret.expose_secret())).await?;
    tx.audit(ctx.audit_entry("workspace.create").workspace(workspace.id).target(workspace.id));
    Box::new(tx).commit().await?;
    Ok((workspace.id, secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_check_finds_the_membership() {
        let row = measure(100).await.unwrap();
        assert!(row.p99.is_some() && row.value.ends_with(" µs"), "{}", row.value);
    }
}
