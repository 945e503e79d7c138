//! Creating a project.

use kernel::{
    Context,
    authority::{Member, Role},
    id::ProjectId,
};

use super::{MAX_PROJECTS, Project, Settings, new_slug};
use crate::{InvalidInput, ProjectError, ProjectsTx};

/// Fields of a new project.
#[derive(Debug, Clone)]
pub struct CreateProject {
    /// Id of the project. The caller chooses it, since the row store prepares the project's tables before this record
    /// exists.
    pub id: ProjectId,
    /// Display name; 2 to 60 printable characters after trimming.
    pub name: String,
    /// Purpose; at most 280 characters. Empty by default.
    pub description: Option<String>,
    /// Number of the shard that holds its rows.
    pub shard: u16,
}

impl CreateProject {
    /// Checks the bounds of the fields and the member's role. The caller does so before the row store prepares the
    /// project.
    ///
    /// # Errors
    /// [`InvalidInput`] when a field is out of bounds, or the member is a viewer.
    pub fn check(&self, member: &Member) -> Result<(), InvalidInput> {
        if !member.role().at_least(Role::Member) {
            return Err(InvalidInput::CreatorRole);
        }
        if !(2..=60).contains(&self.name.trim().chars().count()) || !kernel::text::is_visible_line(&self.name)
        {
            return Err(InvalidInput::ProjectName);
        }
        if self.description.as_ref().is_some_and(|text| text.chars().count() > 280) {
            return Err(InvalidInput::Description);
        }
        Ok(())
    }
}

/// Creates the record of a project.
///
/// # Errors
/// * [`ProjectError::InvalidInput`] as in [`CreateProject::check`]
/// * [`ProjectError::TooManyProjects`] when the workspace has 2,000 projects
/// * [`ProjectError::Store`] with [`StoreError::Duplicate`](kernel::StoreError::Duplicate) when another project took
///   the same random slug, and when the store fails
#[tracing::instrument(level = "debug", skip_all)]
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

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{id, member},
    };

    use super::*;
    use crate::testing::{FakeTx, assert_audited, context_at, creator_id, project, workspace};

    fn named(name: &str) -> CreateProject {
        CreateProject { id: id(7), name: name.to_owned(), description: None, shard: 4 }
    }

    fn creator(ctx: &Context) -> Member {
        member(ctx, workspace(), Role::Member)
    }

    #[tokio::test]
    async fn a_member_creates_a_project_of_their_own() {
        let (ctx, mut tx) = (context_at(1_000), FakeTx::default());
        let input = CreateProject { description: Some(" Sells things. ".to_owned()), ..named(" My Shop ") };
        let created = create_project(&mut tx, &ctx, &creator(&ctx), input).await.unwrap();

        let suffix = created.slug.strip_prefix("my-shop-").unwrap();
        assert_eq!(suffix.len(), 6, "{}", created.slug);
        let expected = Project {
            id: id(7),
            workspace: workspace(),
            name: "My Shop".to_owned(),
            slug: created.slug.clone(),
            description: "Sells things.".to_owned(),
            shard: 4,
            settings: Settings::default(),
            created_by: creator_id(),
            created_at: ctx.now,
        };
        assert_eq!(created, expected);
        assert_eq!(tx.projects, [expected]);
        assert_audited(&tx.work, "project.create", created.id, None);
        assert!(tx.work.emails.is_empty() && tx.work.events.is_empty());
    }

    #[tokio::test]
    async fn a_name_without_ascii_letters_gets_a_general_slug() {
        let (ctx, mut tx) = (context_at(0), FakeTx::default());
        let created = create_project(&mut tx, &ctx, &creator(&ctx), named("Дүкен")).await.unwrap();
        assert!(created.slug.starts_with("project-"), "{}", created.slug);
        assert_eq!((created.name.as_str(), created.description.as_str()), ("Дүкен", ""));
    }

    #[tokio::test]
    async fn a_viewer_creates_no_project() {
        let (ctx, mut tx) = (context_at(0), FakeTx::default());
        let viewer = member(&ctx, workspace(), Role::Viewer);
        let refused = create_project(&mut tx, &ctx, &viewer, named("Shop")).await;
        assert!(matches!(refused, Err(ProjectError::InvalidInput(InvalidInput::CreatorRole))), "{refused:?}");
        assert!(tx.projects.is_empty() && tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn fields_out_of_bounds_are_refused() {
        let (ctx, mut tx) = (context_at(0), FakeTx::default());
        let described = CreateProject { description: Some("x".repeat(281)), ..named("Shop") };
        for (input, expected) in [
            (named(" x "), InvalidInput::ProjectName),
            (named(&"x".repeat(61)), InvalidInput::ProjectName),
            (named("Sh\top"), InvalidInput::ProjectName),
            (described, InvalidInput::Description),
        ] {
            let refused = create_project(&mut tx, &ctx, &creator(&ctx), input).await;
            assert!(
                matches!(refused, Err(ProjectError::InvalidInput(ref invalid)) if *invalid == expected),
                "{expected:?}: {refused:?}"
            );
        }
        assert!(tx.projects.is_empty() && tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_workspace_holds_at_most_two_thousand_projects() {
        let (ctx, mut tx) = (context_at(0), FakeTx::default());
        tx.projects = (100..2_099).map(project).collect();
        tx.projects.push(Project { workspace: id(99), ..project(2_100) });
        create_project(&mut tx, &ctx, &creator(&ctx), named("The last")).await.unwrap();
        let refused = create_project(&mut tx, &ctx, &creator(&ctx), named("Too many")).await;
        assert!(matches!(refused, Err(ProjectError::TooManyProjects)), "{refused:?}");
        assert_eq!((tx.projects.len(), tx.work.audit.len()), (2_001, 1));
    }

    #[tokio::test]
    async fn a_taken_slug_is_a_conflict() {
        let mut tx = FakeTx::default();
        // Both contexts draw the same random suffix.
        let (first, second) = (context_at(0), context_at(0));
        create_project(&mut tx, &first, &creator(&first), named("Shop")).await.unwrap();
        let refused = create_project(&mut tx, &second, &creator(&second), named("Shop")).await;
        assert!(matches!(refused, Err(ProjectError::Store(StoreError::Duplicate))), "{refused:?}");
        assert_eq!((tx.projects.len(), tx.work.audit.len()), (1, 1));
    }
}
