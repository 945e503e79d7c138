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

/// Changes to an app; a field that is `None` stays as it is.
#[derive(Debug, Clone, Default)]
pub struct UpdateApp {
    /// New display name; 2 to 60 characters after trimming.
    pub name: Option<String>,
    /// New purpose; at most 280 characters after trimming.
    pub description: Option<String>,
    /// `true` pauses the app, `false` resumes it.
    pub paused: Option<bool>,
}

/// Renames, describes, pauses or resumes an app.
///
/// # Errors
/// * [`AppError::AppNotFound`] when the app was deleted
/// * [`AppError::InvalidInput`] when a field is out of bounds
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakeTx, assert_audited, builder_context, can_edit, draft};
    use crate::{InvalidInput, InvalidText};

    #[tokio::test]
    async fn an_editor_renames_and_describes_an_app() {
        let (ctx, before) = (builder_context(), draft(7));
        let mut tx = FakeTx::with_app(&before);
        let input = UpdateApp {
            name: Some(" Daily orders ".to_owned()),
            description: Some(String::new()),
            paused: None,
        };
        let after = update_app(&mut tx, &ctx, &can_edit(&ctx, &before), input).await.unwrap();
        let expected = App { name: "Daily orders".to_owned(), description: String::new(), ..before };
        assert_eq!(after, expected);
        assert_eq!(tx.apps, [expected]);
        assert_audited(&tx.work, "app.update", after.id, None);
    }

    #[tokio::test]
    async fn pausing_and_resuming_have_their_own_audit_actions() {
        let (ctx, app) = (builder_context(), draft(7));
        let right = can_edit(&ctx, &app);
        let mut tx = FakeTx::with_app(&app);
        for paused in [true, true, false, false] {
            let input = UpdateApp { paused: Some(paused), ..UpdateApp::default() };
            let changed = update_app(&mut tx, &ctx, &right, input).await.unwrap();
            assert_eq!((changed.is_paused, tx.apps[0].is_paused), (paused, paused));
        }
        assert_eq!(tx.work.audited_actions(), ["app.pause", "app.update", "app.resume", "app.update"]);
    }

    #[tokio::test]
    async fn fields_that_are_not_given_stay() {
        let (ctx, before) = (builder_context(), App { is_paused: true, ..draft(7) });
        let mut tx = FakeTx::with_app(&before);
        update_app(&mut tx, &ctx, &can_edit(&ctx, &before), UpdateApp::default()).await.unwrap();
        assert_eq!(tx.apps, [before]);
    }

    #[tokio::test]
    async fn fields_out_of_bounds_are_refused() {
        let (ctx, before) = (builder_context(), draft(7));
        let right = can_edit(&ctx, &before);
        let mut tx = FakeTx::with_app(&before);
        let named = |name: &str| UpdateApp { name: Some(name.to_owned()), ..UpdateApp::default() };
        let described = |text: &str| UpdateApp { description: Some(text.to_owned()), ..UpdateApp::default() };
        for (input, expected) in [
            (named("x"), InvalidInput::Name(InvalidText::Length { min: 2, max: 60 })),
            (
                described(&"x".repeat(281)),
                InvalidInput::Description(InvalidText::Length { min: 0, max: 280 }),
            ),
        ] {
            let refused = update_app(&mut tx, &ctx, &right, input).await;
            assert!(
                matches!(&refused, Err(AppError::InvalidInput(invalid)) if *invalid == expected),
                "{refused:?}"
            );
        }
        assert_eq!(tx.apps, [before]);
        assert!(tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn an_app_deleted_meanwhile_is_not_found() {
        let (ctx, mut tx) = (builder_context(), FakeTx::default());
        let refused = update_app(&mut tx, &ctx, &can_edit(&ctx, &draft(7)), UpdateApp::default()).await;
        assert!(matches!(refused, Err(AppError::AppNotFound)), "{refused:?}");
        assert!(tx.work.audit.is_empty());
    }
}
