//! Short texts that some people write and others read: names, titles, labels.
//!
//! A name stands in lists, e-mails and the contexts of models. With a line feed it can begin a paragraph of its own there;
//! with invisible characters and those that change the writing direction it can look like another name.

/// Returns true if a text has visible characters and spaces only, on one line.
#[must_use]
pub fn is_visible_line(text: &str) -> bool {
    let mut previous = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if !is_visible(previous, character, characters.peek().copied()) {
            return false;
        }
        previous = Some(character);
    }
    true
}

/// Returns true if each line of a text has visible characters and spaces only. Lines end with line feeds.
#[must_use]
pub fn is_visible_text(text: &str) -> bool {
    text.split('\n').all(is_visible_line)
}

/// Returns a text on one line, without what [`is_visible_line`] refuses. For names that nobody can correct, such as those
/// that other systems send.
#[must_use]
pub fn to_visible_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if is_line_break(character) || character == '\t' {
            line.push(' ');
        } else if is_visible(line.chars().next_back(), character, characters.peek().copied()) {
            line.push(character);
        }
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true for a character that is never seen and has no place in an e-mail address.
#[must_use]
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || is_line_break(character)
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn is_line_break(character: char) -> bool {
    matches!(character, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true for a character that is seen where it stands. Joiners and variation selectors are, in scripts and signs that
/// have them.
fn is_visible(previous: Option<char>, character: char, next: Option<char>) -> bool {
    match character {
        '\u{200c}' | '\u{200d}' => {
            previous.is_some_and(is_of_joining_script) && next.is_some_and(is_of_joining_script)
        }
        '\u{fe0e}' | '\u{fe0f}' => {
            previous.is_some_and(|previous| is_sign(previous) || "#*0123456789".contains(previous))
        }
        // Variants of ideographs.
        '\u{e0100}'..='\u{e01ef}' => previous.is_some_and(is_ideograph),
        other => !is_invisible(other),
    }
}

/// Returns true for characters of scripts in which joiners change what is seen, and of signs that are joined.
fn is_of_joining_script(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fe0f}') || is_sign(character)
}

fn is_sign(character: char) -> bool {
    matches!(character, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
        && !is_invisible(character)
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_scripts_are_visible() {
        for name in [
            "",
            "Acme & Sons, «Тулпар» №1",
            "Әйгерім Нұрланқызы",
            "José",
            "Jose\u{301}",
            "株式会社\u{3000}例",
            "葛\u{e0100}城",
            "שלום",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            "👩\u{200d}💻 Team ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            "🇰🇿 🏳\u{fe0f}\u{200d}🌈",
            "a\u{a0}b",
        ] {
            assert!(is_visible_line(name), "{name:?}");
            assert_eq!(to_visible_line(name), name.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        assert!(is_visible_text("one\n\ntwo"));
    }

    #[test]
    fn line_breaks_directions_and_invisible_characters_are_not() {
        for (name, cleaned) in [
            ("A\nBcc: x@y", "A Bcc: x@y"),
            ("A\r\n\r\nB", "A B"),
            ("A\tB", "A B"),
            ("A\u{b}B\u{c}C\u{85}D", "A B C D"),
            ("A\u{2028}B\u{2029}C", "A B C"),
            ("A\u{202e}B txt.exe", "AB txt.exe"),
            ("\u{2066}A\u{2069}", "A"),
            ("A\u{200e}\u{200f}\u{61c}B", "AB"),
            ("A\u{200b}B", "AB"),
            ("A\u{200d}B", "AB"),
            ("А\u{200d}Б", "АБ"),
            ("\u{200d}", ""),
            ("👩\u{200d}", "👩"),
            ("A\u{2060}\u{feff}\u{ad}\u{34f}B", "AB"),
            ("A\u{fe0f}", "A"),
            ("A\u{e0041}\u{e0042}", "A"),
            ("\u{3164}\u{115f}\u{2800}\u{ffa0}", ""),
            ("A\u{180e}B\u{fff9}C", "ABC"),
            ("a\0b\u{7f}c\u{9b}d", "abcd"),
        ] {
            assert!(!is_visible_line(name), "{name:?}");
            assert!(!is_visible_text(&name.replace('\n', "\u{200b}")), "{name:?}");
            assert_eq!(to_visible_line(name), cleaned, "{name:?}");
            assert!(is_visible_line(&to_visible_line(name)));
        }
    }
}
