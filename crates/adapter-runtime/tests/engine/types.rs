//! The types of the runtime that editors use, compared with the engine in both directions.

use std::collections::{BTreeMap, BTreeSet};

use runs::engine::HandlerCall;
use serde_json::{Value, json};

use crate::support::*;

const TYPES: &str = include_str!("../../../api/src/routes/docs/qala.d.ts");
const PAGE: &str = include_str!("../../../../docs/runtime.md");

/// Returns for each name the names of its members and of its static members; of an object it has no static ones. Members of a
/// class that has no global are those of the classes that extend it. Numbers of errors and phases are left out.
const MEMBERS: &str = "
    const strings = (keys) => keys.filter((key) => typeof key === 'string' && !/^[A-Z][A-Z_]*$/.test(key));
    const isGlobal = ({ constructor }) => globalThis[constructor.name] === constructor;
    const of = (value) => {
      if (typeof value === 'function') {
        const named = Object.getOwnPropertyNames(value).filter((key) => !['length', 'name', 'prototype'].includes(key));
        let { prototype } = value;
        const members = [];
        do {
          members.push(...Object.getOwnPropertyNames(prototype));
          prototype = Object.getPrototypeOf(prototype);
        } while (prototype !== null && !isGlobal(prototype));
        return [members.filter((key) => key !== 'constructor'), named];
      }
      const prototype = Object.getPrototypeOf(value);
      return [Reflect.ownKeys(value).concat(prototype === Object.prototype ? [] : Reflect.ownKeys(prototype)), []];
    };
    return event.data.map((name) => of(name.split('.').reduce((at, part) => at[part], globalThis)).map(strings));";

/// The members of a class or an object, and the static ones.
type Members = [BTreeSet<String>; 2];

/// Returns the name of a member, and whether it is static, from a line such as `readonly name: string;`.
fn member(line: &str) -> Option<(String, bool)> {
    let line = line.trim_start();
    let (line, is_static) = line.strip_prefix("static ").map_or((line, false), |rest| (rest, true));
    let line = line.strip_prefix("readonly ").unwrap_or(line);
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let is_member = end > 0 && line[end..].starts_with(['(', ':', '<', '?']) && &line[..end] != "constructor";
    is_member.then(|| (line[..end].to_owned(), is_static))
}

/// Returns the declared classes and objects, an object in another as `outer.inner`, and the names of the functions.
fn declared() -> (BTreeMap<String, Members>, BTreeSet<String>) {
    let mut found: BTreeMap<String, Members> = BTreeMap::new();
    let (mut functions, mut with_body) = (BTreeSet::new(), Vec::new());
    let mut path: Vec<String> = Vec::new();
    for line in TYPES.lines() {
        let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        match words[..] {
            ["declare", "class" | "const", name, ..] => {
                path = vec![name.to_owned()];
                found.entry(name.to_owned()).or_default();
                if let Some((_, inline)) = line.split_once("{ ") {
                    found.entry(name.to_owned()).or_default()[0]
                        .extend(inline.split("; ").filter_map(member).map(|(name, _)| name));
                }
                continue;
            }
            ["declare", "function", name, ..] => drop(functions.insert(name.to_owned())),
            ["interface", name, "extends", "Body", ..] => with_body.push(name.to_owned()),
            ["interface", "Body", ..] => {
                path = vec!["Body".to_owned()];
                continue;
            }
            _ => {}
        }
        if !line.starts_with(' ') {
            path.clear();
        } else if !path.is_empty() {
            if line.trim() == "};" {
                path.pop();
            } else if let Some((name, is_static)) = member(line) {
                found.entry(path.join(".")).or_default()[usize::from(is_static)].insert(name.clone());
                if line.ends_with('{') {
                    path.push(name);
                }
            }
        }
    }
    let [body, _] = found.remove("Body").unwrap();
    for name in with_body {
        found.get_mut(&name).unwrap()[0].extend(body.iter().cloned());
    }
    (found, functions)
}

async fn ask(code: &str, names: &[&String]) -> Value {
    let (result, _) = run_with(&engine(), &body(code), |invocation| {
        invocation.handler = HandlerCall::Scheduled(event(&json!(names)));
    })
    .await;
    result.unwrap()
}

#[tokio::test]
async fn every_member_is_declared_and_no_other() {
    let (classes, _) = declared();
    assert!(classes.len() > 35, "the declarations were not read: {:?}", classes.keys());
    let names: Vec<&String> = classes.keys().collect();
    // `self` is all of the globals.
    let names: Vec<&String> = names.into_iter().filter(|name| *name != "self").collect();
    let engine: Vec<Members> = serde_json::from_value(ask(MEMBERS, &names).await).unwrap();
    let mut wrong = Vec::new();
    for (name, there) in names.iter().zip(&engine) {
        for (declared, there) in classes[*name].iter().zip(there) {
            wrong.extend(declared.difference(there).map(|member| format!("{name}.{member} is not there")));
            wrong.extend(there.difference(declared).map(|member| format!("{name}.{member} is not declared")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_global_is_declared_and_no_other() {
    let (classes, functions) = declared();
    let names: Vec<&String> = classes.keys().filter(|name| !name.contains('.')).chain(&functions).collect();
    let absent = ask("return event.data.filter((name) => !(name in globalThis));", &names).await;
    assert_eq!(absent, json!([]), "declared, and not there");
    // The page is compared with the engine in both directions.
    let offered = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | yes |"));
    let of_language = |name: &str| name.contains('.') || ["globalThis", "Intl"].contains(&name);
    let missing: Vec<&str> = offered
        .map(|(name, _)| name)
        .filter(|name| !of_language(name) && !names.iter().any(|declared| declared == name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new(), "offered, and not declared");
}
