//! `qala rows`: exports one backend project to a file, and imports one.

mod export_file;
mod progress;

use std::{
    fs::File,
    io::{BufReader, BufWriter, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use adapter_store::Store;
use anyhow::{Context as _, ensure};
use backend_data::{
    Access, Engine, FileFormat, ImportOptions, Limits, NewColumn, NewIndex, NewTable, Progress, ProjectRef,
    ReadOptions, System, Table,
};
use identity::IdentityTx as _;
use kernel::{
    Caller, Clock as _, Context, Id, SystemClock, SystemRandomness, UnitOfWork,
    id::{ProjectId, WorkspaceId},
};
use projects::{
    IdentityProvider, ProjectsRead as _, Settings, SigningKey,
    projects::{RestoreProject, restore_project},
};
use serde_json::{json, value::RawValue};

use self::{
    export_file::{ExportFile, ExportHeader, ProjectRecord},
    progress::RowProgress,
};
use crate::{
    cli::{RowsCommand, RowsTask},
    config, logging, serve,
};

/// Maximum number of rows per read.
const MAX_PAGE_ROWS: u64 = 1_000;

/// Runs one task of `qala rows`.
#[expect(clippy::print_stdout, reason = "output of the command")]
pub(crate) async fn rows(arguments: RowsCommand) -> anyhow::Result<ExitCode> {
    logging::init(None)?;
    let url = config::database_url(&arguments.database)?;
    config::check_database_exists(&arguments.database, &url)?;
    let store = Store::open_existing(&url).await.context("cannot open the database")?;
    let rows = serve::open_rows(&arguments.database, &arguments.rows).await?;
    // The operator knows how much the machine can hold.
    let limits = Limits { max_import: usize::MAX, ..Limits::default() };
    let engine = Engine::new(rows, Arc::new(System), Arc::new(System), limits);
    let done = match arguments.task {
        RowsTask::Export { project, file } => export(&store, &engine, project, &file).await?,
        RowsTask::Import { workspace, maker, file } => {
            let shard = arguments.rows.new_projects_shard;
            import(&store, &engine, (workspace, &maker, shard), &file).await?
        }
    };
    println!("{done}");
    Ok(ExitCode::SUCCESS)
}

fn context() -> Context {
    let random: Arc<dyn kernel::Randomness> = Arc::new(SystemRandomness);
    let now = SystemClock.now();
    let request = Id::generate(&*random, now);
    Context::new(Caller::System("rows"), now, request, None, random)
}

fn project_ref(project: ProjectId, shard: u16) -> anyhow::Result<ProjectRef> {
    Ok(ProjectRef::new(project.to_string().parse()?, shard))
}

async fn export(store: &Store, engine: &Engine, project: ProjectId, path: &Path) -> anyhow::Result<String> {
    let found = store.project_by_key(project).await?;
    let found = found.with_context(|| format!("there is no project {project}"))?;
    let location = project_ref(project, found.shard)?;
    let tables = engine.schema(&location, &Access::Owner).await?;
    let file = File::options().write(true).create_new(true).mode(0o600).open(path);
    let file = file.with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::new(file);
    let ctx = context();
    let (settings, left_out) = without_secrets(found.settings);
    let head = ExportHeader {
        format: export_file::FORMAT.to_owned(),
        version: export_file::required_version(&tables),
        made_at: ctx.now.to_string(),
        project: ProjectRecord { name: found.name, description: found.description, settings },
        tables,
    };
    writeln!(out, "{}", serde_json::to_string(&head)?)?;
    let mut total = 0;
    for table in &head.tables {
        writeln!(out, "{}", json!(["table", table.name]))?;
        total += export_rows(engine, &location, table, &mut out).await?;
    }
    writeln!(out, "{}", json!(["end", total]))?;
    // Success is reported only once the file is durable.
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    let mut tx = store.begin().await?;
    let detail = json!({ "tables": head.tables.len(), "rows": total });
    tx.audit(ctx.audit_entry("project.export").workspace(found.workspace).target(project).detail(detail));
    Box::new(tx).commit().await?;
    let (tables, path) = (head.tables.len(), path.display());
    let symmetric = if left_out {
        " Symmetric keys of its issuer are left out: set them again after the import."
    } else {
        ""
    };
    Ok(format!(
        "{project} exported to {path}: {tables} tables, {total} rows. Its keys are not included; anybody who can read the file can read the rows.{symmetric}"
    ))
}

/// Returns the settings without symmetric keys, and true if there were any.
fn without_secrets(settings: Settings) -> (Settings, bool) {
    let left_out = settings.identity.iter().flat_map(|provider| &provider.keys).any(SigningKey::is_symmetric);
    let identity = settings.identity.and_then(IdentityProvider::without_symmetric_keys);
    (Settings { identity, ..settings }, left_out)
}

async fn export_rows(
    engine: &Engine,
    location: &ProjectRef,
    table: &Table,
    out: &mut impl std::io::Write,
) -> anyhow::Result<u64> {
    let mut counter = RowProgress::new(&table.name, None);
    let (mut cursor, mut page, mut rows) = (String::new(), MAX_PAGE_ROWS, 0);
    loop {
        let query = format!("limit={page}&cursor={cursor}");
        let read = engine.list(location, &Access::Owner, &table.name, &query, &ReadOptions::default()).await;
        let found = match read {
            // Rows may be large: halve the page until it fits.
            Err(error) if error.code() == "too_large" && page > 1 => {
                page /= 2;
                continue;
            }
            found => found?,
        };
        let lines: Vec<&RawValue> = serde_json::from_slice(&found.body)?;
        for line in lines {
            writeln!(out, "{}", line.get())?;
        }
        rows += found.rows;
        counter.update(rows);
        match found.next_cursor {
            Some(next) => cursor = next,
            None => return Ok(rows),
        }
    }
}

async fn import(
    store: &Store,
    engine: &Engine,
    (workspace, maker, shard): (WorkspaceId, &identity::Email, u16),
    path: &Path,
) -> anyhow::Result<String> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let ExportFile { header: head, sections, rows } = ExportFile::read(&mut BufReader::new(file))
        .with_context(|| format!("{} is not a complete export of a project", path.display()))?;
    let maker = {
        let mut tx = store.begin().await?;
        let user = tx.find_user_by_email(maker).await?;
        user.with_context(|| format!("nobody with the address {maker} has signed in yet"))?.id
    };
    let member = workspace::WorkspaceRead::membership(store, workspace, maker).await?;
    ensure!(member.is_some(), "that person is not a member of {workspace}");
    let ctx = context();
    let id: ProjectId = ctx.new_id();
    let location = project_ref(id, shard)?;
    engine.create_project(&location).await?;
    // The record comes last: until then no request can name the project.
    let made = async {
        for (table, section) in head.tables.iter().zip(sections) {
            let rows = section.rows;
            let source = Arc::new(section.with_path(path.to_owned()));
            import_table(engine, &location, table, source, rows).await?;
        }
        let ProjectRecord { name, description, settings } = head.project.clone();
        // Earlier versions exported symmetric keys.
        let (settings, _) = without_secrets(settings);
        let mut tx = store.begin().await?;
        let record = RestoreProject { id, workspace, created_by: maker, name, description, shard, settings };
        restore_project(&mut tx, &ctx, record).await?;
        anyhow::Ok(Box::new(tx).commit().await?)
    };
    if let Err(error) = made.await {
        engine.drop_project(&location).await.context("cannot remove the incomplete project")?;
        return Err(error);
    }
    let tables = head.tables.len();
    Ok(format!("{id} imported: {tables} tables, {rows} rows. It has no keys yet."))
}

async fn import_table(
    engine: &Engine,
    location: &ProjectRef,
    table: &Table,
    source: Arc<export_file::Section>,
    rows: u64,
) -> anyhow::Result<()> {
    let own = table.columns.iter().filter(|column| !column.system);
    let columns = own.map(|column| NewColumn {
        name: column.name.clone(),
        kind: column.kind,
        nullable: column.nullable,
        default: column.default.clone(),
    });
    let new = NewTable { name: table.name.clone(), columns: columns.collect(), ..NewTable::default() };
    engine.create_table(location, &Access::Owner, new).await?;
    let counter = std::sync::Mutex::new(RowProgress::new(&table.name, Some(rows)));
    let progress: Arc<dyn Fn(Progress) + Send + Sync> = Arc::new(move |progress| {
        let mut counter = counter.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Progress::Written(rows) = progress {
            counter.update(rows);
        }
    });
    let options = ImportOptions {
        format: FileFormat::JsonLines,
        keep_created_at: true,
        progress: Some(progress),
        dry_run: false,
    };
    let written = engine.import(location, &Access::Owner, &table.name, source, &options).await;
    let written = written.with_context(|| format!("table {}", table.name))?.rows;
    ensure!(written == rows, "{written} rows of {} were imported instead of {rows}", table.name);
    for index in &table.indexes {
        let index = NewIndex { columns: index.columns.clone(), unique: index.unique };
        engine.add_index(location, &Access::Owner, &table.name, index).await?;
    }
    if !table.rules.is_empty() {
        engine.set_rules(location, &Access::Owner, &table.name, table.rules.clone()).await?;
    }
    if table.public_read {
        engine.set_public_read(location, &Access::Owner, &table.name, true).await?;
    }
    Ok(())
}
