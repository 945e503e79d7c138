//! Messages of the gate about requests that it refused or that failed, in the languages of the other sentences.
//!
//! The gate itself uses English, towards the app's code and in the log. The English sentences here are compared with
//! its messages. `{}` is the value that a message names, such as a host or a port.

use kernel::Locale;

use crate::diagnosis::Cause;

/// A run's message, as it is shown beside the sentence about its cause.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GateMessage {
    /// It repeats that sentence, and is omitted.
    Redundant,
    /// The gate's message in the reader's language.
    Translated(String),
    /// A message that is not the gate's, or needs no translation.
    Untranslated,
}

/// A sentence of the gate in English, Russian and Kazakh.
type TranslatedSentence = (&'static str, &'static str, &'static str);

/// Messages that the sentence about the cause repeats.
const REDUNDANT_MESSAGES: [(Cause, &str); 6] = [
    (Cause::HostUndeclared, "the app's manifest does not declare {}"),
    (Cause::GateClosed, "no open gate leads to {}"),
    (Cause::MethodDenied, "the gate to {} does not allow the method"),
    (Cause::MethodDenied, "the manifest does not declare {} to {}"),
    (Cause::PrivateAddress, "the URL names an address that is not of the internet"),
    (Cause::PrivateAddress, "{} leads to an address that may not be dialled"),
];

const SENTENCES: [TranslatedSentence; 46] = [
    (
        "the secret {} has no value; an admin gives it one on the app's page",
        "у секрета {} нет значения; его задаёт администратор на странице приложения",
        "{} құпиясының мәні жоқ; оны әкімші қолданба бетінде береді",
    ),
    ("the secret {} cannot be opened", "секрет {} не удаётся открыть", "{} құпиясы ашылмайды"),
    (
        "the secret {} may not be sent to {}",
        "секрет {} нельзя отправлять хосту {}",
        "{} құпиясын {} хосына жіберуге болмайды",
    ),
    (
        "the secret {} must be at the end of the header {}",
        "секрет {} должен стоять в конце заголовка {}",
        "{} құпиясы {} тақырыбының соңында тұруы керек",
    ),
    (
        "the secret {} cannot be sent through a connection; use fetch",
        "секрет {} нельзя отправить через подключение; отправьте запрос без него",
        "{} құпиясын қосылым арқылы жіберуге болмайды; сұрауды онсыз жіберіңіз",
    ),
    (
        "the secret {} cannot be sent in the header {}",
        "секрет {} нельзя отправить в заголовке {}",
        "{} құпиясын {} тақырыбында жіберуге болмайды",
    ),
    (
        "the header {} cannot have a secret: it carries no credential",
        "в заголовке {} не может быть секрета: в нём не передают учётные данные",
        "{} тақырыбында құпия бола алмайды: онда тіркелгі деректері жіберілмейді",
    ),
    (
        "more than {} headers have a secret",
        "секрет указан больше чем в {} заголовках",
        "құпия {} тақырыптан көбінде көрсетілген",
    ),
    (
        "the header {} has a secret and is there twice",
        "заголовок {} содержит секрет и указан дважды",
        "{} тақырыбында құпия бар және ол екі рет көрсетілген",
    ),
    (
        "the app's manifest does not allow the secret {} in a header",
        "манифест приложения не разрешает секрет {} в заголовке",
        "қолданба манифесі {} құпиясын тақырыпта пайдалануға рұқсат бермейді",
    ),
    (
        "the app's manifest does not allow the secret {} to be such a key",
        "манифест приложения не разрешает такой ключ из секрета {}",
        "қолданба манифесі {} құпиясынан мұндай кілт жасауға рұқсат бермейді",
    ),
    (
        "the app's manifest does not declare {}",
        "в манифесте приложения не указан хост {}",
        "қолданба манифесінде {} хосы көрсетілмеген",
    ),
    ("no open gate leads to {}", "открытого шлюза к {} нет", "{} хосына апаратын ашық шлюз жоқ"),
    (
        "the gate to {} does not allow the method",
        "шлюз к {} не разрешает этот метод",
        "{} хосына апаратын шлюз бұл әдіске рұқсат бермейді",
    ),
    (
        "the manifest does not declare this path of {}",
        "в манифесте не указан этот путь хоста {}",
        "манифесте {} хосының бұл жолы көрсетілмеген",
    ),
    ("the manifest does not declare {}", "в манифесте не указано: {}", "манифесте көрсетілмеген: {}"),
    ("port {} is not allowed", "порт {} не разрешён", "{} портына рұқсат жоқ"),
    ("only https leaves", "разрешены только запросы по https", "тек https сұрауларына рұқсат бар"),
    (
        "the name only means something inside a network",
        "такое имя действует только внутри сети",
        "мұндай атау тек желі ішінде жарамды",
    ),
    ("the URL has no proper host", "в URL нет правильного имени хоста", "URL ішінде дұрыс хост атауы жоқ"),
    (
        "the URL names an address that is not of the internet",
        "URL указывает на адрес не из интернета",
        "URL интернеттен тыс мекенжайды көрсетеді",
    ),
    (
        "the URL names an address; a manifest declares names",
        "в URL указан IP-адрес, а в манифесте указывают имена",
        "URL ішінде IP-мекенжай тұр, ал манифесте атаулар көрсетіледі",
    ),
    ("the URL is too long", "URL слишком длинный", "URL тым ұзын"),
    (
        "the URL holds a space, a control character or a backslash",
        "в URL есть пробел, управляющий символ или обратная косая черта",
        "URL ішінде бос орын, басқару таңбасы немесе кері қиғаш сызық бар",
    ),
    ("the URL is not absolute", "URL не абсолютный", "URL толық емес"),
    ("the URL holds credentials", "в URL есть учётные данные", "URL ішінде тіркелгі деректері бар"),
    ("the URL does not parse: {}", "URL не удалось разобрать ({})", "URL талданбады ({})"),
    (
        "the URL must begin with https://",
        "URL должен начинаться с https://",
        "URL https:// деп басталуы керек",
    ),
    (
        "the app's manifest does not let its code set the header {}",
        "манифест приложения не позволяет коду задавать заголовок {}",
        "қолданба манифесі кодқа {} тақырыбын орнатуға рұқсат бермейді",
    ),
    (
        "an app may not set the header {}",
        "приложение не может задавать заголовок {}",
        "қолданба {} тақырыбын орната алмайды",
    ),
    ("a header is malformed", "заголовок составлен неверно", "тақырып қате құрылған"),
    ("the redirect is no URL", "перенаправление ведёт не на URL", "қайта бағыттау URL емес"),
    (
        "the redirect leads to another host",
        "перенаправление ведёт на другой хост",
        "қайта бағыттау басқа хосқа апарады",
    ),
    (
        "the redirect leads to a path where the code may not set the same headers",
        "перенаправление ведёт на путь, где код не может задавать те же заголовки",
        "қайта бағыттау код сол тақырыптарды орната алмайтын жолға апарады",
    ),
    ("{} redirects too often", "{} перенаправляет слишком много раз", "{} тым көп рет қайта бағыттайды"),
    (
        "{} redirects to no proper URL",
        "{} перенаправляет на неправильный URL",
        "{} қате URL мекенжайына қайта бағыттайды",
    ),
    (
        "{} leads to an address that may not be dialled",
        "{} ведёт на недоступный приложениям адрес",
        "{} қолданбаларға қолжетімсіз мекенжайға апарады",
    ),
    ("{} does not resolve", "имя {} не найдено в DNS", "{} атауы DNS жүйесінде табылмады"),
    ("{} has no address", "у имени {} нет адреса", "{} атауының мекенжайы жоқ"),
    (
        "{} took too long to connect",
        "соединение с {} не установлено вовремя",
        "{} хосымен байланыс уақытында орнатылмады",
    ),
    (
        "{} did not prove who it is",
        "{} не подтвердил подлинность сертификатом",
        "{} өз түпнұсқалығын сертификатпен растамады",
    ),
    ("{} cannot be reached", "{} недоступен", "{} қолжетімсіз"),
    (
        "{} broke off or did not speak HTTP",
        "{} прервал соединение или ответил не по HTTP",
        "{} байланысты үзді немесе HTTP бойынша жауап бермеді",
    ),
    (
        "{} answered with {}",
        "слишком большой или неправильный ответ от {}",
        "{} тым үлкен немесе қате жауап берді",
    ),
    ("{} took too long", "{} не ответил вовремя", "{} уақытында жауап бермеді"),
    ("the body is longer than {} bytes", "тело запроса длиннее {} байт", "сұрау денесі {} байттан ұзын"),
];

/// Returns how a run's message is shown beside the sentence about its cause. `is_host_named` is true if that sentence
/// names the host.
pub(super) fn translate_message(
    message: &str,
    cause: Cause,
    is_host_named: bool,
    locale: Locale,
) -> GateMessage {
    let sentence = message.trim();
    let sentence =
        ["Error: ", "TypeError: "].iter().find_map(|kind| sentence.strip_prefix(kind)).unwrap_or(sentence);
    let repeats =
        |(of, pattern): &(Cause, &str)| *of == cause && capture_placeholder(pattern, sentence).is_some();
    if (is_host_named || cause == Cause::PrivateAddress) && REDUNDANT_MESSAGES.iter().any(repeats) {
        return GateMessage::Redundant;
    }
    let translate = |(english, russian, kazakh): &TranslatedSentence| {
        let what = capture_placeholder(english, sentence)?;
        match locale {
            Locale::En => None,
            Locale::Ru => Some(russian.replace("{}", what)),
            Locale::Kk => Some(kazakh.replace("{}", what)),
        }
    };
    SENTENCES.iter().find_map(translate).map_or(GateMessage::Untranslated, GateMessage::Translated)
}

/// Returns the host that a message of the gate names, if the message is about a host alone.
pub(super) fn find_host(message: &str) -> Option<&str> {
    let sentence = message.trim();
    let sentence = sentence.strip_prefix("Error: ").unwrap_or(sentence);
    ["the app's manifest does not declare {}", "no open gate leads to {}"]
        .iter()
        .find_map(|pattern| capture_placeholder(pattern, sentence))
}

/// Returns the text in place of the first `{}` of a pattern, or an empty text if the pattern has none. Text after a
/// second `{}` is not compared.
fn capture_placeholder<'a>(pattern: &str, text: &'a str) -> Option<&'a str> {
    let mut parts = pattern.split("{}");
    let rest = text.strip_prefix(parts.next()?)?;
    let Some(after) = parts.next() else { return rest.is_empty().then_some("") };
    let (what, rest) = if after.is_empty() {
        (rest, "")
    } else {
        let at = rest.find(after)?;
        (rest.get(..at)?, rest.get(at + after.len()..)?)
    };
    let ends = parts.next().is_some() || rest.is_empty();
    let plain = !what.is_empty() && what.len() <= 300 && !what.contains('\n');
    (ends && plain).then_some(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_gate_is_translated_into_every_language() {
        for (english, russian, kazakh) in SENTENCES {
            let message = format!("Error: {}", english.replace("{}", "api.example"));
            for (locale, expected) in [(Locale::Ru, russian), (Locale::Kk, kazakh)] {
                let words = translate_message(&message, Cause::RequestRefused, true, locale);
                assert_eq!(
                    words,
                    GateMessage::Translated(expected.replace("{}", "api.example")),
                    "{english}"
                );
                let foreign =
                    expected.replace("{}", "").replace("URL", "").replace("https", "").replace("HTTP", "");
                let foreign = foreign.replace("DNS", "").replace("IP-", "");
                assert!(!foreign.contains(|c: char| c.is_ascii_alphabetic()), "{expected}");
            }
            assert_eq!(
                translate_message(&message, Cause::RequestRefused, true, Locale::En),
                GateMessage::Untranslated
            );
        }
    }

    #[test]
    fn a_message_that_the_cause_repeats_is_omitted() {
        let undeclared = "Error: the app's manifest does not declare api.example";
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            assert_eq!(
                translate_message(undeclared, Cause::HostUndeclared, true, locale),
                GateMessage::Redundant
            );
            assert_ne!(
                translate_message(undeclared, Cause::HostUndeclared, false, locale),
                GateMessage::Redundant
            );
            assert_ne!(
                translate_message(undeclared, Cause::UncaughtException, true, locale),
                GateMessage::Redundant
            );
            let other = "the manifest does not declare GET to api.example";
            assert_eq!(translate_message(other, Cause::MethodDenied, true, locale), GateMessage::Redundant);
            assert_eq!(
                translate_message("Error: no such order", Cause::UncaughtException, true, locale),
                GateMessage::Untranslated
            );
        }
        assert_eq!(find_host(undeclared), Some("api.example"));
        assert_eq!(find_host("Error: no open gate leads to a.example"), Some("a.example"));
        assert_eq!(find_host("Error: no such order"), None);
    }
}
