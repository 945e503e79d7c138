//! Domain names, and the public ones that nobody may claim.

use std::{fmt, str::FromStr};

use crate::{InvalidInput, WorkspaceError};

/// A domain name in lower case and in its ASCII form (IDNA2008, RFC 5891), below a public suffix.
///
/// Names that look alike in different scripts have different ASCII forms, so they never compare equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Domain(String);

impl Domain {
    /// Returns the name in its ASCII form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the domain of an e-mail address; `None` if anyone can have an address there, or it is not a domain name.
    #[must_use]
    pub fn from_email(email: &str) -> Option<Self> {
        email.rsplit_once('@').and_then(|(_, domain)| domain.parse().ok())
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Domain {
    type Err = WorkspaceError;

    fn from_str(text: &str) -> Result<Self, WorkspaceError> {
        let invalid = || WorkspaceError::from(InvalidInput::DomainName);
        let text = text.trim();
        // Bounds the work of the conversion: 253 ASCII characters are fewer than 1,000 bytes in any script.
        // IDNA leaves invisible characters out, so another domain than the one that is seen would be claimed.
        if text.len() > 1_000 || text.chars().any(kernel::text::is_invisible) {
            return Err(invalid());
        }
        let ascii = idna::domain_to_ascii_strict(text).map_err(|_| invalid())?;
        let is_address =
            ascii.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
        if !(3..=253).contains(&ascii.len()) || !ascii.contains('.') || is_address {
            return Err(invalid());
        }
        // A name directly below a public suffix has one owner; the suffix itself has many.
        let registrable = psl::domain_str(&ascii).ok_or(WorkspaceError::PublicDomain)?;
        if PUBLIC_EMAIL_DOMAINS.contains(&registrable) {
            return Err(WorkspaceError::PublicDomain);
        }
        Ok(Self(ascii))
    }
}

/// Domains at which anyone can get an address. Their subdomains count too. Sorted.
const PUBLIC_EMAIL_DOMAINS: &[&str] = &[
    "126.com",
    "163.com",
    "aol.com",
    "bk.ru",
    "comcast.net",
    "daum.net",
    "duck.com",
    "email.com",
    "fastmail.com",
    "fastmail.fm",
    "foxmail.com",
    "free.fr",
    "gmail.com",
    "gmx.at",
    "gmx.ch",
    "gmx.com",
    "gmx.de",
    "gmx.net",
    "googlemail.com",
    "guerrillamail.com",
    "hanmail.net",
    "hey.com",
    "hotmail.co.uk",
    "hotmail.com",
    "hotmail.de",
    "hotmail.es",
    "hotmail.fr",
    "hotmail.it",
    "hotmail.ru",
    "hushmail.com",
    "icloud.com",
    "inbox.lv",
    "inbox.ru",
    "internet.ru",
    "laposte.net",
    "libero.it",
    "list.ru",
    "live.co.uk",
    "live.com",
    "live.fr",
    "live.ru",
    "mac.com",
    "mail.com",
    "mail.kz",
    "mail.ru",
    "mail.ua",
    "mailbox.org",
    "mailinator.com",
    "me.com",
    "msn.com",
    "narod.ru",
    "naver.com",
    "ok.ru",
    "orange.fr",
    "outlook.com",
    "outlook.de",
    "outlook.es",
    "outlook.fr",
    "pm.me",
    "posteo.de",
    "proton.me",
    "protonmail.ch",
    "protonmail.com",
    "qq.com",
    "rambler.ru",
    "rediffmail.com",
    "rocketmail.com",
    "seznam.cz",
    "sina.com",
    "t-online.de",
    "tuta.com",
    "tuta.io",
    "tutanota.com",
    "tutanota.de",
    "ukr.net",
    "vk.com",
    "web.de",
    "ya.ru",
    "yahoo.co.jp",
    "yahoo.co.uk",
    "yahoo.com",
    "yahoo.de",
    "yahoo.es",
    "yahoo.fr",
    "yahoo.it",
    "yandex.by",
    "yandex.com",
    "yandex.kz",
    "yandex.ru",
    "yandex.ua",
    "yandex.uz",
    "yeah.net",
    "ymail.com",
    "yopmail.com",
    "zohomail.com",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_their_ascii_form() {
        for (text, ascii) in [
            ("example.com", "example.com"),
            (" Example.COM ", "example.com"),
            ("Пример.рф", "xn--e1afmkfd.xn--p1ai"),
            ("xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
            ("bücher.de", "xn--bcher-kva.de"),
            ("eng.example.co.uk", "eng.example.co.uk"),
            ("tulpar.test", "tulpar.test"),
        ] {
            assert_eq!(text.parse::<Domain>().unwrap().as_str(), ascii);
        }
        // The first letter is Cyrillic.
        let alike: Domain = "аpple.com".parse().unwrap();
        assert_ne!(alike, "apple.com".parse().unwrap());
        assert_eq!(Domain::from_email("a@Bücher.DE"), "bücher.de".parse().ok());
        assert_eq!(Domain::from_email("\"a@b.com\"@c.com"), "c.com".parse().ok());
    }

    #[test]
    fn a_text_that_is_not_the_name_of_one_owner_is_refused() {
        for text in [
            "",
            "com",
            "a",
            "-a.com",
            "a-.com",
            "a..com",
            "a b.com",
            "a_b.com",
            "a.com.",
            ".com",
            "1.2.3.4",
            "http://a.com",
            "a.com/x",
            "a@b.com",
            "localhost",
            "xn--a.com",
            "a.com:80",
            "*.a.com",
        ] {
            assert!(text.parse::<Domain>().is_err(), "{text:?}");
        }
        assert!(format!("{}.com", "a".repeat(64)).parse::<Domain>().is_err());
        assert!(format!("{}com", "a.".repeat(126)).parse::<Domain>().is_err());
        assert!("a".repeat(100_000).parse::<Domain>().is_err());
        for text in [
            "co.uk",
            "com.kz",
            "github.io",
            "gmail.com",
            "GMAIL.com",
            "googlemail.com",
            "mail.ru",
            "ya.ru",
            "x.gmail.com",
            "outlook.com",
        ] {
            assert!(
                matches!(text.parse::<Domain>(), Err(WorkspaceError::PublicDomain)),
                "{text:?}: {:?}",
                text.parse::<Domain>()
            );
        }
        for email in ["a@gmail.com", "a", "a@com", "a@"] {
            assert_eq!(Domain::from_email(email), None, "{email}");
        }
    }

    #[test]
    fn the_list_is_of_registrable_names_in_order() {
        assert!(PUBLIC_EMAIL_DOMAINS.is_sorted_by(|a, b| a < b));
        for name in PUBLIC_EMAIL_DOMAINS {
            assert_eq!(psl::domain_str(name), Some(*name));
        }
    }
}
