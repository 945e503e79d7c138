//! The e-mail with the code and the link.

use kernel::{
    Locale,
    mail::{EmailDraft, EmailLink},
};
use secrecy::SecretString;

use super::CODE_LIFETIME;

pub(super) fn compose(locale: Locale, code: SecretString, link: SecretString) -> EmailDraft {
    let minutes = CODE_LIFETIME.num_minutes();
    let (subject, intro, label, after) = match locale {
        Locale::En => (
            "Your code for Qala",
            "Enter this code on the Qala sign-in page:",
            "Or sign in with this link",
            [
                format!("The code and the link expire after {minutes} minutes and work for one sign-in."),
                "If you did not request this, you can ignore this e-mail. Do not share the code with anyone."
                    .to_owned(),
            ],
        ),
        Locale::Ru => (
            "Ваш код для Qala",
            "Введите этот код на странице входа в Qala:",
            "Или войдите по этой ссылке",
            [
                format!("Код и ссылка действуют {minutes} минут и действительны для одного входа."),
                "Если вы этого не запрашивали, ничего делать не нужно. Никому не сообщайте код.".to_owned(),
            ],
        ),
        Locale::Kk => (
            "Qala үшін кодыңыз",
            "Осы кодты Qala жүйесіне кіру бетінде енгізіңіз:",
            "Немесе осы сілтеме арқылы кіріңіз",
            [
                format!("Код пен сілтеме {minutes} минут жарамды және тек бір рет кіруге жарайды."),
                "Егер мұны сіз сұрамаған болсаңыз, ештеңе істеудің қажеті жоқ. Кодты ешкімге айтпаңыз."
                    .to_owned(),
            ],
        ),
    };
    EmailDraft {
        locale,
        subject: subject.to_owned(),
        before: vec![intro.to_owned()],
        code: Some(code),
        link: Some(EmailLink { label: label.to_owned(), url: link }),
        after: after.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_are_those_that_were_reviewed() {
        let mut texts = String::new();
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            let email = compose(locale, "012345".into(), "https://q.example/?token=t".into()).render("a@b.c");
            texts.push_str(&format!("{locale} {}\n\n{}\n", email.subject, email.text));
        }
        kernel::testing::compare_snapshot(env!("CARGO_MANIFEST_DIR"), "sign_in_email.txt", &texts).unwrap();
    }

    #[test]
    fn every_language_shows_the_code_the_link_and_their_lifetime() {
        let mut subjects = Vec::new();
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            let email = compose(locale, "012345".into(), "https://q.example/?token=t".into()).render("a@b.c");
            for part in ["012345", "https://q.example/?token=t", "10"] {
                assert!(email.text.contains(part) && email.html.contains(part), "{locale} {part}");
            }
            assert!(!email.subject.contains("012345"), "a subject is shown on locked screens");
            subjects.push(email.subject);
        }
        subjects.dedup();
        assert_eq!(subjects.len(), 3);
    }
}
