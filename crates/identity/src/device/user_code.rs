//! The code that a person enters (RFC 8628, section 6.1).

use std::{fmt, str::FromStr};

use kernel::{Randomness, token::Digest, token::Peppers};

use crate::IdentityError;

/// Twenty consonants, so that no code is a word and no two letters look alike; eight of them carry 34.5 bits.
const ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const CODE_LEN: usize = 8;

/// Eight letters, displayed as `BCDF-GHJK`. Parsing ignores case, hyphens and spaces.
#[derive(Clone, PartialEq, Eq)]
pub struct UserCode(String);

impl UserCode {
    /// Generates a code.
    #[must_use]
    pub fn generate(random: &dyn Randomness) -> Self {
        Self(random.string(ALPHABET, CODE_LEN))
    }

    /// Returns the digest to store for the code.
    #[must_use]
    pub fn digest(&self, peppers: &Peppers) -> Digest {
        peppers.digest(&self.digest_input())
    }

    /// Returns every digest that the code may be stored under, newest pepper first.
    #[must_use]
    pub fn candidate_digests(&self, peppers: &Peppers) -> Vec<Digest> {
        peppers.candidate_digests(&self.digest_input()).collect()
    }

    fn digest_input(&self) -> String {
        format!("device user code\0{}", self.0)
    }
}

impl FromStr for UserCode {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        if text.len() > 32 {
            return Err(IdentityError::DeviceLoginNotFound);
        }
        let letters = text.chars().filter(|c| !matches!(c, '-' | ' ')).map(|c| c.to_ascii_uppercase());
        let code: String = letters.collect();
        let is_valid = code.len() == CODE_LEN && code.bytes().all(|byte| ALPHABET.contains(&byte));
        if is_valid { Ok(Self(code)) } else { Err(IdentityError::DeviceLoginNotFound) }
    }
}

impl fmt::Display for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = self.0.split_at(CODE_LEN / 2);
        write!(f, "{left}-{right}")
    }
}

/// Omits the code, since anybody who knows it can decide the login.
impl fmt::Debug for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use kernel::SeededRandomness;

    use super::*;

    #[test]
    fn a_code_parses_however_it_is_typed() {
        let code = UserCode::generate(&SeededRandomness::new(5));
        let shown = code.to_string();
        assert_eq!((shown.len(), shown.as_bytes()[4]), (9, b'-'));
        for typed in [
            shown.clone(),
            shown.to_lowercase(),
            shown.replace('-', ""),
            shown.replace('-', " "),
            format!(" {shown} "),
        ] {
            assert_eq!(typed.parse::<UserCode>().unwrap(), code, "{typed:?}");
        }
        let long = "-".repeat(40) + &shown;
        for wrong in
            ["", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-EFGH", "BCDF_GHJK", "BCDF-GHJ\u{212a}", long.as_str()]
        {
            assert!(wrong.parse::<UserCode>().is_err(), "{wrong:?}");
        }
        assert!(!format!("{code:?}").contains(&shown));
    }
}
