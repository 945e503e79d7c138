//! Header values as code sees them: strings of which each character is a byte (Infra, "isomorphic decode").

/// Returns the characters with the numbers of the bytes.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Returns the bytes with the numbers of the characters; `None` if one is above U+00FF.
#[must_use]
pub fn encode(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|character| u8::try_from(character).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_character_and_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(b"caf\xe9"), "café");
        assert_eq!(encode(&decode(&bytes)), Some(bytes));
        assert_eq!(encode("Ж"), None);
    }
}
