//! Names as they stand in addresses.

/// The characters of a random suffix: no letters that look alike.
pub const SLUG_SUFFIX_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The ASCII letters and digits of `name` in lower case, joined by single dashes, at most `max` characters;
/// empty when there are none.
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
