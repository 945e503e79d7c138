//! Every language that `js/numbers/00_options.js` carries, with every region and script that tags may have.

use super::*;

const SOURCE: &str = include_str!("../../../js/numbers/00_options.js");

/// Returns the languages of the script.
fn languages() -> Vec<&'static str> {
    let (_, list) = SOURCE.split_once("const LANGUAGES = new Set(").unwrap();
    let (list, _) = list.split_once(".split(").unwrap();
    let quoted = list.split('\'').skip(1).step_by(2);
    quoted.flat_map(str::split_whitespace).collect()
}

fn settings(style: &str) -> Vec<String> {
    let settings = [style, "USD", "symbol", "accounting", "auto", "always"];
    let digits = ["1", "fraction", "2", "2", "halfExpand", "false"];
    settings.into_iter().chain(digits).map(str::to_owned).collect()
}

#[test]
fn every_tag_of_a_language_has_all_texts_in_latin_digits() {
    let languages = languages();
    assert!(languages.len() > 80, "the list is gone");
    let letters = || ('A'..='Z').step_by(7);
    let regions: Vec<_> = letters().flat_map(|a| ('A'..='Z').map(move |b| format!("-{a}{b}"))).collect();
    let others = ["", "-IN", "-PK", "-AF", "-IR", "-EG", "-MM", "-BD", "-NP", "-LK", "-419", "-001"]
        .map(str::to_owned);
    let scripts = ["", "-Arab", "-Cyrl", "-Deva", "-Latn", "-Hant", "-Adlm", "-Beng", "-Mymr"];
    for language in languages {
        for script in scripts {
            for region in others.iter().chain(if script.is_empty() { &regions[..] } else { &[] }) {
                let tag = format!("{language}{script}{region}");
                for style in ["decimal", "percent", "currency"] {
                    let style = NumberStyle::parse(&settings(style)).unwrap();
                    let parts = number_parts(&tag, &style, "-1234567.891").unwrap();
                    let digits: String = parts
                        .iter()
                        .flat_map(|(_, text)| text.chars())
                        .filter(char::is_ascii_digit)
                        .collect();
                    assert!(digits == "123456789" || digits == "12345678910", "{tag}: {parts:?}");
                }
                let digits = Digits::parse(&settings("decimal")[6..]).unwrap();
                assert!(plural_category(&tag, true, &digits, "5").is_some(), "{tag}");
                let items = ["a", "b", "c"].map(str::to_owned);
                assert_eq!(list_separators(&tag, "disjunction", "short", &items).unwrap().len(), 4, "{tag}");
                assert!(relative_time(&tag, "narrow", false, "week", "-3").unwrap().contains('3'), "{tag}");
            }
        }
    }
}

#[test]
fn what_is_no_language_tag_has_no_text() {
    let style = NumberStyle::parse(&settings("decimal")).unwrap();
    for tag in [
        "",
        "e",
        "en-",
        "en-foo",
        "en-12",
        "de-1",
        "en-fonipa-fonipa",
        "en-US-GB",
        "en_US",
        "english",
        "en-\u{e9}",
    ] {
        assert!(!is_language_tag(tag), "{tag}");
        assert_eq!(number_parts(tag, &style, "1"), None, "{tag}");
    }
    for number in ["", "x", "1,5", "0x1", "1e99999", "--1"] {
        assert_eq!(number_parts("en", &style, number), None, "{number}");
    }
}
