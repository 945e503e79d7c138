//! Rights of a request whose body arrives late. They are proven before the body is read; the sender decides how long that takes.

use std::{future::Future, pin::Pin, sync::Arc};

use application::Problem;

type Proving = Pin<Box<dyn Future<Output = Result<(), Problem>> + Send>>;

/// Makes the proof of a request once more. An extension of the request.
#[derive(Clone)]
pub(crate) struct LateProof(Arc<dyn Fn() -> Proving + Send + Sync>);

impl LateProof {
    /// Keeps what makes the proof.
    pub(crate) fn new<F>(prove: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Problem>> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(prove())))
    }

    /// Makes the proof.
    ///
    /// # Errors
    /// Those of a request that arrives now.
    pub(super) async fn prove(&self) -> Result<(), Problem> {
        (self.0)().await
    }
}
