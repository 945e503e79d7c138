//! Inputs that use cases refuse.

/// An input whose value a use case refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The name of an app.
    #[error("the name {0}")]
    Name(InvalidText),
    /// The description of an app.
    #[error("the description {0}")]
    Description(InvalidText),
    /// The building that the console draws for an app does not have 2 to 32 lower-case letters.
    #[error("the archetype is out of bounds")]
    Archetype,
    /// The summary of a version.
    #[error("the summary {0}")]
    Summary(InvalidText),
    /// The instruction of a change.
    #[error("the instruction {0}")]
    Instruction(InvalidText),
    /// A field of the manifest.
    #[error(transparent)]
    Manifest(#[from] InvalidManifest),
    /// The files have neither [`ENTRY_FILE`](crate::versions::ENTRY_FILE) nor
    /// [`TYPESCRIPT_ENTRY_FILE`](crate::versions::TYPESCRIPT_ENTRY_FILE).
    #[error("the entry file is missing")]
    NoEntryFile,
    /// The files have both of them.
    #[error("there are two entry files")]
    TwoEntryFiles,
    /// There are more than so many files.
    #[error("there are more than {max} files")]
    FileCount {
        /// The limit.
        max: usize,
    },
    /// The files are larger than so many KiB in total.
    #[error("the files have more than {max_kib} KiB")]
    FilesSize {
        /// The limit.
        max_kib: usize,
    },
    /// The path of a file, which this is, is not a plain relative one.
    #[error("{0:?} is not the path of a file")]
    FilePath(String),
    /// An app is shared with a person twice.
    #[error("a person is named twice")]
    RepeatedGrant,
    /// An app is shared with more than so many people.
    #[error("there are more than {max} people")]
    GrantCount {
        /// The limit.
        max: usize,
    },
    /// An app is shared with a person who gets no right.
    #[error("a person is named without a right")]
    EmptyGrant,
}

/// A text that is out of bounds; the rest of a sentence that begins with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    /// It is too short or too long, in characters after trimming.
    #[error("must have {min} to {max} characters")]
    Length {
        /// The lower limit.
        min: usize,
        /// The upper limit.
        max: usize,
    },
    /// It has control characters other than the line feeds of a text, or invisible ones.
    #[error("must not contain control or invisible characters")]
    ControlCharacters,
}

/// A manifest that does not parse, or has a field that is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` of the manifest {what}")]
pub struct InvalidManifest {
    /// Path of the field in the document, such as `permissions.egress[0].host`; empty for the document itself.
    pub path: String,
    /// Rest of a sentence that begins with the field: the bounds, or what is wrong.
    pub what: String,
}

impl InvalidManifest {
    pub(crate) fn new(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into() }
    }
}
