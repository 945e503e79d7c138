//! The form in which e-mail addresses are stored and compared.
//! See `docs/decisions/0124-compare-email-addresses-in-ascii.md`.

use crate::text::is_invisible;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Returns an address in the form in which it is stored and compared; `None` if it has no `@` or an invisible character, or
/// its local part has a character that normalization would turn into an ASCII one.
///
/// The domain is in its ASCII form (IDNA, UTS #46). The part before the `@` is in normal form C with ASCII letters in
/// lower case. Other letters keep their case: two mailboxes must never become one account.
#[must_use]
pub fn normalize(text: &str) -> Option<String> {
    let text = text.trim();
    // IDNA would drop some of these, and mail for an address with others would reach nobody.
    if text.chars().any(is_invisible) {
        return None;
    }
    let (local, domain) = text.rsplit_once('@')?;
    // Normal form C turns these into ASCII: K (the Kelvin sign), ; (the Greek question mark) and ` (the Greek varia).
    if local.contains(['\u{212a}', '\u{37e}', '\u{1fef}']) {
        return None;
    }
    let mut local = to_nfc(local);
    local.make_ascii_lowercase();
    // A domain that is not an IDNA name is only normalized. Callers that need a valid domain check it.
    let domain = idna::domain_to_ascii(domain).unwrap_or_else(|_| to_nfc(domain).to_lowercase());
    Some(format!("{local}@{domain}"))
}

/// Returns the spellings under which a normalized address may have been stored before addresses were normalized, the
/// normalized one first.
#[must_use]
pub fn legacy_spellings(normalized: &str) -> Vec<String> {
    let mut spellings = vec![normalized.to_owned()];
    let Some((local, domain)) = normalized.rsplit_once('@') else { return spellings };
    let (unicode, valid) = idna::domain_to_unicode(domain);
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(local);
    let domains = [Some(domain.to_owned()), valid.is_ok().then_some(unicode)];
    for local in [local, &*decomposed] {
        for domain in domains.iter().flatten() {
            let spelling = format!("{local}@{domain}");
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
    }
    spellings
}

fn to_nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_mailbox_are_one() {
        for (text, normalized) in [
            (" Aru@Example.COM ", "aru@example.com"),
            ("user@почта.рф", "user@xn--80a1acny.xn--p1ai"),
            ("user@ПОЧТА.РФ", "user@xn--80a1acny.xn--p1ai"),
            ("user@XN--80A1ACNY.xn--p1ai", "user@xn--80a1acny.xn--p1ai"),
            ("user@почта。рф", "user@xn--80a1acny.xn--p1ai"),
            ("Jose\u{301}@a.test", "jos\u{e9}@a.test"),
            ("jos\u{e9}@a.test", "jos\u{e9}@a.test"),
            ("user@exam\u{212a}.test", "user@examk.test"),
            ("a@under_score.test", "a@under_score.test"),
        ] {
            assert_eq!(normalize(text).as_deref(), Some(normalized), "{text}");
            assert_eq!(normalize(normalized).as_deref(), Some(normalized), "normalization is idempotent");
        }
        assert_eq!(normalize("aru"), None);
        for pretender in ["\u{212a}im@a.test", "a\u{37e}@a.test", "a\u{1fef}@a.test"] {
            assert_eq!(normalize(pretender), None, "{pretender}");
        }
        // There is no other such character.
        let ascii = |c: char| !c.is_ascii() && to_nfc(c.encode_utf8(&mut [0; 4])).is_ascii();
        assert_eq!(('\0'..=char::MAX).filter(|c| ascii(*c)).count(), 3);
    }

    #[test]
    fn letters_outside_ascii_are_not_ascii_letters() {
        for (one, other) in [
            ("\u{ff4b}im@a.test", "kim@a.test"),
            ("JOS\u{c9}@a.test", "jos\u{e9}@a.test"),
            ("\u{130}@a.test", "i@a.test"),
            ("\u{430}ru@a.test", "aru@a.test"),
            ("\u{17f}am@a.test", "sam@a.test"),
        ] {
            assert_ne!(normalize(one), normalize(other), "{one}");
        }
    }

    #[test]
    fn older_spellings_are_found() {
        assert_eq!(legacy_spellings("aru@example.com"), ["aru@example.com"]);
        assert_eq!(
            legacy_spellings("user@xn--80a1acny.xn--p1ai"),
            ["user@xn--80a1acny.xn--p1ai", "user@почта.рф"]
        );
        let four = legacy_spellings("jos\u{e9}@xn--p1ai.test");
        assert_eq!(four.len(), 4, "{four:?}");
        assert!(four.contains(&"jose\u{301}@рф.test".to_owned()), "{four:?}");
    }
}
