//! Tasks of whoever runs the machine, done on the database itself.

use std::{process::ExitCode, sync::Arc};

use adapter_store::Store;
use anyhow::Context as _;
use identity::{IdentityTx as _, oauth::OAuthTx as _, passkeys::take_passkeys_off};
use kernel::{Caller, Clock as _, Context, Id, SystemClock, SystemRandomness, UnitOfWork};
use workspace::workspaces::{make_owner, set_plan};

use crate::{
    cli::{AdminArguments, AdminTask, DatabaseArguments},
    config, logging,
};

async fn open(arguments: &DatabaseArguments) -> anyhow::Result<Store> {
    logging::start(None);
    let url = config::database_url(arguments)?;
    if let adapter_store::DatabaseUrl::Sqlite(_) = &url {
        config::make_data_dir(&arguments.data_dir)?;
    }
    Store::open(&url).await.context("the database cannot be opened")
}

/// Brings the schema up to date.
#[expect(clippy::print_stdout, reason = "a person reads what was done")]
pub(crate) async fn migrate(arguments: DatabaseArguments) -> anyhow::Result<ExitCode> {
    open(&arguments).await?.check().await?;
    println!("The database's schema is up to date.");
    Ok(ExitCode::SUCCESS)
}

/// Does one task, with its row in the audit log.
#[expect(clippy::print_stdout, reason = "a person reads what was done")]
pub(crate) async fn admin(arguments: AdminArguments) -> anyhow::Result<ExitCode> {
    let store = open(&arguments.database).await?;
    let random: Arc<dyn kernel::Randomness> = Arc::new(SystemRandomness);
    let now = SystemClock.now();
    let request = Id::generate(&*random, now);
    let ctx = Context::new(Caller::System("admin"), now, request, None, random);
    let mut tx = store.begin().await?;
    let done = match arguments.task {
        AdminTask::MakeOwner { workspace, email } => {
            let found = tx.user_by_email(&email).await?;
            let user = found.with_context(|| format!("nobody with the address {email} has signed in yet"))?;
            let exists = workspace::WorkspaceRead::workspace(&store, workspace).await?.is_some();
            anyhow::ensure!(exists, "there is no workspace {workspace}");
            // Whoever is no member holds nothing there: what they held in an earlier time must not come back.
            if !tx.has_access(workspace, user.id, now).await? {
                api::end_access(&mut tx, &ctx, workspace, user.id).await?;
            }
            make_owner(&mut tx, &ctx, workspace, user.id).await?;
            format!("{email} is an owner of {workspace}.")
        }
        AdminTask::TakePasskeysOff { email } => {
            let found = tx.user_by_email(&email).await?;
            let user = found.with_context(|| format!("nobody with the address {email} has signed in yet"))?;
            let off = take_passkeys_off(&mut tx, &ctx, user.id).await?;
            format!("{email} has no passkey: {} taken off, {} sessions ended.", off.passkeys, off.sessions)
        }
        AdminTask::SetPlan { workspace, plan } => {
            set_plan(&mut tx, &ctx, workspace, plan).await?;
            format!("{workspace} is on the plan {}.", plan.as_str())
        }
    };
    Box::new(tx).commit().await?;
    println!("{done}");
    Ok(ExitCode::SUCCESS)
}
