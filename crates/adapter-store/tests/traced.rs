//! Spans that `span_macros::traced` gives an implementation, as a subscriber sees them. Not in the crate of the macro, whose
//! dev-dependencies would be compiled for this machine.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

use std::{
    io,
    sync::{Arc, Mutex},
};

use span_macros::traced;
use tracing_subscriber::fmt::{MakeWriter, format::FmtSpan};

type WorkspaceId = u32;

#[async_trait::async_trait]
trait Runs {
    async fn run(&self, secret: &str, workspace: WorkspaceId) -> Result<u8, String>;
    async fn wait(&self);
    async fn generic<T: Send + 'static>(&mut self, of: Option<WorkspaceId>, value: T) -> Result<T, String>
    where
        T: Clone;
    fn count(&self, workspace: WorkspaceId) -> u32;
}

struct Store;

#[traced]
#[async_trait::async_trait]
impl Runs for Store {
    /// Its comment stays with it.
    async fn run(&self, secret: &str, workspace: WorkspaceId) -> Result<u8, String> {
        if workspace == 0 { Err(format!("there are {} bytes", secret.len())) } else { Ok(1) }
    }

    async fn wait(&self) {}

    async fn generic<T: Send + 'static>(&mut self, _of: Option<WorkspaceId>, value: T) -> Result<T, String>
    where
        T: Clone,
    {
        Ok(value)
    }

    fn count(&self, workspace: WorkspaceId) -> u32 {
        workspace
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Lines {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

#[tokio::test]
async fn each_async_method_has_a_span_with_its_workspace_and_nothing_else() {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(lines.clone())
        .with_ansi(false)
        .without_time()
        .with_max_level(tracing::Level::DEBUG)
        .with_span_events(FmtSpan::NEW)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    assert_eq!(Store.run("hunter2", 7).await, Ok(1));
    let text = lines.take();
    assert!(text.contains("DEBUG Runs::run{workspace=7}") && !text.contains("hunter2"), "{text}");

    assert!(Store.run("hunter2", 0).await.is_err());
    let text = lines.take();
    assert!(text.contains("error=there are 7 bytes") && !text.contains("hunter2"), "{text}");

    Store.wait().await;
    assert!(lines.take().contains("Runs::wait: "));
    assert_eq!(Store.generic(Some(3), "value").await, Ok("value"));
    let text = lines.take();
    assert!(text.contains("Runs::generic: ") && !text.contains("value"), "{text}");
    assert_eq!((Store.count(5), lines.take()), (5, String::new()));
}
