//! Search over the objects of a workspace: by name, or by an id.
//!
//! Every kind is read through the port that lists it, so that a search finds what its list shows and nothing else. Names are
//! compared here and not in the database: SQLite folds the case of ASCII letters only.

use std::{cmp::Reverse, str::FromStr};

use backend_data::Access;
use kernel::{
    Context, Id,
    authority::{AppAccess, Member},
    caller::Scope,
    id::{AppId, AutomationId, ChangeId, DeadLetterId, ImportId, Kind, ProjectId, RunId, UserId},
    page::{MAX_LIMIT, Page, PageRequest},
};
use projects::{Project, ProjectFact, authorize_project};
use serde::{Deserialize, Serialize};
use workspace::members::MemberPosition;

use crate::{Application, Problem, ProblemKind, rows_problem};

/// Results of a search; at most.
pub const MAX_RESULTS: usize = 20;

/// Characters of a query; at most.
pub const MAX_QUERY_CHARS: usize = 100;

/// Objects of one kind that are compared, the newest; at most.
const MAX_COMPARED: u32 = 10_000;

/// Projects whose tables are compared, the newest; at most.
const MAX_PROJECTS: usize = 50;

/// Kinds of objects that a search finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundKind {
    /// An app.
    App,
    /// An automation.
    Automation,
    /// A table of a backend project.
    Table,
    /// A backend project.
    Project,
    /// A connection.
    Connection,
    /// A gate.
    Gate,
    /// A tool of agents.
    AgentTool,
    /// A member.
    Member,
    /// A run, by its id.
    Run,
    /// A dead letter, by its id.
    DeadLetter,
    /// A planned change, by its id.
    Change,
    /// An import, by its id.
    Import,
}

kernel::names! {
    FoundKind {
        App = "app",
        Automation = "automation",
        Table = "table",
        Project = "project",
        Connection = "connection",
        Gate = "gate",
        AgentTool = "agent_tool",
        Member = "member",
        Run = "run",
        DeadLetter = "dead_letter",
        Change = "change",
        Import = "import",
    }
}

/// An object that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its kind.
    pub kind: FoundKind,
    /// Its id; the name of a table.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its app, host or address, which tells it from others of the same name.
    pub detail: Option<String>,
    /// The app that it is or belongs to.
    pub app: Option<AppId>,
    /// The project that it is or belongs to.
    pub project: Option<ProjectId>,
}

impl Found {
    #[expect(clippy::needless_pass_by_value, reason = "ids are copied")]
    fn new(kind: FoundKind, id: impl ToString, name: impl Into<String>) -> Self {
        Self { kind, id: id.to_string(), name: name.into(), detail: None, app: None, project: None }
    }

    fn of_app(self, app: AppId) -> Self {
        Self { app: Some(app), ..self }
    }

    fn of_project(self, project: ProjectId) -> Self {
        Self { project: Some(project), ..self }
    }

    fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}

/// Text that names are compared with.
struct Query {
    folded: String,
}

/// The quality of a match; better ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// The text stands somewhere in the name.
    Inside,
    /// A word of the name begins with the text.
    Word,
    /// The name begins with the text.
    Beginning,
    /// The name is the text.
    Whole,
}

impl Query {
    fn new(text: &str) -> Self {
        Self { folded: fold(text) }
    }

    fn compare(&self, name: &str) -> Option<Match> {
        let name = fold(name);
        let at = name.find(&self.folded)?;
        if name == self.folded {
            return Some(Match::Whole);
        }
        if at == 0 {
            return Some(Match::Beginning);
        }
        let begins_word = |(at, _): (usize, &str)| {
            name[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric())
        };
        Some(if name.match_indices(&self.folded).any(begins_word) { Match::Word } else { Match::Inside })
    }
}

/// Folds a text for comparison: lower case, and white space once.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The best of what was found.
struct Results {
    query: Query,
    found: Vec<(Match, Found)>,
}

impl Results {
    /// Adds an object if one of the texts matches.
    fn add(&mut self, texts: &[&str], found: impl FnOnce() -> Found) {
        if let Some(best) = texts.iter().filter_map(|text| self.query.compare(text)).max() {
            self.found.push((best, found()));
        }
    }

    /// Returns the best results, of each quality the kinds in their order and the newest first.
    fn into_best(mut self) -> Vec<Found> {
        self.found.sort_by_key(|(quality, found)| (Reverse(*quality), found.kind));
        self.found.into_iter().map(|(_, found)| found).take(MAX_RESULTS).collect()
    }
}

/// Makes an object that may not be seen one that was not found.
fn visible<T>(result: Result<T, Problem>) -> Result<Option<T>, Problem> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(problem) if problem.kind == ProblemKind::NotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn parse<K: Kind>(text: &str) -> Option<Id<K>> {
    Id::from_str(text).ok()
}

impl Application {
    /// Searches the workspace for what the member can view. The text of an id finds its object alone.
    ///
    /// # Errors
    /// 400 `invalid_request` for a text that is empty or too long; a [`Problem`] if a store fails.
    pub async fn search(&self, ctx: &Context, member: &Member, text: &str) -> Result<Vec<Found>, Problem> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_QUERY_CHARS {
            return Err(Problem::invalid_field("q", format!("must have 1 to {MAX_QUERY_CHARS} characters")));
        }
        if let Some(found) = self.find_by_id(ctx, member, text).await? {
            return Ok(vec![found]);
        }
        let mut results = Results { query: Query::new(text), found: Vec::new() };
        let (workspace, visible) = (member.workspace(), member.visibility());
        for (app, name) in self.store().app_names(workspace, visible, MAX_COMPARED).await? {
            results.add(&[&name], || Found::new(FoundKind::App, app, name.as_str()).of_app(app));
        }
        for automation in self.store().automation_names(workspace, visible, MAX_COMPARED).await? {
            results.add(&[&automation.name], || {
                Found::new(FoundKind::Automation, automation.id, automation.name.as_str())
                    .of_app(automation.app)
            });
        }
        self.search_connections(ctx, member, &mut results).await?;
        for listed in self.store().agent_tools(workspace, member.user(), visible, ctx.now).await? {
            let shown =
                !ctx.caller.is_token() || (ctx.caller.allows(Scope::Write) && listed.is_callable_by(member));
            let (tool, name) = (&listed.tool, listed.tool.name.as_str());
            if shown {
                results.add(&[&tool.title, name], || {
                    Found::new(FoundKind::AgentTool, tool.id, tool.title.as_str())
                        .detail(name)
                        .of_app(tool.app)
                });
            }
        }
        // Their lists are for the console alone.
        if !ctx.caller.is_token() {
            self.search_projects(member, &mut results).await?;
            self.search_gates(ctx, member, &mut results).await?;
            self.search_members(ctx, member, &mut results).await?;
        }
        Ok(results.into_best())
    }

    async fn search_connections(
        &self,
        ctx: &Context,
        member: &Member,
        results: &mut Results,
    ) -> Result<(), Problem> {
        let page = PageRequest::first(MAX_LIMIT);
        for view in self.store().list_connections(member.workspace(), ctx.now, page).await? {
            let connection = view.connection;
            let host = connection.http.host.as_str().to_owned();
            results.add(&[&connection.display_name, &host], || {
                Found::new(FoundKind::Connection, connection.id, connection.display_name.as_str())
                    .detail(host.as_str())
            });
        }
        Ok(())
    }

    async fn search_gates(
        &self,
        ctx: &Context,
        member: &Member,
        results: &mut Results,
    ) -> Result<(), Problem> {
        let mut page = PageRequest::first(MAX_LIMIT);
        for _ in 0..MAX_COMPARED / MAX_LIMIT {
            let gates = connections::gates::list_gates(self.store(), ctx, member, page).await?;
            let read = Page::from_limit_plus_one(gates, page.limit, |view| view.gate.id);
            page.after = read.items.last().map(|view| view.gate.id.uuid());
            // A connection is its own gate, and was found as one.
            for gate in read.items.into_iter().map(|view| view.gate).filter(|gate| gate.connection.is_none())
            {
                let host = gate.host.as_str().to_owned();
                results.add(&[&gate.name, &host], || {
                    Found::new(FoundKind::Gate, gate.id, gate.name.as_str()).detail(host.as_str())
                });
            }
            if read.next_cursor.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn search_projects(&self, member: &Member, results: &mut Results) -> Result<(), Problem> {
        let projects = self.store().projects(member.workspace()).await?;
        let can_view = |project: &Project| {
            let fact = ProjectFact {
                project: project.id,
                workspace: project.workspace,
                created_by: project.created_by,
            };
            authorize_project(member.clone(), Some(&fact)).is_ok()
        };
        let projects = projects.into_iter().map(|summary| summary.project).filter(can_view);
        for (index, project) in projects.enumerate() {
            results.add(&[&project.name, &project.slug], || {
                Found::new(FoundKind::Project, project.id, project.name.as_str()).of_project(project.id)
            });
            if index >= MAX_PROJECTS {
                continue;
            }
            let project_ref = self.project_ref(&project).await?;
            let tables = self.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
            for table in tables {
                results.add(&[&table.name], || {
                    Found::new(FoundKind::Table, &table.name, table.name.as_str())
                        .detail(project.name.as_str())
                        .of_project(project.id)
                });
            }
        }
        Ok(())
    }

    async fn search_members(
        &self,
        ctx: &Context,
        member: &Member,
        results: &mut Results,
    ) -> Result<(), Problem> {
        let mut page: PageRequest<MemberPosition> = PageRequest::first(MAX_LIMIT);
        for _ in 0..MAX_COMPARED / MAX_LIMIT {
            let found = self.store().members(member.workspace(), ctx.now, page).await?;
            let has_more = found.len() > page.limit as usize;
            let listed = found.get(..page.limit as usize).unwrap_or(&found);
            let ids: Vec<UserId> = listed.iter().map(|member| member.user).collect();
            for user in self.store().users(&ids).await? {
                let email = user.email.to_string();
                results.add(&[&user.name, &email], || {
                    Found::new(FoundKind::Member, user.id, user.name.as_str()).detail(email.as_str())
                });
            }
            match listed.last() {
                Some(last) if has_more => page.after = Some(MemberPosition::from(last)),
                _ => break,
            }
        }
        Ok(())
    }

    /// Returns the object of this workspace that a text is the id of, if the member can view it.
    async fn find_by_id(&self, ctx: &Context, member: &Member, text: &str) -> Result<Option<Found>, Problem> {
        let workspace = member.workspace();
        let is_console = !ctx.caller.is_token();
        let app_name = async |app: AppId| -> Result<String, Problem> {
            Ok(self.store().app(workspace, app).await?.map(|app| app.name).unwrap_or_default())
        };
        // A dead letter and a change have the name of their app.
        let in_app = async |kind, found: Option<(String, AppAccess)>| -> Result<Option<Found>, Problem> {
            let found = found.filter(|(_, access)| access.member().workspace() == workspace);
            let Some((id, access)) = found else { return Ok(None) };
            Ok(Some(Found::new(kind, id, app_name(access.app()).await?).of_app(access.app())))
        };
        if let Some(id) = parse::<kernel::id::kind::App>(text) {
            let access = visible(self.app(ctx, text).await)?;
            let access = access.filter(|access| access.member().workspace() == workspace);
            let Some(_) = access else { return Ok(None) };
            return Ok(Some(Found::new(FoundKind::App, id, app_name(id).await?).of_app(id)));
        }
        if AutomationId::from_str(text).is_ok() {
            let Some((id, access)) = visible(self.automation(ctx, text).await)? else { return Ok(None) };
            let found = self.store().automation(workspace, id).await?;
            return Ok(found.map(|automation| {
                Found::new(FoundKind::Automation, id, automation.name).of_app(access.app())
            }));
        }
        if RunId::from_str(text).is_ok() {
            let Some((id, access)) = visible(self.run(ctx, text).await)? else { return Ok(None) };
            let found = self.store().run(workspace, id).await?;
            return Ok(found.map(|run| {
                let name = run.automation_name.unwrap_or(run.app_name);
                Found::new(FoundKind::Run, id, name).detail(run.state.status().as_str()).of_app(access.app())
            }));
        }
        if DeadLetterId::from_str(text).is_ok() {
            let found = visible(self.dead_letter(ctx, text).await)?;
            return in_app(FoundKind::DeadLetter, found.map(|(id, access)| (id.to_string(), access))).await;
        }
        if ChangeId::from_str(text).is_ok() {
            let found = visible(self.change(ctx, text).await)?;
            return in_app(FoundKind::Change, found.map(|(id, access)| (id.to_string(), access))).await;
        }
        if ImportId::from_str(text).is_ok() {
            let Some((import, owner)) = visible(self.import(ctx, text).await)? else { return Ok(None) };
            if owner.workspace() != workspace {
                return Ok(None);
            }
            let found = Found::new(FoundKind::Import, import.id, import.name);
            return Ok(Some(Found { app: import.app, ..found }));
        }
        if let Some(id) = parse::<kernel::id::kind::Connection>(text) {
            let found = self.store().find_connection(workspace, id).await?;
            return Ok(found.map(|connection| {
                let host = connection.http.host.as_str().to_owned();
                Found::new(FoundKind::Connection, id, connection.display_name).detail(host)
            }));
        }
        if !is_console {
            return Ok(None);
        }
        if let Some(id) = parse::<kernel::id::kind::Gate>(text) {
            let found = connections::gates::view_gate(self.store(), ctx, member, id).await?;
            return Ok(found.map(|view| {
                let host = view.gate.host.as_str().to_owned();
                Found::new(FoundKind::Gate, id, view.gate.name).detail(host)
            }));
        }
        if let Some(id) = parse::<kernel::id::kind::Project>(text) {
            let access = visible(self.project(ctx, text).await)?;
            if access.is_none() {
                return Ok(None);
            }
            let found = self.store().project(workspace, id).await?;
            return Ok(
                found.map(|summary| Found::new(FoundKind::Project, id, summary.project.name).of_project(id))
            );
        }
        if let Some(id) = parse::<kernel::id::kind::User>(text) {
            if self.store().membership(workspace, id).await?.is_none() {
                return Ok(None);
            }
            let user = self.store().users(&[id]).await?.pop();
            return Ok(user.map(|user| {
                let email = user.email.to_string();
                Found::new(FoundKind::Member, id, user.name).detail(email)
            }));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_matches_come_first() {
        let query = Query::new("  Заказ ");
        assert_eq!(query.compare("заказ"), Some(Match::Whole));
        assert_eq!(query.compare("ЗАКАЗЫ"), Some(Match::Beginning));
        assert_eq!(query.compare("Новый заказ"), Some(Match::Word));
        assert_eq!(query.compare("Перезаказ"), Some(Match::Inside));
        assert_eq!(query.compare("Перезаказ (заказ)"), Some(Match::Word));
        assert_eq!(query.compare("Order"), None);
    }

    #[test]
    fn results_are_bounded_and_ordered_by_quality_then_kind() {
        let mut results = Results { query: Query::new("pay"), found: Vec::new() };
        for number in 0..30 {
            results.add(&["repay"], || Found::new(FoundKind::App, number, "repay"));
        }
        results.add(&["pay"], || Found::new(FoundKind::Member, "m", "pay"));
        results.add(&["Payments", "x"], || Found::new(FoundKind::Table, "t", "Payments"));
        results.add(&["none"], || unreachable!("it does not match"));
        let best = results.into_best();
        assert_eq!(best.len(), MAX_RESULTS);
        assert_eq!(
            (best[0].kind, best[1].kind, best[2].kind),
            (FoundKind::Member, FoundKind::Table, FoundKind::App)
        );
    }
}
