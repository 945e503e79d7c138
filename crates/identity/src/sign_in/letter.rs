//! The mail that signs in.

use kernel::{
    Locale,
    mail::{Link, Text},
};
use secrecy::SecretString;

use super::CODE_LIFETIME;

pub(super) fn text(locale: Locale, code: SecretString, link: SecretString) -> Text {
    let minutes = CODE_LIFETIME.num_minutes();
    let (subject, intro, label, after) = match locale {
        Locale::En => (
            "Your code for Qala",
            "Type this code where you are signing in to Qala:",
            "Or sign in with this link",
            [
                format!("Both are good for {minutes} minutes, and for one sign-in."),
                "If you did not ask for this, nothing needs to be done. Give the code to nobody.".to_owned(),
            ],
        ),
        Locale::Ru => (
            "Ваш код для Qala",
            "Введите этот код там, где вы входите в Qala:",
            "Или войдите по этой ссылке",
            [
                format!("Код и ссылка действуют {minutes} минут и годятся для одного входа."),
                "Если вы этого не просили, ничего делать не нужно. Никому не сообщайте код.".to_owned(),
            ],
        ),
        Locale::Kk => (
            "Qala үшін кодыңыз",
            "Qala-ға кіріп жатқан жерде осы кодты енгізіңіз:",
            "Немесе осы сілтемемен кіріңіз",
            [
                format!("Код пен сілтеме {minutes} минут жарамды және бір рет кіруге ғана болады."),
                "Егер мұны сіз сұрамаған болсаңыз, ештеңе істеудің қажеті жоқ. Кодты ешкімге айтпаңыз."
                    .to_owned(),
            ],
        ),
    };
    Text {
        locale,
        subject: subject.to_owned(),
        before: vec![intro.to_owned()],
        code: Some(code),
        link: Some(Link { label: label.to_owned(), url: link }),
        after: after.into(),
    }
}
