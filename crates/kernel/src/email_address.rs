//! The one form in which e-mail addresses are compared.
//! See `docs/decisions/0124-compare-email-addresses-in-ascii.md`.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// An address in the form in which it is kept and compared; none when it has no `@`, or a character that only pretends
/// to be an ASCII one.
///
/// The domain is in its ASCII form (IDNA, UTS #46). The part before the `@` is in normal form C with ASCII letters in
/// lower case. Other letters stay as they are: what is another mailbox must not become another person's account.
#[must_use]
pub fn normalize(text: &str) -> Option<String> {
    let (local, domain) = text.trim().rsplit_once('@')?;
    // Normal form C makes ASCII of these: K (the Kelvin sign), ; (the Greek question mark) and `.
    if local.contains(['\u{212a}', '\u{37e}', '\u{1fef}']) {
        return None;
    }
    let mut local = to_nfc(local);
    local.make_ascii_lowercase();
    // A domain that is no IDNA name stays as it is: it is checked for shape by whoever needs that.
    let domain = idna::domain_to_ascii(domain).unwrap_or_else(|_| to_nfc(domain).to_lowercase());
    Some(format!("{local}@{domain}"))
}

/// The spellings under which a folded address may have been kept before addresses were folded, itself first.
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
        for (text, folded) in [
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
            assert_eq!(normalize(text).as_deref(), Some(folded), "{text}");
            assert_eq!(normalize(folded).as_deref(), Some(folded), "folding is done once");
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
    fn letters_outside_ascii_are_no_ascii_letters() {
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
    fn what_was_kept_before_is_found() {
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
