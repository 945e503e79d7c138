//! The sentences that describe a difference, in each language.

use kernel::locale::Locale;

use super::{Difference, DifferenceKind, Subject};

impl Difference {
    /// Describes the difference of what is no permission and no trigger; `None` for those.
    fn describe_value(&self, locale: Locale) -> Option<String> {
        let (name, value) = (&self.name, &self.details);
        let shared = |private, team, workspace| match value.as_str() {
            "private" => private,
            "team" => team,
            _ => workspace,
        };
        Some(match (self.subject, locale) {
            (Subject::Sharing, Locale::En) => shared(
                "The app is private.",
                "Members and builders see the app.",
                "The whole workspace sees the app.",
            )
            .to_owned(),
            (Subject::Sharing, Locale::Ru) => shared(
                "Приложение становится личным.",
                "Приложение видят участники и разработчики.",
                "Приложение видят все в рабочем пространстве.",
            )
            .to_owned(),
            (Subject::Sharing, Locale::Kk) => shared(
                "Қолданба жеке болады.",
                "Қолданбаны мүшелер мен құрастырушылар көреді.",
                "Қолданбаны жұмыс кеңістігіндегілердің бәрі көреді.",
            )
            .to_owned(),
            (Subject::Name, Locale::En) => format!("The name is \"{value}\"."),
            (Subject::Name, Locale::Ru) => format!("Название: «{value}»."),
            (Subject::Name, Locale::Kk) => format!("Атауы: «{value}»."),
            (Subject::Description, Locale::En) => format!("The description is \"{value}\"."),
            (Subject::Description, Locale::Ru) => format!("Описание: «{value}»."),
            (Subject::Description, Locale::Kk) => format!("Сипаттамасы: «{value}»."),
            (Subject::Roi, Locale::En) => format!("Each run counts as {value} minutes saved."),
            (Subject::Roi, Locale::Ru) => format!("Каждый запуск экономит минут: {value}."),
            (Subject::Roi, Locale::Kk) => format!("Әр іске қосу {value} минут үнемдейді."),
            (Subject::Retries, Locale::En) => {
                format!("Failed runs of the automation \"{name}\" are retried at most {value} times.")
            }
            (Subject::Retries, Locale::Ru) => {
                format!("Повторов после ошибки у автоматизации «{name}»: не больше {value}.")
            }
            (Subject::Retries, Locale::Kk) => {
                format!("«{name}» автоматтандыруының сәтсіз іске қосылуы ең көбі {value} рет қайталанады.")
            }
            _ => return None,
        })
    }

    /// Describes the difference of headers that code may set in requests to a host.
    fn describe_headers(&self, locale: Locale) -> String {
        let (host, headers) = (&self.name, &self.details);
        match (self.change, locale) {
            (DifferenceKind::Removed, Locale::En) => {
                format!("In requests to {host}, the code may no longer set: {headers}.")
            }
            (DifferenceKind::Removed, Locale::Ru) => {
                format!("В запросах к {host} код больше не может задавать заголовки: {headers}.")
            }
            (DifferenceKind::Removed, Locale::Kk) => {
                format!("Код {host} хостына сұрауларда мына тақырыптарды енді орната алмайды: {headers}.")
            }
            (_, Locale::En) => {
                format!("In requests to {host}, the code itself may set credentials: {headers}.")
            }
            (_, Locale::Ru) => {
                format!("В запросах к {host} код может сам задавать заголовки с учётными данными: {headers}.")
            }
            (_, Locale::Kk) => {
                format!(
                    "Код {host} хостына сұрауларда тіркелгі деректері бар тақырыптарды өзі орната алады: {headers}."
                )
            }
        }
    }

    /// Describes the difference in a sentence.
    #[must_use]
    pub fn describe(&self, locale: Locale) -> String {
        let name = &self.name;
        if self.subject == Subject::Header {
            return self.describe_headers(locale);
        }
        let with = if self.details.is_empty() { String::new() } else { format!(" ({})", self.details) };
        if let Some(sentence) = self.describe_value(locale) {
            return sentence;
        }
        match locale {
            Locale::En => {
                let subject = match self.subject {
                    Subject::Egress => format!("the host {name}{with}"),
                    Subject::Data => format!("the project `{name}`{with}"),
                    Subject::Connector => format!("the connection `{name}`{with}"),
                    Subject::Secret => format!("the secret `{name}`{with}"),
                    Subject::Ai => format!("AI models{with}"),
                    _ => format!("the trigger {name}"),
                };
                match self.change {
                    DifferenceKind::Added => format!("The manifest now names {subject}."),
                    DifferenceKind::Removed => format!("The manifest no longer names {subject}."),
                    DifferenceKind::Changed => format!("The manifest entry for {subject} changed."),
                }
            }
            Locale::Ru => {
                let subject = match self.subject {
                    Subject::Egress => format!("хост {name}{with}"),
                    Subject::Data => format!("проект «{name}»{with}"),
                    Subject::Connector => format!("подключение «{name}»{with}"),
                    Subject::Secret => format!("секрет «{name}»{with}"),
                    Subject::Ai => format!("модели{with}"),
                    _ => format!("способ запуска {name}"),
                };
                match self.change {
                    DifferenceKind::Added => format!("В манифест добавлено: {subject}."),
                    DifferenceKind::Removed => format!("Из манифеста удалено: {subject}."),
                    DifferenceKind::Changed => format!("В манифесте изменены условия: {subject}."),
                }
            }
            Locale::Kk => {
                let subject = match self.subject {
                    Subject::Egress => format!("{name} хосы{with}"),
                    Subject::Data => format!("«{name}» жобасы{with}"),
                    Subject::Connector => format!("«{name}» қосылымы{with}"),
                    Subject::Secret => format!("«{name}» құпиясы{with}"),
                    Subject::Ai => format!("модельдер{with}"),
                    _ => format!("{name} іске қосу түрі"),
                };
                match self.change {
                    DifferenceKind::Added => format!("Манифеске қосылды: {subject}."),
                    DifferenceKind::Removed => format!("Манифестен алынды: {subject}."),
                    DifferenceKind::Changed => format!("Манифесте шарттары өзгерді: {subject}."),
                }
            }
        }
    }
}
