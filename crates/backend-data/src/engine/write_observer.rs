//! Notice of rows that were written.

use std::sync::Arc;

use super::Engine;
use crate::ident::ProjectRef;

/// Hears of every write that changed rows, whoever wrote them.
pub trait WriteObserver: Send + Sync + 'static {
    /// Rows of a table were written, and the change is durable. It is called on the path of every write, before the
    /// writer gets its response, so it must return at once.
    fn rows_written(&self, project: &ProjectRef, table: &str);
}

impl Engine {
    /// Returns this engine with an observer of its writes, and of those of its clones.
    #[must_use]
    pub fn with_write_observer(&self, observer: Arc<dyn WriteObserver>) -> Self {
        Self { write_observer: Some(observer), ..self.clone() }
    }

    /// Tells the observer of a write that changed this many rows.
    pub(super) fn notify_written(&self, project: &ProjectRef, table: &str, rows: u64) {
        if let Some(observer) = self.write_observer.as_ref().filter(|_| rows > 0) {
            observer.rows_written(project, table);
        }
    }
}
