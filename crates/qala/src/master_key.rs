//! The master keys of the operator: given, or for development created once and kept with the data.

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::{Randomness, vault::MasterKeys};
use secrecy::{ExposeSecret as _, SecretString};

/// Returns the path of the development master key.
pub(crate) fn development_key_path(data_dir: &Path) -> PathBuf {
    data_dir.join("master.key")
}

/// Returns the keys to use; creates a development key if there is none.
pub(crate) fn load(
    given: Option<&SecretString>,
    data_dir: &Path,
    development: bool,
    random: &dyn Randomness,
) -> anyhow::Result<MasterKeys> {
    if let Some(text) = given {
        return MasterKeys::parse(text.expose_secret()).context("--master-key");
    }
    if !development {
        bail!(
            "--master-key: required without the development sign-in; create one with `openssl rand -base64 32`"
        );
    }
    let path = development_key_path(data_dir);
    let text = match read_key_file(&path)? {
        Some(text) => text,
        None => create_key_file(&path, random)?,
    };
    MasterKeys::parse(&text).with_context(|| path.display().to_string())
}

/// Returns the keys to use, given or kept with the data; creates none.
pub(crate) fn load_existing(given: Option<&SecretString>, data_dir: &Path) -> anyhow::Result<MasterKeys> {
    if let Some(text) = given {
        return MasterKeys::parse(text.expose_secret()).context("--master-key");
    }
    let path = development_key_path(data_dir);
    let text = read_key_file(&path)?.context("--master-key: give the keys of the server, newest first")?;
    MasterKeys::parse(&text).with_context(|| path.display().to_string())
}

fn read_key_file(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let mode = std::fs::metadata(path)?.permissions().mode();
            ensure!(mode & 0o077 == 0, "{} can be read by other users; set its mode to 0600", path.display());
            Ok(Some(text))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn create_key_file(path: &Path, random: &dyn Randomness) -> anyhow::Result<String> {
    let mut key = [0_u8; 32];
    random.fill(&mut key);
    let text = STANDARD.encode(key);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot create {}", path.display()))?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use kernel::{SeededRandomness, token::Peppers};

    use super::*;

    #[test]
    fn a_development_key_is_created_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let digest = |seed| {
            let keys = load(None, dir.path(), true, &SeededRandomness::new(seed)).unwrap();
            *Peppers::derive(&keys).digest("x").as_bytes()
        };
        assert_eq!(digest(1), digest(2), "the second start reads the key of the first");
        let path = dir.path().join("master.key");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(load(None, dir.path(), true, &SeededRandomness::new(1)).is_err());
    }

    #[test]
    fn a_production_server_requires_a_key() {
        let dir = tempfile::tempdir().unwrap();
        let error = load(None, dir.path(), false, &SeededRandomness::new(1)).err().unwrap();
        assert!(error.to_string().contains("--master-key"));
    }
}
