//! The embedded files.

use crate::FILES;

/// Part of the document that a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The script that a document loads.
    Script,
    /// A style sheet that a document loads.
    Style,
    /// A module that the script imports at once, so that browsers can load both at the same time.
    Preload,
    /// Loaded by the script when it is needed.
    Lazy,
}

#[derive(Debug)]
pub(crate) struct File {
    pub(crate) role: Role,
    /// Path below `/console/`, with a hash of the content.
    pub(crate) path: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) identity: &'static [u8],
    pub(crate) gzip: Option<&'static [u8]>,
    pub(crate) brotli: Option<&'static [u8]>,
}

/// Paths that a document of the console loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The module to run.
    pub script: String,
    /// Style sheets, in order.
    pub styles: Vec<String>,
    /// Modules that the script imports at once.
    pub preloads: Vec<String>,
}

/// Returns what a document loads, or `None` if the console was not built.
#[must_use]
pub fn entry() -> Option<Entry> {
    let paths = |role| {
        FILES.iter().filter(move |file| file.role == role).map(|file| format!("/console/{}", file.path))
    };
    let script = paths(Role::Script).next()?;
    Some(Entry { script, styles: paths(Role::Style).collect(), preloads: paths(Role::Preload).collect() })
}

pub(crate) fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}
