//! Names of browsers for people.

/// Returns a name such as `Firefox on Linux`, or the product name of an unknown program. Clients choose the header
/// `User-Agent` freely: no decision may depend on it.
#[must_use]
pub fn describe_user_agent(user_agent: &str) -> Option<String> {
    let has = |word: &str| user_agent.contains(word);
    // Browsers also name others for compatibility, so the most specific name comes first.
    let names = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("YaBrowser/", "Yandex Browser"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("HeadlessChrome/", "Chrome"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = [
        ("Windows", "Windows"),
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let find =
        |known: &[(&str, &'static str)]| known.iter().find(|(word, _)| has(word)).map(|(_, name)| *name);
    match (find(&names), find(&systems)) {
        (Some(name), Some(system)) => Some(format!("{name} on {system}")),
        (Some(name), None) => Some(name.to_owned()),
        _ => {
            let product = user_agent.split(['/', ' ', '(']).next().unwrap_or_default();
            let is_plain = (1..=40).contains(&product.len())
                && product.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
            is_plain.then(|| product.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_apart() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36";
        let edge = format!("{chrome} Edg/150.0");
        for (said, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                Some("Firefox on Linux"),
            ),
            (chrome, Some("Chrome on Linux")),
            (&edge, Some("Edge on Linux")),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1",
                Some("Safari on iPhone"),
            ),
            ("curl/8.5.0", Some("curl")),
            ("<script>alert(1)</script>", None),
            ("", None),
        ] {
            assert_eq!(describe_user_agent(said).as_deref(), name, "{said}");
        }
    }
}
