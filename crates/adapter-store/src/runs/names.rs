//! Names that runs are shown with: those of all runs of a list by one statement.

use std::collections::{BTreeSet, HashMap};

use ::runs::Run;
use kernel::{Id, StoreError, id::kind};
use sea_orm::{
    ColumnTrait, DeriveActiveEnum, EntityTrait, EnumIter, FromQueryResult, QueryFilter as _,
    QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, Func, SelectStatement, UnionType},
};
use uuid::Uuid;

use super::models::{self, RunNames};
use crate::{
    entity::{app_versions, apps, automations, column::DbId, oauth_grants, runs},
    query::{self, literal},
    sql::pad_to_power_of_two,
    store::Store,
};

/// Kind of the object that a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i32", db_type = "Integer")]
enum Named {
    App = 0,
    Automation = 1,
    Version = 2,
    Grant = 3,
}

/// A name of something that runs point at.
#[derive(FromQueryResult)]
struct NameRow {
    named: Named,
    id: Uuid,
    name: Option<String>,
    /// Number of a version.
    number: Option<i64>,
    /// Current version of an app.
    current: Option<Uuid>,
}

/// The columns of a [`NameRow`] that depend on what it is of.
struct NameColumns {
    name: Expr,
    number: Expr,
    current: Expr,
}

impl NameColumns {
    // With their types, without which PostgreSQL puts no selections together.
    fn new() -> Self {
        let null = |kind: &'static str| Expr::from(Func::cast_as(literal(None::<String>), kind));
        Self { name: null("text"), number: null("bigint"), current: null("uuid") }
    }
}

fn select_names<C>(named: Named, id: C, ids: BTreeSet<Uuid>, columns: NameColumns) -> SelectStatement
where
    C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
{
    C::EntityName::find()
        .filter(id.is_in(pad_to_power_of_two(ids.into_iter().collect())))
        .select_only()
        .expr_as(literal(named), "named")
        .column_as(id, "id")
        .expr_as(columns.name, "name")
        .expr_as(columns.number, "number")
        .expr_as(columns.current, "current")
        .into_query()
}

/// Selects the names of what these runs point at.
fn select_names_of(runs: &[runs::Model]) -> SelectStatement {
    let mut query = {
        use apps::Column;
        let columns = NameColumns {
            name: Column::Name.into_expr(),
            current: Column::CurrentVersionId.into_expr(),
            ..NameColumns::new()
        };
        select_names(Named::App, Column::Id, runs.iter().map(|run| uuid(run.app_id)).collect(), columns)
    };
    let automations: BTreeSet<Uuid> = runs.iter().filter_map(|run| run.automation_id.map(uuid)).collect();
    if !automations.is_empty() {
        use automations::Column;
        let columns = NameColumns { name: Column::Name.into_expr(), ..NameColumns::new() };
        query.union(UnionType::All, select_names(Named::Automation, Column::Id, automations, columns));
    }
    let versions: BTreeSet<Uuid> = runs.iter().filter_map(|run| run.version_id.map(uuid)).collect();
    if !versions.is_empty() {
        use app_versions::Column;
        let columns = NameColumns { number: Column::Number.into_expr(), ..NameColumns::new() };
        query.union(UnionType::All, select_names(Named::Version, Column::Id, versions, columns));
    }
    let grants: BTreeSet<Uuid> = runs.iter().filter_map(|run| run.asked_by_grant.map(uuid)).collect();
    if !grants.is_empty() {
        use oauth_grants::Column;
        let columns = NameColumns { name: Column::ClientName.into_expr(), ..NameColumns::new() };
        query.union(UnionType::All, select_names(Named::Grant, Column::Id, grants, columns));
    }
    query
}

fn uuid<K>(DbId(id): DbId<K>) -> Uuid {
    id.uuid()
}

impl Store {
    /// Adds to runs the names of what they point at.
    pub(super) async fn resolve_names(&self, models: Vec<runs::Model>) -> Result<Vec<Run>, StoreError> {
        if models.is_empty() {
            return Ok(Vec::new());
        }
        let found: Vec<NameRow> = query::fetch_all(&select_names_of(&models), self.read()).await?;
        let names: HashMap<(Named, Uuid), NameRow> =
            found.into_iter().map(|row| ((row.named, row.id), row)).collect();
        let find = |named, id: Uuid| names.get(&(named, id));
        let name = |named, id| find(named, id).and_then(|row| row.name.clone());
        let resolve = |model: runs::Model| {
            let app = find(Named::App, uuid(model.app_id));
            let current = app.and_then(|app| app.current);
            let version = model.version_id.and_then(|id| find(Named::Version, uuid(id)));
            let names = RunNames {
                app: app.and_then(|app| app.name.clone()).unwrap_or_default(),
                automation: model.automation_id.and_then(|id| name(Named::Automation, uuid(id))),
                version_number: version.and_then(|version| version.number),
                current_version: current.map(|id| DbId(Id::<kind::Version>::from_uuid(id))),
                client: model.asked_by_grant.and_then(|id| name(Named::Grant, uuid(id))),
            };
            models::run(model, names)
        };
        models.into_iter().map(resolve).collect()
    }
}
