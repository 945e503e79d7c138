//! Reasons of trust scores in sentences.

use kernel::Locale;

use super::{TrustFinding, TrustRule};

impl TrustFinding {
    /// Describes the finding in a sentence.
    #[must_use]
    pub fn describe(&self, locale: Locale) -> String {
        let example = self.example.as_deref().unwrap_or_default();
        match locale {
            Locale::En => english(self.rule, self.count, example),
            Locale::Ru => russian(self.rule, self.count, example),
            Locale::Kk => kazakh(self.rule, self.count, example),
        }
    }
}

fn english(rule: TrustRule, number: usize, example: &str) -> String {
    // A number with its noun, in the plural unless the number is 1.
    let count = |noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    match rule {
        TrustRule::Hosts => format!("It can call {}.", count("external host")),
        TrustRule::HostsWrite => format!("It can send data to {}.", count("external host")),
        TrustRule::CredentialHeaders => {
            format!("Its code can send credentials of its own to {}.", count("external host"))
        }
        TrustRule::Connections => format!("It can use {}.", count("connection")),
        TrustRule::SecretsClear => format!("It asks for the text of {}.", count("secret")),
        TrustRule::ProjectsWrite => format!("It can change the rows of {}.", count("project")),
        TrustRule::ProjectsWhole => format!("It can use every table of {}.", count("project")),
        TrustRule::Models => "It can send data to AI models.".to_owned(),
        TrustRule::Eval => format!("The file {example} calls eval."),
        TrustRule::Function => format!("The file {example} creates functions from text."),
        TrustRule::Import => format!("The file {example} imports modules at run time."),
        TrustRule::Prototypes => format!("The file {example} accesses object prototypes."),
        TrustRule::Undeclared => {
            let hosts = count("host");
            format!("Its code names {hosts} that its manifest does not declare, such as {example}.")
        }
        TrustRule::Size => format!("It has {number} KiB of code, more than a person can review."),
    }
}

// The number stands after the noun, so that the noun has one form for every number.

fn russian(rule: TrustRule, number: usize, example: &str) -> String {
    match rule {
        TrustRule::Hosts => format!("Внешних хостов, к которым может обращаться: {number}."),
        TrustRule::HostsWrite => format!("Внешних хостов, на которые может отправлять данные: {number}."),
        TrustRule::CredentialHeaders => {
            format!("Внешних хостов, на которые код может сам отправлять учётные данные: {number}.")
        }
        TrustRule::Connections => format!("Подключений, которые может использовать: {number}."),
        TrustRule::SecretsClear => format!("Секретов, которые запрашивает открытым текстом: {number}."),
        TrustRule::ProjectsWrite => format!("Проектов, строки которых может менять: {number}."),
        TrustRule::ProjectsWhole => format!("Проектов, все таблицы которых может использовать: {number}."),
        TrustRule::Models => "Может отправлять данные моделям ИИ.".to_owned(),
        TrustRule::Eval => format!("Файл {example} вызывает eval."),
        TrustRule::Function => format!("Файл {example} создаёт функции из текста."),
        TrustRule::Import => format!("Файл {example} импортирует модули во время работы."),
        TrustRule::Prototypes => format!("Файл {example} обращается к прототипам объектов."),
        TrustRule::Undeclared => {
            format!("Хостов, которые названы в коде, но не в манифесте: {number}, например {example}.")
        }
        TrustRule::Size => format!("В нём {number} КиБ кода — больше, чем может проверить человек."),
    }
}

fn kazakh(rule: TrustRule, number: usize, example: &str) -> String {
    match rule {
        TrustRule::Hosts => format!("{number} сыртқы хостқа сұрау жібере алады."),
        TrustRule::HostsWrite => format!("{number} сыртқы хостқа дерек жібере алады."),
        TrustRule::CredentialHeaders => {
            format!("Коды {number} сыртқы хостқа тіркелгі деректерін өзі жібере алады.")
        }
        TrustRule::Connections => format!("{number} қосылымды пайдалана алады."),
        TrustRule::SecretsClear => format!("{number} құпияны ашық мәтінмен сұрайды."),
        TrustRule::ProjectsWrite => format!("{number} жобаның жолдарын өзгерте алады."),
        TrustRule::ProjectsWhole => format!("{number} жобаның барлық кестесін пайдалана алады."),
        TrustRule::Models => "ЖИ модельдеріне дерек жібере алады.".to_owned(),
        TrustRule::Eval => format!("{example} файлы eval шақырады."),
        TrustRule::Function => format!("{example} файлы мәтіннен функция жасайды."),
        TrustRule::Import => format!("{example} файлы модульдерді жұмыс кезінде импорттайды."),
        TrustRule::Prototypes => format!("{example} файлы объект прототиптеріне қол жеткізеді."),
        TrustRule::Undeclared => format!("Кодта манифесте жоқ {number} хост аталған, мысалы {example}."),
        TrustRule::Size => format!("Оның коды {number} КиБ — адам тексере алатыннан көп."),
    }
}

#[cfg(test)]
mod tests {
    use kernel::names::Named as _;

    use super::*;

    #[test]
    fn a_finding_is_a_sentence_in_each_language() {
        let finding =
            |rule, count| TrustFinding { rule, points: 3, count, example: Some("main.js".to_owned()) };
        assert_eq!(finding(TrustRule::Hosts, 1).describe(Locale::En), "It can call 1 external host.");
        assert_eq!(finding(TrustRule::Hosts, 2).describe(Locale::En), "It can call 2 external hosts.");
        for name in TrustRule::NAMES {
            let finding = finding(name.parse().unwrap(), 7);
            let sentences = [Locale::En, Locale::Ru, Locale::Kk].map(|locale| finding.describe(locale));
            assert!(sentences.iter().all(|sentence| sentence.ends_with('.')), "{sentences:?}");
            assert!(sentences[0] != sentences[1] && sentences[1] != sentences[2], "{sentences:?}");
        }
    }
}
