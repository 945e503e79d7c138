//! Names in URLs.

/// The characters of a random suffix: digits and lower-case letters without `i`, `l`, `o` and `u`.
pub const SLUG_SUFFIX_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Returns the ASCII letters and digits of `name` in lower case, with a single dash in place of other characters, at most
/// `max` characters. Empty if there are none.
#[must_use]
pub fn slugify(name: &str, max: usize) -> String {
    let mut slug = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug.truncate(max);
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_holds_letters_digits_and_single_dashes() {
        for (name, slug) in
            [("Acme  Sales & Co.", "acme-sales-co"), ("--x--", "x"), ("Қала", ""), ("ab cd", "ab")]
        {
            assert_eq!(slugify(name, if name == "ab cd" { 3 } else { 40 }), slug);
        }
    }
}
