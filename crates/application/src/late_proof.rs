//! Rights of a request whose body arrives late. They are proven before the body is read; the sender decides how long that takes.

use std::{
    fmt,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, LazyLock},
    time::Duration,
};

use tokio::time::timeout;

use crate::Problem;

/// Time for receiving a body, so that slow senders do not occupy the server.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Time in which a body arrives whose sender does not delay it. After that, the caller's rights are proven once more.
const PROMPT: Duration = Duration::from_millis(250);

type Proving<T> = Pin<Box<dyn Future<Output = Result<T, Problem>> + Send>>;

/// Proof of the rights of a request that can be made once more. What receives a body asks for one, so no body is awaited on
/// rights that nobody can prove again.
pub trait ProveAgain: Sync {
    /// Result of the proof.
    type Proven: Send;

    /// Makes the proof.
    ///
    /// # Errors
    /// Those of a request that arrives now.
    fn prove(&self) -> impl Future<Output = Result<Self::Proven, Problem>> + Send;
}

/// Waits for a body for at most 30 seconds. If it arrived late, the proof is made again and its result is returned beside the
/// body.
///
/// # Errors
/// [`ReceiveError::TimedOut`], or [`ReceiveError::Refused`] with the errors of [`ProveAgain::prove`].
pub async fn receive<P: ProveAgain, B: Future>(
    body: B,
    proof: &P,
) -> Result<(B::Output, Option<P::Proven>), ReceiveError> {
    let mut body = pin!(body);
    if let Ok(prompt) = timeout(PROMPT, &mut body).await {
        return Ok((prompt, None));
    }
    let late = timeout(BODY_TIMEOUT, body).await.map_err(|_| ReceiveError::TimedOut)?;
    let proven = proof.prove().await.map_err(ReceiveError::Refused)?;
    Ok((late, Some(proven)))
}

/// A [`ProveAgain`] that a request carries along.
pub struct LateProof<T = ()>(Arc<dyn Fn() -> Proving<T> + Send + Sync>);

impl<T> Clone for LateProof<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for LateProof<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateProof")
    }
}

/// Failure to receive a body in time and with the rights that its request had.
#[derive(Debug)]
pub enum ReceiveError {
    /// It did not arrive in time.
    TimedOut,
    /// It arrived late, and the caller's rights ended meanwhile.
    Refused(Problem),
}

impl From<ReceiveError> for Problem {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::TimedOut => Self::invalid("The body took too long to arrive."),
            ReceiveError::Refused(problem) => problem,
        }
    }
}

impl LateProof {
    /// Proof of a request that has no caller, or whose body proves it.
    #[must_use]
    pub fn of_nobody() -> Self {
        static OF_NOBODY: LazyLock<LateProof> = LazyLock::new(|| LateProof::new(async || Ok(())));
        OF_NOBODY.clone()
    }
}

impl<T> LateProof<T> {
    /// Keeps what makes the proof.
    pub fn new<F>(prove: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(prove())))
    }
}

impl<T: Send> ProveAgain for LateProof<T> {
    type Proven = T;

    async fn prove(&self) -> Result<T, Problem> {
        (self.0)().await
    }
}
