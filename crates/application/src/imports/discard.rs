//! Discarding an import with its app.

use imports::imports::{Import, discard_import};
use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::ImportId,
};

use crate::{Application, Problem, unit};

impl Application {
    /// Discards an import that was never turned on, and deletes its app.
    ///
    /// # Errors
    /// [`Problem`] if there is no such import, it was turned on or discarded before, or the store fails.
    pub async fn discard_import(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        id: ImportId,
    ) -> Result<Import, Problem> {
        self.transaction(unit!(|tx| {
            let import = discard_import(tx, ctx, right, id).await?;
            apps::apps::delete_app(tx, ctx, right).await?;
            Ok::<_, Problem>(import)
        }))
        .await
    }
}
