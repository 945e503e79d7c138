use std::collections::BTreeSet;

use kernel::Locale;

use super::*;
use crate::auth::AuthKind;

fn examples(entry: &CatalogueEntry) -> BTreeMap<String, String> {
    entry.fields.iter().map(|field| (field.name.clone(), field.example.clone())).collect()
}

fn secret_of(auth: &Auth) -> SecretString {
    SecretString::from(match auth.kind() {
        AuthKind::Headers => r#"{"apikey":"k","authorization":"Bearer k"}"#,
        AuthKind::Url => "https://hooks.example.com/x",
        AuthKind::ServiceAccount => {
            r#"{"client_email":"a@b.example","private_key":"-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n"}"#
        }
        _ => "s3cret",
    })
}

#[test]
fn every_file_of_the_folder_is_embedded_and_parses() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/catalog");
    let names: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            file.unwrap().file_name().into_string().unwrap().strip_suffix(".toml").unwrap().to_owned()
        })
        .collect();
    let embedded: BTreeSet<String> = files::FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names, embedded);
    for (name, text) in files::FILES {
        let entry: CatalogueEntry = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(entry.id, *name);
    }
    assert_eq!(catalogue().len(), names.len());
    let labels: BTreeSet<&str> = catalogue().iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(labels.len(), catalogue().len(), "names are unique");
}

#[test]
fn every_entry_makes_a_connection_from_its_examples() {
    for entry in catalogue() {
        let name = &entry.id;
        assert!((1..=3).contains(&entry.monogram.chars().count()) && !entry.regions.is_empty(), "{name}");
        assert!(entry.docs_url.starts_with("https://") && entry.fields.len() <= MAX_FIELDS, "{name}");
        for locale in Locale::ALL {
            let steps = entry.guide.get(locale);
            assert!((1..=MAX_GUIDE_STEPS).contains(&steps.len()), "{name} {locale}");
            assert_eq!(steps.len(), entry.guide.en.len(), "{name} {locale}");
            assert!(steps.iter().all(|step| step.ends_with('.')), "{name} {locale}");
        }
        let capabilities = entry.actions.iter().chain(&entry.triggers).map(|it| &it.name);
        for text in capabilities.chain(entry.fields.iter().map(|field| &field.label)) {
            for locale in Locale::ALL {
                let text = text.get(locale);
                assert!((1..=60).contains(&text.chars().count()) && !text.ends_with('.'), "{name}: {text}");
            }
        }
        for locale in Locale::ALL {
            let summary = entry.summary.get(locale);
            assert!(
                (1..=160).contains(&summary.chars().count()) && summary.ends_with('.'),
                "{name}: {summary}"
            );
        }
        assert_eq!(entry.connector_id.is_none(), entry.status == CatalogueStatus::Planned, "{name}");
        let Some(http) = &entry.http else {
            assert!(matches!(name.as_str(), "http" | "kaspi"), "{name}");
            continue;
        };
        assert_eq!(find_connector(name), Some(entry));
        let values = entry.check_values(&examples(entry)).unwrap();
        let auth = Auth::parse(fill_auth(&http.auth, &values)).unwrap();
        let secret = (auth.kind() != AuthKind::AuthorizationCode).then(|| secret_of(&auth));
        let made = entry
            .http_connection(&values, secret.as_ref(), None)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(made.base_url.as_str().starts_with("https://"), "{name}");
        assert_eq!(made.test_path.is_some(), http.check == TestKind::Gate, "{name}");
        if let Some(path) = &made.test_path {
            let path = path.split('?').next().unwrap();
            assert!(
                crate::request_path::is_under(path, &made.path_prefix)
                    && !crate::request_path::is_ambiguous(path),
                "{name}"
            );
            assert!(!path.contains('{'), "{name}");
        }
        assert_eq!(entry.oauth.is_some(), auth.kind() == AuthKind::AuthorizationCode, "{name}");
        for url in entry.oauth.iter().flat_map(|oauth| {
            [&oauth.authorize_url, &oauth.token_url].into_iter().chain(&oauth.revocation_url)
        }) {
            assert!(crate::auth::ServiceUrl::parse(&Field::AuthTokenUrl, url).is_ok(), "{name}: {url}");
        }
        let word = match auth.kind() {
            AuthKind::Basic => CatalogueAuth::Basic,
            AuthKind::Url => CatalogueAuth::WebhookUrl,
            AuthKind::ServiceAccount => CatalogueAuth::ServiceAccount,
            AuthKind::ClientCredentials | AuthKind::AuthorizationCode => CatalogueAuth::Oauth2,
            _ if matches!(name.as_str(), "telegram" | "slack" | "discord" | "whatsapp") => {
                CatalogueAuth::BotToken
            }
            _ => CatalogueAuth::ApiKey,
        };
        assert_eq!(entry.auth, word, "{name}");
    }
}

#[test]
fn a_value_stays_in_its_label_or_segment() {
    let refused = |connector: &str, field: &str, value: &str| {
        let entry = find_connector(connector).unwrap();
        let mut values = examples(entry);
        values.insert(field.to_owned(), value.to_owned());
        entry.check_values(&values).map_or_else(|error| error.field.to_string(), |_| "ok".to_owned())
    };
    for value in [
        "",
        "evil.example/",
        "a.b",
        "evil.example#",
        "a@b",
        "a:b",
        "-a",
        "a-",
        "a/b",
        "a?b",
        "a\\b",
        "a\r\nb",
        "{secret}",
        "ж",
        "a%2e",
        &"x".repeat(64),
    ] {
        assert_eq!(refused("shopify", "shop", value), "values.shop", "{value}");
    }
    for value in ["", ".", "..", "a/b", "a%2fb", "{path}", "a?b", &"x".repeat(129)] {
        assert_eq!(refused("twilio", "sid", value), "values.sid", "{value}");
    }
    for value in ["127.0.0.1", "localhost", "a.internal", "evil.example/x", "a.example:22", "u@a.example"] {
        assert_eq!(refused("gitlab", "host", value), "values.host", "{value}");
    }
    for value in ["evil.example", "api.sendgrid.com.evil.example", ""] {
        assert_eq!(refused("sendgrid", "host", value), "values.host", "{value}");
    }
    for value in ["a:b@c.example", "a", "@c.example", "a@127.0.0.1", "a@b.example\r\n"] {
        assert_eq!(refused("jira", "email", value), "values.email", "{value}");
    }
    assert_eq!(refused("shopify", "shop", "Example-1"), "ok");
}

#[test]
fn values_that_no_field_declares_are_refused_by_name() {
    let entry = find_connector("stripe").unwrap();
    let values: BTreeMap<_, _> =
        (0..250).map(|number| (format!("field_{number:03}"), "x".to_owned())).collect();
    let error = entry.check_values(&values).unwrap_err();
    assert_eq!(error.to_string(), "`values.field_000` is not a field of this connector");
    let missing = find_connector("shopify").unwrap().check_values(&BTreeMap::new()).unwrap_err();
    assert_eq!(missing.to_string(), "`values.shop` is required");
}
