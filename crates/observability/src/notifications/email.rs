//! The e-mail about a notification.

use kernel::{
    Locale,
    mail::{EmailDraft, EmailLink, RenderedEmail, name_without_links},
};

use super::{Notification, NotificationSubject, SubjectNames};

/// Content of an e-mail about a notification, and its recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailContent {
    /// The notification.
    pub notification: Notification,
    /// Names of its objects.
    pub names: SubjectNames,
    /// Name of the workspace.
    pub workspace_name: String,
    /// Language of the workspace.
    pub locale: Locale,
    /// Address of the recipient.
    pub address: String,
}

/// Sentences of an e-mail about one object.
struct Sentences {
    subject: String,
    statement: String,
    advice: &'static str,
    label: &'static str,
}

/// Writes the e-mail. `console_origin` is where the console is, without a trailing slash.
#[must_use]
pub fn compose(content: &EmailContent, console_origin: &str) -> RenderedEmail {
    let EmailContent { notification, locale, .. } = content;
    let workspace_name = name_without_links(&content.workspace_name);
    let workspace = notification.workspace;
    let path = match notification.subject {
        NotificationSubject::App { run, .. }
        | NotificationSubject::Automation { run, .. }
        | NotificationSubject::Approval { run, .. } => format!("runs/{run}"),
        NotificationSubject::Connection(connection) => format!("connections/{connection}"),
    };
    let sentences = sentences(content);
    let settings = format!("{console_origin}/w/{workspace}/notifications");
    let (place, reason) = match locale {
        Locale::En => (
            format!("Workspace: {workspace_name}. Code: {}.", notification.code),
            format!(
                "You get this because you administer the workspace or made the app. To turn such e-mail off, go to {settings}"
            ),
        ),
        Locale::Ru => (
            format!("Рабочее пространство: {workspace_name}. Код: {}.", notification.code),
            format!(
                "Вы получили это письмо, потому что управляете рабочим пространством или создали приложение. Отключить такие письма можно здесь: {settings}"
            ),
        ),
        Locale::Kk => (
            format!("Жұмыс кеңістігі: {workspace_name}. Код: {}.", notification.code),
            format!(
                "Бұл хатты жұмыс кеңістігін басқаратындықтан немесе қолданбаны жасағандықтан алдыңыз. Мұндай хаттарды мына жерде өшіре аласыз: {settings}"
            ),
        ),
    };
    let draft = EmailDraft {
        locale: *locale,
        subject: sentences.subject,
        before: vec![sentences.statement, place, sentences.advice.to_owned()],
        code: None,
        link: Some(EmailLink {
            label: sentences.label.to_owned(),
            url: format!("{console_origin}/w/{workspace}/{path}").into(),
        }),
        after: vec![reason],
    };
    draft.render(&content.address)
}

fn sentences(content: &EmailContent) -> Sentences {
    let name = |name: &Option<String>| name.as_deref().map_or_else(|| "?".to_owned(), name_without_links);
    let (app, automation) = (name(&content.names.app), name(&content.names.automation));
    let connection = name(&content.names.connection);
    match (content.locale, content.notification.subject) {
        (Locale::En, NotificationSubject::App { .. }) => Sentences {
            subject: format!("The app “{app}” keeps failing"),
            statement: format!("The last three runs of the app “{app}” failed or were blocked."),
            advice: "The run says what happened and what to do. You are told again only after a run has succeeded.",
            label: "Open the last run",
        },
        (Locale::En, NotificationSubject::Automation { .. }) => Sentences {
            subject: format!("The automation “{automation}” keeps failing"),
            statement: format!(
                "The last three runs of the automation “{automation}” of the app “{app}” failed or were blocked."
            ),
            advice: "The run says what happened and what to do. You are told again only after a run has succeeded.",
            label: "Open the last run",
        },
        (Locale::En, NotificationSubject::Connection(_)) => Sentences {
            subject: format!("The connection “{connection}” has stopped working"),
            statement: format!(
                "The service of the connection “{connection}” rejects its credential, or its permission has ended."
            ),
            advice: "Apps that use it fail until you connect it again.",
            label: "Open the connection",
        },
        (Locale::En, NotificationSubject::Approval { .. }) => Sentences {
            subject: format!("A run of “{app}” waits for an answer"),
            statement: format!("A run of the app “{app}” asks a question and waits for the answer."),
            advice: "Without an answer, the question counts as refused after seven days.",
            label: "Open the run",
        },
        (Locale::Ru, NotificationSubject::App { .. }) => Sentences {
            subject: format!("Приложение «{app}» постоянно завершается с ошибкой"),
            statement: format!(
                "Последние три запуска приложения «{app}» завершились ошибкой или были заблокированы."
            ),
            advice: "На странице запуска сказано, что случилось и что делать. Следующее письмо придёт только после успешного запуска.",
            label: "Открыть последний запуск",
        },
        (Locale::Ru, NotificationSubject::Automation { .. }) => Sentences {
            subject: format!("Автоматизация «{automation}» постоянно завершается с ошибкой"),
            statement: format!(
                "Последние три запуска автоматизации «{automation}» приложения «{app}» завершились ошибкой или были заблокированы."
            ),
            advice: "На странице запуска сказано, что случилось и что делать. Следующее письмо придёт только после успешного запуска.",
            label: "Открыть последний запуск",
        },
        (Locale::Ru, NotificationSubject::Connection(_)) => Sentences {
            subject: format!("Подключение «{connection}» перестало работать"),
            statement: format!(
                "Сервис подключения «{connection}» отклоняет его ключ, или срок разрешения истёк."
            ),
            advice: "Приложения, которые его используют, завершаются с ошибкой, пока вы не подключите его снова.",
            label: "Открыть подключение",
        },
        (Locale::Ru, NotificationSubject::Approval { .. }) => Sentences {
            subject: format!("Запуск приложения «{app}» ждёт ответа"),
            statement: format!("Запуск приложения «{app}» задаёт вопрос и ждёт ответа."),
            advice: "Без ответа вопрос через семь дней считается отклонённым.",
            label: "Открыть запуск",
        },
        (Locale::Kk, NotificationSubject::App { .. }) => Sentences {
            subject: format!("«{app}» қолданбасы үнемі қатемен аяқталады"),
            statement: format!(
                "«{app}» қолданбасының соңғы үш іске қосылуы қатемен аяқталды немесе бұғатталды."
            ),
            advice: "Іске қосу бетінде не болғаны және не істеу керегі айтылған. Келесі хат сәтті іске қосылғаннан кейін ғана келеді.",
            label: "Соңғы іске қосуды ашу",
        },
        (Locale::Kk, NotificationSubject::Automation { .. }) => Sentences {
            subject: format!("«{automation}» автоматтандыруы үнемі қатемен аяқталады"),
            statement: format!(
                "«{app}» қолданбасындағы «{automation}» автоматтандыруының соңғы үш іске қосылуы қатемен аяқталды немесе бұғатталды."
            ),
            advice: "Іске қосу бетінде не болғаны және не істеу керегі айтылған. Келесі хат сәтті іске қосылғаннан кейін ғана келеді.",
            label: "Соңғы іске қосуды ашу",
        },
        (Locale::Kk, NotificationSubject::Connection(_)) => Sentences {
            subject: format!("«{connection}» қосылымы жұмысын тоқтатты"),
            statement: format!(
                "«{connection}» қосылымының қызметі оның кілтін қабылдамайды немесе рұқсаттың мерзімі біткен."
            ),
            advice: "Оны қайта қоспайынша, оны пайдаланатын қолданбалар қатемен аяқталады.",
            label: "Қосылымды ашу",
        },
        (Locale::Kk, NotificationSubject::Approval { .. }) => Sentences {
            subject: format!("«{app}» қолданбасының іске қосылуы жауап күтуде"),
            statement: format!("«{app}» қолданбасының іске қосылуы сұрақ қойып, жауап күтуде."),
            advice: "Жауап берілмесе, сұрақ жеті күннен кейін қабылданбаған болып саналады.",
            label: "Іске қосуды ашу",
        },
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Timestamp, testing::id};

    use super::*;

    fn content(locale: Locale, subject: NotificationSubject) -> EmailContent {
        EmailContent {
            notification: Notification {
                workspace: id(1),
                seq: 7,
                at: Timestamp::UNIX_EPOCH,
                subject,
                code: "timeout".to_owned(),
            },
            names: SubjectNames {
                app: Some("Greeter <&>".to_owned()),
                automation: Some("Nightly".to_owned()),
                connection: Some("CRM".to_owned()),
            },
            workspace_name: "Acme".to_owned(),
            locale,
            address: "aru@example.com".to_owned(),
        }
    }

    #[test]
    fn the_texts_are_those_that_were_reviewed() {
        let subjects = [
            NotificationSubject::App { app: id(2), run: id(3) },
            NotificationSubject::Automation { app: id(2), automation: id(4), run: id(3) },
            NotificationSubject::Connection(id(5)),
        ];
        let mut texts = String::new();
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            for subject in subjects {
                let email = compose(&content(locale, subject), "https://q.example");
                assert!(!email.html.contains("Greeter <&>"), "a name is text in HTML");
                texts.push_str(&format!("{locale} {}\n\n{}\n", email.subject, email.text));
            }
        }
        kernel::testing::compare_snapshot(env!("CARGO_MANIFEST_DIR"), "notification_emails.txt", &texts)
            .unwrap();
    }
}
