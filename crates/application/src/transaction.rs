//! Running use cases in a transaction.
//!
//! [`Application::transaction`] is the only way to begin one, so none is left without its commit:
//!
//! ```ignore
//! let gate = app.transaction(unit!(|tx| set_gate_status(tx, &ctx, &admin, id, status).await)).await?;
//! ```

use std::{
    future::Future,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    pin::Pin,
    time::Duration,
};

use apps::AppError;
use connections::{connections::ConnectionError, gates::GateError};
use identity::{IdentityError, oauth::ConsentError};
use kernel::StoreError;
use projects::ProjectError;
use runs::RunsError;
use workspace::WorkspaceError;

use crate::{Application, Problem, Tx};

/// Maximum number of attempts at a transaction. Deadlocks and serialization failures are rare, and rarer with each
/// attempt.
const MAX_ATTEMPTS: u32 = 4;
/// Unit of the pause between attempts: after attempt `n`, it is a random time below `BACKOFF * 2^n`.
const BACKOFF: Duration = Duration::from_millis(8);

/// Transaction of a unit of work.
///
/// `'t` is the lifetime of the attempt; `'c` that of what the closure borrows, which outlives every attempt.
pub struct Unit<'t, 'c> {
    tx: &'t mut (dyn Tx + 'static),
    scope: PhantomData<&'t &'c ()>,
}

impl Deref for Unit<'_, '_> {
    type Target = dyn Tx;

    fn deref(&self) -> &Self::Target {
        self.tx
    }
}

impl DerefMut for Unit<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.tx
    }
}

/// Future of one attempt.
pub type Attempt<'t, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 't>>;

/// Writes a unit of work for [`Application::transaction`]: `unit!(|tx| expression)`, where `tx` is `&mut dyn Tx` and
/// the expression may `.await` and `return`. It borrows the variables that it names, and may run several times.
#[macro_export]
macro_rules! unit {
    (|$tx:ident| $work:expr) => {
        |unit: $crate::transaction::Unit<'_, '_>| {
            ::std::boxed::Box::pin(async {
                let mut unit = unit;
                let $tx: &mut dyn $crate::Tx = &mut *unit;
                $work
            })
        }
    };
}

/// Error of a use case, which may come from the store.
pub trait UseCaseError: From<StoreError> {
    /// Returns the store's error, if it is one.
    fn store_error(&self) -> Option<&StoreError>;
}

macro_rules! use_case_errors {
    ($($error:ty),+ $(,)?) => {$(
        impl UseCaseError for $error {
            fn store_error(&self) -> Option<&StoreError> {
                match self {
                    Self::Store(error) => Some(error),
                    _ => None,
                }
            }
        }
    )+};
}

use_case_errors!(
    AppError,
    ConnectionError,
    ConsentError,
    GateError,
    IdentityError,
    ProjectError,
    RunsError,
    WorkspaceError,
);

impl UseCaseError for StoreError {
    fn store_error(&self) -> Option<&StoreError> {
        Some(self)
    }
}

impl UseCaseError for Problem {
    fn store_error(&self) -> Option<&StoreError> {
        std::error::Error::source(self)?.downcast_ref()
    }
}

/// Returns the longest pause before the attempt after this one; `None` if the error is final.
fn longest_pause(error: &impl UseCaseError, attempt: u32) -> Option<Duration> {
    let is_retryable = error.store_error().is_some_and(StoreError::is_retryable);
    (is_retryable && attempt < MAX_ATTEMPTS).then(|| BACKOFF * 2_u32.pow(attempt))
}

impl Application {
    /// Runs a unit of work in a transaction: commits on `Ok`, rolls back on `Err`. On a deadlock or a serialization
    /// failure, the unit runs again from its start, at most four times in all, so it must not do anything that a
    /// rollback does not undo.
    ///
    /// # Errors
    /// The unit's error; the store's if the transaction cannot begin or commit.
    pub async fn transaction<'c, T, E, F>(&self, mut work: F) -> Result<T, E>
    where
        T: Send,
        E: UseCaseError + Send,
        F: for<'t> FnMut(Unit<'t, 'c>) -> Attempt<'t, T, E> + Send,
    {
        let mut attempt = 1;
        loop {
            let error = match self.transaction_once(&mut work).await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let Some(longest) = longest_pause(&error, attempt) else { return Err(error) };
            tracing::debug!(attempt, "the database rolled the transaction back; trying again");
            // The random pause keeps two transactions that collided from colliding again.
            let longest = u32::try_from(longest.as_micros()).unwrap_or(u32::MAX);
            tokio::time::sleep(Duration::from_micros(self.random().below(longest).into())).await;
            attempt += 1;
        }
    }

    /// As [`Self::transaction`], for a unit that also changes another store, which a rollback does not undo: it runs once.
    ///
    /// # Errors
    /// As [`Self::transaction`], and [`StoreError::Contended`] when the database asks for another attempt.
    pub async fn transaction_once<'c, T, E, F>(&self, mut work: F) -> Result<T, E>
    where
        T: Send,
        E: UseCaseError + Send,
        F: for<'t> FnMut(Unit<'t, 'c>) -> Attempt<'t, T, E> + Send,
    {
        let mut tx = self.store().begin().await?;
        let done = work(Unit { tx: &mut *tx, scope: PhantomData }).await?;
        tx.commit().await?;
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_database_asks_to_repeat_is_repeated_three_times_with_longer_pauses() {
        let pauses = |error: &dyn Fn() -> WorkspaceError| {
            (1..=MAX_ATTEMPTS).map(|attempt| longest_pause(&error(), attempt)).collect::<Vec<_>>()
        };
        let millis = |pause| Some(Duration::from_millis(pause));
        let contended = || StoreError::Contended("a deadlock".into()).into();
        assert_eq!(pauses(&contended), [millis(16), millis(32), millis(64), None]);
        let unavailable = || StoreError::Unavailable("away".into()).into();
        assert_eq!(pauses(&unavailable), [None; 4]);
        assert_eq!(pauses(&|| WorkspaceError::MemberNotFound), [None; 4]);
    }

    #[test]
    fn a_problem_with_a_cause_in_the_store_is_retried_like_the_cause() {
        let problem = Problem::from(StoreError::Contended("a deadlock".into()));
        assert!(longest_pause(&problem, 1).is_some());
        assert_eq!(longest_pause(&Problem::not_found("app"), 1), None);
    }
}
