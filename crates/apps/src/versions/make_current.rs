//! Making a version current: the one place where the pointer of an app moves.

use super::AppVersion;
use crate::{App, AppError, AppsTx, Manifest};

/// Makes a version of the app current, whose row the transaction has locked. Whatever follows from the version of an app
/// follows here, whether the version is new or an earlier one.
///
/// # Errors
/// [`AppError::Store`] when the store fails.
pub(super) async fn make_current(
    tx: &mut dyn AppsTx,
    app: &mut App,
    version: &AppVersion,
    manifest: &Manifest,
) -> Result<(), AppError> {
    app.current_version = Some(version.id);
    app.archetype.clone_from(&manifest.archetype);
    app.category = manifest.category;
    tx.update_app(app).await?;
    Ok(())
}
