//! Sentences and their tokens: quoted texts, hosts, numbers, times and words.

use chrono_tz::Tz;

use crate::manifest::{EgressMethod, is_host};

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A word in lower case, with `е` for `ё`; `raw` is as it was written.
    Word {
        text: String,
        raw: String,
    },
    Quoted(String),
    Host {
        host: String,
        has_path: bool,
    },
    /// A method of HTTP in capitals.
    Method(EgressMethod),
    Number(f64),
    /// Digits, a comma and digits without blanks: one number where the comma is a decimal sign, two elsewhere.
    CommaPair {
        decimal: Box<Token>,
        pair: Box<[Token; 2]>,
    },
    Ordinal(u32),
    /// Hour and minute.
    Clock(u32, u32),
    /// US dollars.
    Money(f64),
    /// A time zone of the IANA database.
    Zone(&'static str),
    Comma,
}

/// A sentence.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sentence {
    /// The sentence as it was written.
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    pub(super) is_question: bool,
}

/// Marks that open a quoted text, with those that close it.
const QUOTES: [(char, &[char]); 7] = [
    ('"', &['"']),
    ('\'', &['\'']),
    ('`', &['`']),
    ('“', &['”']),
    ('«', &['»']),
    ('„', &['“', '”']),
    ('‘', &['’']),
];

/// Splits a text at full stops, semicolons, exclamation and question marks, and line feeds, none of them in quotes.
pub(super) fn split_sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    for line in text.lines() {
        split_line(strip_bullet(line), &mut found);
    }
    found
}

/// Removes the mark of an item of a list.
fn strip_bullet(line: &str) -> &str {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–']).filter(|rest| rest.starts_with(' ')) {
        return rest;
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match line[digits..].strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' ')) {
        Some(rest) if (1..=2).contains(&digits) => rest,
        _ => line,
    }
}

fn split_line(line: &str, found: &mut Vec<Sentence>) {
    let mut sentence = Sentence::default();
    let (mut start, mut at) = (0, 0);
    let mut end = |sentence: &mut Sentence, start: &mut usize, at: usize| {
        let done = std::mem::take(sentence);
        if !done.tokens.is_empty() {
            found.push(Sentence { text: line[*start..at].trim().to_owned(), ..done });
        }
        *start = at;
    };
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if let Some((text, length)) = quoted(rest) {
            sentence.tokens.push(Token::Quoted(text.to_owned()));
            at += length;
        } else if first == ',' {
            sentence.tokens.push(Token::Comma);
            at += 1;
        } else if let Some((token, length)) = comma_pair(rest).filter(|_| !line[..at].ends_with(',')) {
            sentence.tokens.push(token);
            at += length;
        } else if matches!(first, ';' | '!' | '?' | '…' | '.') {
            at += first.len_utf8();
            sentence.is_question |= first == '?';
            end(&mut sentence, &mut start, at);
        } else {
            let word = next_word(rest);
            sentence.tokens.push(classify(word));
            at += word.len();
        }
    }
    end(&mut sentence, &mut start, line.len());
}

/// Returns the quoted text at the start, and the bytes that it takes with its marks.
fn quoted(rest: &str) -> Option<(&str, usize)> {
    let first = rest.chars().next()?;
    let (_, closing) = QUOTES.iter().find(|(opening, _)| *opening == first)?;
    let inner = &rest[first.len_utf8()..];
    let (end, mark) = inner.char_indices().find(|(_, c)| closing.contains(c))?;
    Some((inner[..end].trim(), first.len_utf8() + end + mark.len_utf8()))
}

/// Returns the word at the start, without the marks that end a sentence.
fn next_word(rest: &str) -> &str {
    let is_url = rest.starts_with("http://") || rest.starts_with("https://");
    let ends = |c: char| {
        c.is_whitespace()
            || (!is_url && matches!(c, ',' | ';' | '!' | '?' | '…'))
            || QUOTES.iter().any(|(opening, _)| *opening == c && c != '\'')
    };
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let word = &rest[..rest[first..].find(ends).map_or(rest.len(), |end| first + end)];
    let trimmed = word.trim_end_matches(['.', ',', ';', '!', '?']);
    if trimmed.is_empty() { &word[..first] } else { trimmed }
}

/// Returns the numbers at the start that only a comma separates, and the bytes that they take. Three of them are a list.
fn comma_pair(rest: &str) -> Option<(Token, usize)> {
    let whole = next_word(rest);
    let digits = whole.strip_prefix('$').unwrap_or(whole);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let after =
        rest[whole.len()..].strip_prefix(',').filter(|it| it.starts_with(|c: char| c.is_ascii_digit()))?;
    let fraction = next_word(after);
    let mut following = after[fraction.len()..].chars();
    if following.next() == Some(',') && following.next().is_some_and(|c| c.is_ascii_digit()) {
        return None;
    }
    let decimal = number(&format!("{whole}.{fraction}").to_lowercase())?;
    matches!(decimal, Token::Number(_) | Token::Money(_)).then(|| {
        let pair = Box::new([classify(whole), classify(fraction)]);
        let token = Token::CommaPair { decimal: Box::new(decimal), pair };
        (token, whole.len() + 1 + fraction.len())
    })
}

fn classify(word: &str) -> Token {
    let method = (word.bytes().all(|byte| byte.is_ascii_uppercase())).then(|| word.parse().ok()).flatten();
    let lower = word.to_lowercase().replace('ё', "е");
    method
        .map(Token::Method)
        .or_else(|| zone(word).map(Token::Zone))
        .or_else(|| number(&lower))
        .or_else(|| host(&lower))
        .unwrap_or_else(|| Token::Word { text: lower, raw: word.to_owned() })
}

/// Reads the name of a time zone: one with an area, as `Asia/Almaty`, or UTC.
fn zone(word: &str) -> Option<&'static str> {
    if word == "UTC" || word == "GMT" {
        return Some("UTC");
    }
    word.contains('/').then(|| word.parse::<Tz>().ok()).flatten().map(Tz::name)
}

/// Reads a host, or the address of a page on one. An address with a port, a user or a password is none: a manifest cannot
/// name them.
fn host(word: &str) -> Option<Token> {
    let rest = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://")).unwrap_or(word);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    is_host(host).then(|| Token::Host { host: host.to_owned(), has_path: !matches!(path, "" | "/") })
}

/// Reads what begins with a digit or a dollar sign: a number, an ordinal, a time of day or an amount.
fn number(word: &str) -> Option<Token> {
    if let Some(amount) = word.strip_prefix('$') {
        return parse_number(amount).map(Token::Money);
    }
    let end = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.')).unwrap_or(word.len());
    let (head, tail) = word.split_at(end);
    let tail = tail.trim_start_matches('-');
    let is_locative = matches!(tail, "да" | "де" | "та" | "те");
    if let Some((hour, minute)) = head.split_once(':') {
        let (hour, minute) = (hour.parse().ok()?, (minute.len() == 2).then(|| minute.parse().ok())??);
        return clock(hour, minute, if is_locative { "" } else { tail });
    }
    let number = parse_number(head)?;
    let whole = (number.fract() == 0.0 && number <= 1e6).then_some(number as u32);
    match tail {
        "" | "ке" | "ге" | "ға" | "қа" => Some(Token::Number(number)),
        "$" | "usd" => Some(Token::Money(number)),
        "am" | "pm" | "да" | "де" | "та" | "те" => {
            clock(whole?, 0, if is_locative { "" } else { tail })
        }
        "st" | "nd" | "rd" | "th" | "го" | "ого" | "е" | "ое" | "й" | "і" | "ы" | "ші" | "шы" | "інші"
        | "ншы" | "нші" | "ыншы" => whole.map(Token::Ordinal),
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.bytes().filter(|byte| *byte == b'.').count() <= 1
        && text.len() <= 9;
    is_plain.then(|| text.parse().ok()).flatten()
}

fn clock(hour: u32, minute: u32, tail: &str) -> Option<Token> {
    let hour = match tail {
        "" if hour < 24 => hour,
        "am" | "pm" => to_24_hours(hour, tail == "pm")?,
        _ => return None,
    };
    (minute < 60).then_some(Token::Clock(hour, minute))
}

/// Converts an hour of the 12-hour clock.
pub(super) fn to_24_hours(hour: u32, after_noon: bool) -> Option<u32> {
    (1..=12).contains(&hour).then(|| hour % 12 + if after_noon { 12 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let sentences = split_sentences(text);
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        sentences[0].tokens.clone()
    }

    #[test]
    fn numbers_times_and_amounts_are_told_apart() {
        for (text, expected) in [
            ("15", Token::Number(15.0)),
            ("0.5", Token::Number(0.5)),
            ("1st", Token::Ordinal(1)),
            ("1-го", Token::Ordinal(1)),
            ("9:30", Token::Clock(9, 30)),
            ("9:30-да", Token::Clock(9, 30)),
            ("9-да", Token::Clock(9, 0)),
            ("12am", Token::Clock(0, 0)),
            ("9pm", Token::Clock(21, 0)),
            ("$20", Token::Money(20.0)),
            ("20$", Token::Money(20.0)),
            ("UTC", Token::Zone("UTC")),
            ("Asia/Almaty", Token::Zone("Asia/Almaty")),
            ("DELETE", Token::Method(EgressMethod::Delete)),
            ("«Заказы, и ещё»", Token::Quoted("Заказы, и ещё".to_owned())),
        ] {
            assert_eq!(tokens(text), [expected], "{text}");
        }
        for text in ["25:00", "9:5", "13pm", "24-да", "5%", "1.2.3", "delete", "Mars/Base"] {
            assert!(matches!(tokens(text)[..], [Token::Word { .. }]), "{text}: {:?}", tokens(text));
        }
    }

    #[test]
    fn a_comma_without_blanks_may_be_a_decimal_sign() {
        for (text, expected) in [
            ("1,5", Token::Number(1.5)),
            ("1,50-ге", Token::Number(1.5)),
            ("0,25.", Token::Number(0.25)),
            ("$12,50", Token::Money(12.5)),
            ("12,50$", Token::Money(12.5)),
        ] {
            let [Token::CommaPair { decimal, .. }] = &tokens(text)[..] else { panic!("{:?}", tokens(text)) };
            assert_eq!(**decimal, expected, "{text}");
        }
        for text in [
            "1, 5",
            "1,2,3",
            "9:00,18",
            "9,18:00",
            "9,18-да",
            "1,2.5",
            "1,5-го",
            "1-го,5",
            "1.5,2",
            "1,a",
            "a,1,2",
        ] {
            let found = tokens(text);
            assert!(!found.iter().any(|token| matches!(token, Token::CommaPair { .. })), "{text}: {found:?}");
            assert!(found.contains(&Token::Comma), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_host_is_a_name_without_port_user_and_other_letters() {
        for (text, has_path) in [
            ("API.example.com", false),
            ("https://api.example.com/", false),
            ("https://api.example.com/v1?x=1,2", true),
            ("api.example.com/v1", true),
        ] {
            assert_eq!(
                tokens(text),
                [Token::Host { host: "api.example.com".to_owned(), has_path }],
                "{text}"
            );
        }
        for text in [
            "https://user:pass@api.example.com",
            "api.example.com:8080",
            "*.example.com",
            "10.0.0.1",
            "localhost",
            "аpi.example.com",
            "example.com\u{200b}",
        ] {
            assert!(matches!(tokens(text)[..], [Token::Word { .. }]), "{text}: {:?}", tokens(text));
        }
    }

    #[test]
    fn sentences_end_at_marks_outside_quotes() {
        let sentences = split_sentences("Allow a.example. Name it \"A. B; C\"; is it on?\n- one\n2. two");
        let texts: Vec<&str> = sentences.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["Allow a.example.", "Name it \"A. B; C\";", "is it on?", "one", "two"]);
        assert_eq!(
            sentences.iter().map(|it| it.is_question).collect::<Vec<_>>(),
            [false, false, true, false, false]
        );
        assert_eq!(split_sentences(" \n..\n;").len(), 0);
    }
}
