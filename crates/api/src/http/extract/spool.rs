//! Request bodies that are too large for memory, in temporary files.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use application::{Problem, ProblemKind, late_proof::ProveAgain as _};
use axum::{extract::Request, http::header};
use backend_data::ImportSource;
use futures::StreamExt as _;
use kernel::Randomness;
use tokio::io::AsyncWriteExt as _;

use super::payload::late_proof_of;

/// Time for receiving the next part of the body.
const PART_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for receiving the whole body.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// A request body in a file without a name, so that it disappears with the process.
pub(crate) struct Spool(Arc<File>);

impl ImportSource for Spool {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(SpoolReader { file: Arc::clone(&self.0), position: 0 }))
    }
}

/// Position of a reader in the file; each reader has its own.
struct SpoolReader {
    file: Arc<File>,
    position: u64,
}

impl Read for SpoolReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Spool {
    /// Receives a body of at most `limit` bytes into a file in `directory`. The caller's rights are proven once more when it is
    /// complete, however long that took.
    ///
    /// # Errors
    /// 413 `too_large` if it is longer; 400 `invalid_request` if it does not arrive in time or completely; those of the
    /// caller's rights; 500 `internal` if the file cannot be written.
    pub(crate) async fn receive(
        request: Request,
        limit: u64,
        directory: &Path,
        random: &dyn Randomness,
    ) -> Result<Self, Problem> {
        let too_large = || {
            let message = format!("The body may have at most {} MiB.", limit >> 20);
            Problem::new(ProblemKind::TooLarge, "too_large", message)
        };
        let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        if declared.and_then(|text| text.parse::<u64>().ok()).is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let late_proof = late_proof_of(&request)?;
        let file = create_unlinked_file(directory, random).map_err(Problem::internal)?;
        let mut out = tokio::fs::File::from_std(file.try_clone().map_err(Problem::internal)?);
        let mut parts = request.into_body().into_data_stream();
        let writing = async {
            let mut taken = 0;
            loop {
                let Ok(part) = tokio::time::timeout(PART_TIMEOUT, parts.next()).await else {
                    return Err(Problem::invalid("The body took too long to arrive."));
                };
                let Some(part) = part else { break };
                let part = part.map_err(|_| Problem::invalid("The body ended before it was complete."))?;
                taken += part.len() as u64;
                if taken > limit {
                    return Err(too_large());
                }
                out.write_all(&part).await.map_err(Problem::internal)?;
            }
            out.flush().await.map_err(Problem::internal)
        };
        match tokio::time::timeout(WHOLE_TIMEOUT, writing).await {
            Ok(written) => written?,
            Err(_) => return Err(Problem::invalid("The body took too long to arrive.")),
        }
        late_proof.prove().await?;
        Ok(Self(Arc::new(file)))
    }
}

fn create_unlinked_file(directory: &Path, random: &dyn Randomness) -> io::Result<File> {
    let name = random.string(b"abcdefghijklmnopqrstuvwxyz", 20);
    let path = directory.join(format!(".import-{name}"));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use application::late_proof::LateProof;
    use axum::body::Body;
    use kernel::SeededRandomness;

    use super::*;

    async fn receive(late_proof: Option<LateProof>) -> Result<String, Problem> {
        let parts = ["id,title\n", "tea,Tea\n"].map(Ok::<_, Infallible>);
        let mut request = Request::new(Body::from_stream(futures::stream::iter(parts)));
        if let Some(late_proof) = late_proof {
            request.extensions_mut().insert(late_proof);
        }
        let spool =
            Spool::receive(request, 1 << 10, &std::env::temp_dir(), &SeededRandomness::new(1)).await?;
        let mut text = String::new();
        spool.open().and_then(|mut file| file.read_to_string(&mut text)).map_err(Problem::internal)?;
        Ok(text)
    }

    #[tokio::test]
    async fn the_right_is_proven_once_more_when_the_file_is_complete() {
        assert_eq!(receive(Some(LateProof::new(async || Ok(())))).await.unwrap(), "id,title\ntea,Tea\n");
        let removed: LateProof = LateProof::new(async || Err(Problem::not_found("project")));
        assert_eq!(receive(Some(removed)).await.unwrap_err().code, "project_not_found");
        assert_eq!(receive(None).await.unwrap_err().kind, ProblemKind::Internal);
    }
}
