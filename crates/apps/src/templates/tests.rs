use std::{collections::BTreeSet, path::Path};

use kernel::id::{ConnectionId, ProjectId};
use serde_json::json;

use super::*;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")
}

/// Choices with which a template can be filled in: its examples.
fn choices(
    template: &Template,
) -> (Option<ProjectId>, BTreeMap<String, ChosenConnection>, BTreeMap<String, Value>) {
    let project = (!template.tables.is_empty())
        .then(|| "proj_01h455vb4pex5vsknk084sn02q".parse::<ProjectId>().unwrap());
    let connections = template.connections.iter().map(|wanted| {
        let id = "conn_01h455vb4pex5vsknk084sn02q".parse::<ConnectionId>().unwrap();
        (wanted.name.clone(), ChosenConnection { id, connector: wanted.connectors[0].clone() })
    });
    let settings = template.settings.iter().map(|setting| (setting.name.clone(), setting.example.clone()));
    (project, connections.collect(), settings.collect())
}

fn fill(
    template: &Template,
    change: impl FnOnce(
        &mut Option<ProjectId>,
        &mut BTreeMap<String, ChosenConnection>,
        &mut BTreeMap<String, Value>,
    ),
) -> Result<FilledTemplate, InvalidTemplateInput> {
    let (mut project, mut connections, mut settings) = choices(template);
    change(&mut project, &mut connections, &mut settings);
    let input = FillTemplate {
        name: "My app",
        description: None,
        locale: kernel::Locale::En,
        timezone: "Asia/Almaty",
        project,
        connections: &connections,
        settings: &settings,
    };
    fill_template(template, &input)
}

#[test]
fn every_folder_is_a_template_with_its_files() {
    let folders: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "shared")
        .collect();
    let parsed: BTreeSet<String> = files::FILES
        .iter()
        .map(|file| {
            let template: Template =
                toml::from_str(file.template).unwrap_or_else(|error| panic!("{}: {error}", file.id));
            assert_eq!(template.id, file.id);
            template.id
        })
        .collect();
    assert_eq!(parsed, folders);
    assert!(templates().len() >= 12);
    for template in templates() {
        let readme = std::fs::read_to_string(folder().join(&template.id).join("README.md")).unwrap();
        assert_eq!(readme.lines().count(), 1, "{} has a line of README", template.id);
        assert_eq!(template.files().len(), template.shared.len() + 1, "{}", template.id);
        for text in [&template.name, &template.description].into_iter().chain(&template.steps) {
            let texts: BTreeSet<&str> = [text.en.as_str(), &text.ru, &text.kk].into();
            assert_eq!(texts.len(), 3, "{texts:?} is in three languages");
        }
    }
}

#[test]
fn every_template_can_be_filled_in_with_its_examples() {
    for template in templates() {
        let filled = fill(template, |_, _, _| ()).unwrap_or_else(|error| panic!("{}: {error}", template.id));
        assert_eq!(filled.manifest.name, "My app");
        assert_eq!(filled.automations.len(), template.automations.len());
        let has_settings = !template.settings.is_empty() || !template.connections.is_empty();
        assert_eq!(filled.files.contains_key(SETTINGS_FILE), has_settings, "{}", template.id);
        crate::versions::check_files(&filled.files).unwrap();
        for automation in &filled.automations {
            assert_eq!(automation.cron.is_some(), automation.trigger == TemplateTrigger::Schedule);
        }
    }
}

#[test]
fn hosts_of_settings_are_in_the_manifest() {
    let template = find_template("uptime-check").unwrap();
    let urls = json!(["https://b.example.com/x?y", "https://A.example.com", "https://b.example.com/z"]);
    let filled = fill(template, |_, _, settings| {
        settings.insert("urls".to_owned(), urls.clone());
    });
    let filled = filled.unwrap();
    let hosts: Vec<&str> = filled.manifest.permissions.egress.iter().map(|it| it.host.as_str()).collect();
    assert_eq!(hosts, ["a.example.com", "b.example.com"]);
    assert!(filled.files[SETTINGS_FILE].contains(&format!("  urls: {urls},\n")), "{:?}", filled.files);
    assert!(filled.files[SETTINGS_FILE].contains("  services: {\"chat\":\"slack\"},\n"));
}

#[test]
fn each_refusal_names_its_member() {
    let template = find_template("uptime-check").unwrap();
    let cases: [(&str, Value, &str); 14] = [
        ("urls", json!("https://a.example.com"), "settings.urls"),
        ("urls", json!([]), "settings.urls"),
        ("urls", json!(vec!["https://a.example.com"; 11]), "settings.urls"),
        ("urls", json!(["http://a.example.com"]), "settings.urls"),
        ("urls", json!(["https://a.example.com:8443/"]), "settings.urls"),
        ("urls", json!(["https://user@a.example.com/"]), "settings.urls"),
        ("urls", json!(["https://10.0.0.1/"]), "settings.urls"),
        ("urls", json!(["https://localhost/"]), "settings.urls"),
        ("urls", json!(["https://a.example.com\\@evil.example/"]), "settings.urls"),
        ("urls", json!([1]), "settings.urls"),
        ("channel", json!(" "), "settings.channel"),
        ("channel", json!("a\nb"), "settings.channel"),
        ("channel", json!("x".repeat(201)), "settings.channel"),
        ("__proto__", json!({}), "settings.__proto__"),
    ];
    for (name, value, field) in cases {
        let refused = fill(template, |_, _, settings| {
            settings.insert(name.to_owned(), value.clone());
        });
        assert_eq!(refused.unwrap_err().field, field, "{value}");
    }
    let refused = fill(template, |project, _, _| *project = None).unwrap_err();
    assert_eq!(refused.field, "projectId");
    let refused = fill(template, |_, connections, _| connections.clear()).unwrap_err();
    assert_eq!(refused.field, "connections.chat");
    let refused = fill(template, |_, connections, _| {
        connections.values_mut().for_each(|chosen| "stripe".clone_into(&mut chosen.connector));
    });
    assert!(refused.unwrap_err().message.contains("slack, telegram, discord"));
    let refused = fill(template, |_, connections, _| {
        let chat = connections["chat"].clone();
        connections.insert("mail".to_owned(), chat);
    });
    assert_eq!(refused.unwrap_err().field, "connections.mail");
    let none = find_template("short-links").unwrap();
    assert!(fill(none, |_, _, _| ()).is_ok());
}

#[test]
fn a_text_cannot_leave_its_place_in_the_settings() {
    let template = find_template("github-issues-to-chat").unwrap();
    let channel = r#""}; evil(); //\u2028 ${x} </script>"#;
    let filled = fill(template, |_, _, settings| {
        settings.insert("channel".to_owned(), json!(channel));
    });
    let file = &filled.unwrap().files[SETTINGS_FILE];
    assert!(file.contains(&format!("  channel: {},\n", json!(channel))), "{file}");
}
