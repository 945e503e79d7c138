//! Bytecode on disk, which outlives the process.
//!
//! A file has the workspace and the digest of the code as its path. It begins with [`FORMAT`] and the build of the program that
//! compiled the code; a nonce and the ciphertext follow (XChaCha20-Poly1305). All before the ciphertext, the workspace and the
//! digest are bound to it as associated data: what was changed, moved or sealed with another key does not open.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as NAMES};
use bytes::Bytes;
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use kernel::{Clock as _, Id, Randomness as _, SystemClock, SystemRandomness};
use secrecy::ExposeSecret as _;
use uuid::Uuid;

use super::{
    Bytecode, BytecodeKey,
    bounded_lru::{BoundedLru, ByteLimits},
};
use crate::{config::BytecodeDirectory, program_build::ProgramBuild, protocol::MAX_FRAME};

/// First bytes of a file.
const FORMAT: &[u8; 16] = b"qala bytecode 1\n";
const NONCE_LENGTH: usize = 24;
/// Bytes before the ciphertext.
const HEADER_LENGTH: usize = FORMAT.len() + ProgramBuild::LENGTH + NONCE_LENGTH;

/// Bytes of all files.
const LIMITS: ByteLimits = ByteLimits { workspace: 64 << 20, total: 512 << 20 };

/// Bytes that a file counts for at least, so that the number of files is bounded too.
const MIN_FILE_BYTES: usize = 8 << 10;

/// Time after which a file that was not used is deleted, so that the code of a deleted workspace goes too.
const MAX_UNUSED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The files of one directory. Its methods block.
pub(super) struct Directory {
    path: PathBuf,
    cipher: XChaCha20Poly1305,
    limits: ByteLimits,
    /// The files, once they were listed.
    index: Mutex<Option<BoundedLru<()>>>,
}

/// Reasons why the content of a file is not used.
#[derive(Debug, PartialEq, Eq)]
enum Unusable {
    /// Another build compiled it.
    OtherBuild,
    /// It was changed, or sealed with another key or for other code.
    Forged,
}

impl Directory {
    pub(super) fn new(config: &BytecodeDirectory) -> Self {
        let cipher = XChaCha20Poly1305::new(config.key.expose_secret().into());
        Self { path: config.path.clone(), cipher, limits: LIMITS, index: Mutex::default() }
    }

    /// Returns the bytecode of a bundle, if this build compiled it.
    pub(super) fn read(&self, key: BytecodeKey, build: ProgramBuild) -> Option<Bytes> {
        let path = self.file(&key);
        let content = match read_bounded(&path) {
            Ok(content) => content,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(%error, path = %path.display(), "cannot read bytecode; the app is compiled again");
                }
                return None;
            }
        };
        match self.unseal(&key, build, &content) {
            Ok(modules) => {
                // The time of the last use decides what gives way, also after a restart.
                let touched = fs::File::open(&path).and_then(|file| file.set_modified(now()));
                if let Err(error) = touched {
                    tracing::debug!(%error, path = %path.display(), "cannot set the time of the last use");
                }
                // Nobody waits until all files are listed.
                if let Ok(mut index) = self.index.try_lock()
                    && let Some(index) = index.as_mut()
                {
                    index.get(&key);
                }
                Some(modules)
            }
            Err(Unusable::OtherBuild) => {
                tracing::info!(path = %path.display(), "another build compiled this bytecode; the app is compiled again");
                None
            }
            Err(Unusable::Forged) => {
                tracing::warn!(
                    path = %path.display(),
                    "bytecode was changed or sealed with another key; the app is compiled again"
                );
                None
            }
        }
    }

    /// Stores the bytecode of a bundle, and deletes what exceeds the limits.
    pub(super) fn write(&self, key: BytecodeKey, bytecode: &Bytecode) {
        let Some(content) = self.seal(&key, bytecode) else { return };
        let path = self.file(&key);
        // One file at a time, since the first call deletes files that were never completed.
        self.with_index(|index| match replace_file(&path, &content) {
            Ok(()) => {
                let evicted = index.insert(key, content.len().max(MIN_FILE_BYTES), ());
                evicted.iter().for_each(|evicted| delete(&self.file(evicted)));
            }
            Err(error) => tracing::warn!(
                %error,
                path = %path.display(),
                "cannot store bytecode; the app is compiled again after a restart"
            ),
        });
    }

    /// Deletes files that were not used for long, exceed the limits, or were never completed.
    pub(super) fn sweep(&self) {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        *index = Some(self.list(now()));
    }

    fn seal(&self, key: &BytecodeKey, bytecode: &Bytecode) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LENGTH];
        SystemRandomness.fill(&mut nonce);
        let header = [FORMAT.as_slice(), bytecode.build.as_bytes(), &nonce].concat();
        let payload = Payload { msg: &bytecode.modules, aad: &associated_data(key, &header) };
        // Only a text of many gigabytes cannot be encrypted.
        let ciphertext = self.cipher.encrypt(&XNonce::from(nonce), payload).ok()?;
        Some([header, ciphertext].concat())
    }

    fn unseal(&self, key: &BytecodeKey, build: ProgramBuild, content: &[u8]) -> Result<Bytes, Unusable> {
        let (header, ciphertext) = content.split_at_checked(HEADER_LENGTH).ok_or(Unusable::Forged)?;
        let rest = header.strip_prefix(FORMAT).ok_or(Unusable::OtherBuild)?;
        let nonce = rest.strip_prefix(build.as_bytes()).ok_or(Unusable::OtherBuild)?;
        let nonce: [u8; NONCE_LENGTH] = nonce.try_into().map_err(|_| Unusable::Forged)?;
        let payload = Payload { msg: ciphertext, aad: &associated_data(key, header) };
        let modules = self.cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| Unusable::Forged)?;
        Ok(modules.into())
    }

    fn file(&self, key: &BytecodeKey) -> PathBuf {
        self.path.join(key.workspace.uuid().to_string()).join(NAMES.encode(key.digest))
    }

    fn with_index<T>(&self, work: impl FnOnce(&mut BoundedLru<()>) -> T) -> T {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        work(index.get_or_insert_with(|| self.list(now())))
    }

    /// Lists the files, the least recently used ones first, and deletes those that were not used for long, exceed the limits, or
    /// were never completed.
    fn list(&self, now: SystemTime) -> BoundedLru<()> {
        let mut files = Vec::new();
        for workspace in entries(&self.path) {
            let Some(id) = workspace.file_name().to_str().and_then(|name| Uuid::parse_str(name).ok()) else {
                continue;
            };
            for file in entries(&workspace.path()) {
                let digest = NAMES
                    .decode(file.file_name().as_encoded_bytes())
                    .ok()
                    .and_then(|name| name.try_into().ok());
                let Ok(metadata) = file.metadata() else { continue };
                let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let is_unused = now.duration_since(modified).is_ok_and(|unused| unused > MAX_UNUSED);
                match digest.filter(|_| !is_unused) {
                    Some(digest) => {
                        let key = BytecodeKey { workspace: Id::from_uuid(id), digest };
                        files.push((modified, key, usize::try_from(metadata.len()).unwrap_or(usize::MAX)));
                    }
                    None => delete(&file.path()),
                }
            }
            // Fails unless it is empty.
            let _ = fs::remove_dir(workspace.path());
        }
        files.sort_unstable_by_key(|(modified, key, _)| (*modified, key.digest));
        let mut index = BoundedLru::new(self.limits);
        for (_, key, bytes) in files {
            for evicted in index.insert(key, bytes.max(MIN_FILE_BYTES), ()) {
                delete(&self.file(&evicted));
            }
        }
        index
    }
}

/// Returns the time by the clock that the times of files are by.
fn now() -> SystemTime {
    SystemClock.now().into()
}

/// Returns what is bound to the ciphertext. All parts have fixed lengths.
fn associated_data(key: &BytecodeKey, header: &[u8]) -> Vec<u8> {
    [header, key.workspace.uuid().as_bytes(), &key.digest].concat()
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let length = fs::metadata(path)?.len();
    if length > MAX_FRAME as u64 { Err(io::ErrorKind::FileTooLarge.into()) } else { fs::read(path) }
}

/// Writes a file under another name first, so that nobody reads half of it.
fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make_directory(directory)?;
    let mut suffix = [0; 8];
    SystemRandomness.fill(&mut suffix);
    let incomplete = directory.join(format!("incomplete-{}", NAMES.encode(suffix)));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&incomplete)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&incomplete, path));
    if written.is_err() {
        delete(&incomplete);
    }
    written
}

fn make_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn entries(path: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(path).into_iter().flatten().flatten()
}

fn delete(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "cannot delete bytecode");
    }
}

#[cfg(test)]
mod tests;
