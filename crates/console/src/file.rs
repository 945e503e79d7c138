//! The embedded files.

// `MISSING` and `FILES`.
include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The script that runs before the first paint.
    Head,
    /// The style sheet of every page.
    Style,
    /// The module that starts the console.
    Entry,
    /// A module that the entry imports at once, so that browsers can load both at the same time.
    Initial,
    /// Loaded when a page needs it.
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
    /// The script that sets the theme and preloads what the page needs. It is no module, so that it runs before the first
    /// paint.
    pub head: String,
    /// The style sheet.
    pub style: String,
    /// The module that starts the console.
    pub script: String,
    /// Modules that it imports at once.
    pub preloads: Vec<String>,
}

/// Returns what a document loads, or `None` if the console was not built.
#[must_use]
pub fn entry() -> Option<Entry> {
    let mut head = paths(Role::Head);
    let (mut style, mut script) = (paths(Role::Style), paths(Role::Entry));
    Some(Entry {
        head: head.next()?,
        style: style.next()?,
        script: script.next()?,
        preloads: paths(Role::Initial).collect(),
    })
}

fn paths(role: Role) -> impl Iterator<Item = String> {
    FILES.iter().filter(move |file| file.role == role).map(|file| format!("/console/{}", file.path))
}

pub(crate) fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}
