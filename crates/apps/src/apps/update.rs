//! Renaming, describing and pausing an app.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
};

use super::{
    App,
    create::{validate_description, validate_name},
};
use crate::{AppError, AppsTx};

/// What to change; what is not said stays.
#[derive(Debug, Clone, Default)]
pub struct UpdateApp {
    /// A new name.
    pub name: Option<String>,
    /// A new description.
    pub description: Option<String>,
    /// Whether it is switched off.
    pub paused: Option<bool>,
}

/// Changes an app.
///
/// # Errors
/// When a field is out of bounds, the app is gone, or what the store says.
pub async fn update_app(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    input: UpdateApp,
) -> Result<App, AppError> {
    let workspace = right.member().workspace();
    let mut app = tx.app_for_update(workspace, right.app()).await?.ok_or(AppError::AppNotFound)?;
    if let Some(name) = &input.name {
        app.name = validate_name(name)?;
    }
    if let Some(description) = &input.description {
        app.description = validate_description(description)?;
    }
    let was_paused = app.is_paused;
    app.is_paused = input.paused.unwrap_or(was_paused);
    tx.update_app(&app).await?;
    let action = match (was_paused, app.is_paused) {
        (false, true) => "app.pause",
        (true, false) => "app.resume",
        _ => "app.update",
    };
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(app.id));
    Ok(app)
}
