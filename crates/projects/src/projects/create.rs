//! Making a project.

use kernel::{
    Context,
    authority::{Member, Role},
    id::ProjectId,
};

use super::{Project, Settings, new_slug};
use crate::{ProjectError, ProjectsTx};

const MAX_PROJECTS: u64 = 2_000;

/// What a new project is to be.
#[derive(Debug, Clone)]
pub struct CreateProject {
    /// Its id: the row store makes its place for it before this record stands.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Which store its rows are in.
    pub shard: u16,
}

impl CreateProject {
    /// Checks the bounds of its fields; done before the row store makes a place.
    ///
    /// # Errors
    /// Naming the field that is off.
    pub fn check(&self, member: &Member) -> Result<(), ProjectError> {
        let invalid = |field, what| Err(ProjectError::InvalidField { field, what });
        if !member.role().at_least(Role::Member) {
            return invalid("workspace", "is one you only view");
        }
        if !(2..=60).contains(&self.name.trim().chars().count()) || self.name.chars().any(char::is_control) {
            return invalid("name", "must have 2 to 60 printable characters");
        }
        if self.description.as_ref().is_some_and(|text| text.chars().count() > 280) {
            return invalid("description", "may have at most 280 characters");
        }
        Ok(())
    }
}

/// Makes a project's record.
///
/// # Errors
/// When a field is out of bounds, there are too many, or what the store says.
pub async fn create_project(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    member: &Member,
    input: CreateProject,
) -> Result<Project, ProjectError> {
    input.check(member)?;
    if tx.count_projects(member.workspace()).await? >= MAX_PROJECTS {
        return Err(ProjectError::TooManyProjects);
    }
    let project = Project {
        id: input.id,
        workspace: member.workspace(),
        slug: new_slug(ctx, &input.name),
        name: input.name.trim().to_owned(),
        description: input.description.unwrap_or_default().trim().to_owned(),
        shard: input.shard,
        settings: Settings::default(),
        created_by: member.user(),
        created_at: ctx.now,
    };
    tx.insert_project(&project).await?;
    tx.audit(ctx.audit_entry("project.create").workspace(project.workspace).target(project.id));
    Ok(project)
}
