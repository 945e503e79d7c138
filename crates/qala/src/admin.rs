//! Tasks of the operator, which work on the database itself.

use std::{path::Path, process::ExitCode, sync::Arc};

use adapter_store::{MasterKeyUsage, RekeyReport, Store, StoreTx};
use anyhow::Context as _;
use identity::{IdentityTx as _, oauth::OAuthTx as _, passkeys::reset_passkeys};
use kernel::{
    Caller, Clock as _, Context, Id, SystemClock, SystemRandomness, UnitOfWork, token::RetiredPepper,
    vault::Vault,
};
use secrecy::SecretString;
use workspace::workspaces::{make_owner, set_plan};

use crate::{
    cli::{AdminArguments, AdminTask, DatabaseArguments},
    config, logging, master_key,
};

/// Opens an existing database; a task creates none and changes no schema.
async fn open_store(arguments: &DatabaseArguments) -> anyhow::Result<Store> {
    logging::init(None)?;
    let url = config::database_url(arguments)?;
    config::check_database_exists(arguments, &url)?;
    Store::open_existing(&url).await.context("cannot open the database")
}

/// Runs `qala migrate`.
#[expect(clippy::print_stdout, reason = "output of the command")]
pub(crate) async fn migrate(arguments: DatabaseArguments) -> anyhow::Result<ExitCode> {
    logging::init(None)?;
    let url = config::database_url(&arguments)?;
    if let adapter_store::DatabaseUrl::Sqlite(_) = &url {
        config::create_data_dir(&arguments.data_dir)?;
    }
    let store = Store::open(&url).await.context("cannot open the database")?;
    store.check().await?;
    println!("The database schema is up to date.");
    Ok(ExitCode::SUCCESS)
}

/// Runs one task of `qala admin`.
#[expect(clippy::print_stdout, reason = "output of the command")]
pub(crate) async fn admin(arguments: AdminArguments) -> anyhow::Result<ExitCode> {
    let store = open_store(&arguments.database).await?;
    let done = match arguments.task {
        AdminTask::MakeOwner { workspace, email } => {
            run_audited(&store, async |tx, ctx| {
                let found = tx.find_user_by_email(&email).await?;
                let user =
                    found.with_context(|| format!("nobody with the address {email} has signed in yet"))?;
                let exists = workspace::WorkspaceRead::workspace(&store, workspace).await?.is_some();
                anyhow::ensure!(exists, "there is no workspace {workspace}");
                // Access from an earlier membership must not come back.
                if !tx.has_access(workspace, user.id, ctx.now).await? {
                    application::membership::revoke_access(tx, ctx, workspace, user.id).await?;
                }
                make_owner(tx, ctx, workspace, user.id).await?;
                Ok(format!("{email} is now an owner of {workspace}."))
            })
            .await?
        }
        AdminTask::TakePasskeysOff { email } => {
            run_audited(&store, async |tx, ctx| {
                let found = tx.find_user_by_email(&email).await?;
                let user =
                    found.with_context(|| format!("nobody with the address {email} has signed in yet"))?;
                let off = reset_passkeys(tx, ctx, user.id).await?;
                Ok(format!(
                    "Removed {} passkeys of {email} and ended {} sessions.",
                    off.passkeys, off.sessions
                ))
            })
            .await?
        }
        AdminTask::SetPlan { workspace, plan } => {
            run_audited(&store, async |tx, ctx| {
                set_plan(tx, ctx, workspace, plan).await?;
                Ok(format!("{workspace} is now on the plan {}.", plan.as_str()))
            })
            .await?
        }
        AdminTask::Resume => {
            store.set_paused(false).await?;
            "Runs, schedules and e-mail start again within a second.".to_owned()
        }
        AdminTask::Rekey(mut keys) => {
            keys.read_files()?;
            rekey(&store, keys.master_key.as_ref(), &arguments.database.data_dir).await?
        }
    };
    println!("{done}");
    Ok(ExitCode::SUCCESS)
}

/// Runs a task in one transaction, which also writes its audit entry.
async fn run_audited(
    store: &Store,
    task: impl AsyncFnOnce(&mut StoreTx, &Context) -> anyhow::Result<String>,
) -> anyhow::Result<String> {
    let random: Arc<dyn kernel::Randomness> = Arc::new(SystemRandomness);
    let now = SystemClock.now();
    let request = Id::generate(&*random, now);
    let ctx = Context::new(Caller::System("admin"), now, request, None, random);
    let mut tx = store.begin().await?;
    let done = task(&mut tx, &ctx).await?;
    Box::new(tx).commit().await?;
    Ok(done)
}

/// Seals every secret under the newest master key; returns a report of what depends on each key.
async fn rekey(store: &Store, given: Option<&SecretString>, data_dir: &Path) -> anyhow::Result<String> {
    let keys = master_key::load_existing(given, data_dir)?;
    let (vault, random) = (Vault::new(&keys), SystemRandomness);
    store.check_or_init_key(&vault, &random).await.context("--master-key")?;
    let retired: Vec<RetiredPepper> = RetiredPepper::from_master_keys(&keys).collect();
    let RekeyReport { sealed, unreadable } = store.rekey(&vault, &random, &retired).await?;
    let mut done = format!("Sealed {sealed} secrets under the newest key.\n");
    if unreadable > 0 {
        done +=
            &format!("{unreadable} secrets cannot be opened with these keys; they are left as they are.\n");
    }
    let ids: Vec<String> =
        keys.derive_keys("rekey").map(|(id, _)| format!("{:08x}", u32::from_be_bytes(id))).collect();
    for (id, MasterKeyUsage { sealed, digests }) in store.master_key_usage().await? {
        let usage = match ids.iter().position(|known| *known == id) {
            Some(0) => "the newest key",
            Some(_) if sealed == 0 => "can be removed: its digests are verified without it",
            Some(_) => "still needed",
            None if sealed == 0 => "removed: its digests are verified without it",
            None => "still needed, but not given",
        };
        done += &format!("key {id}: {sealed} sealed secrets, {digests} digests; {usage}\n");
    }
    Ok(done.trim_end().to_owned())
}
