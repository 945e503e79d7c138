//! Making an app.

use kernel::{
    Context,
    authority::{Builder, Sharing},
    slug::{SLUG_SUFFIX_ALPHABET, slugify},
};

use super::{App, Category};
use crate::{AppError, AppsTx, manifest};

/// What a new app is to be.
#[derive(Debug, Clone)]
pub struct CreateApp {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The building it is drawn as; `workshop` when not said.
    pub archetype: Option<String>,
    /// What it is about; an interface when not said.
    pub category: Option<Category>,
    /// How far it is shared; only with its maker when not said.
    pub sharing: Sharing,
}

/// Makes an app without a version.
///
/// # Errors
/// When a field is out of bounds, or what the store says.
pub async fn create_app(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    builder: &Builder,
    input: CreateApp,
) -> Result<App, AppError> {
    let mut slug = slugify(&input.name, 32);
    if slug.is_empty() {
        slug.push_str("app");
    }
    let app = App {
        id: ctx.new_id(),
        workspace: builder.workspace(),
        slug: format!("{slug}-{}", ctx.random().string(SLUG_SUFFIX_ALPHABET, 6)),
        name: validate_name(&input.name)?,
        description: validate_description(input.description.as_deref().unwrap_or_default())?,
        archetype: validate_archetype(input.archetype.as_deref().unwrap_or("workshop"))?,
        category: input.category.unwrap_or(Category::Interface),
        sharing: input.sharing,
        is_paused: false,
        current_version: None,
        created_by: builder.user(),
        created_at: ctx.now,
    };
    tx.insert_app(&app).await?;
    tx.audit(ctx.audit_entry("app.create").workspace(app.workspace).target(app.id));
    Ok(app)
}

pub(super) fn validate_name(name: &str) -> Result<String, AppError> {
    manifest::check_text("name", name, 2, 60)?;
    Ok(name.trim().to_owned())
}

pub(super) fn validate_description(description: &str) -> Result<String, AppError> {
    manifest::check_text("description", description, 0, 280)?;
    Ok(description.trim().to_owned())
}

fn validate_archetype(archetype: &str) -> Result<String, AppError> {
    manifest::check_archetype("archetype", archetype)?;
    Ok(archetype.to_owned())
}
