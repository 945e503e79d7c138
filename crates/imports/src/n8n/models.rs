//! Nodes that ask language models, and the models that belong to them.

use serde_json::Value;

use super::node::{Node, Nodes, readable};
use crate::{
    Grade, Sentence, javascript,
    workflow::{CONNECTION, Need, Translation},
};

/// Form of a provider's chat API.
enum Api {
    /// Chat completions in OpenAI's form.
    OpenAi,
    Anthropic,
    Gemini,
}

/// A provider by the type of its node: base URL, form of the API, model by default.
fn provider(kind: &str) -> Option<(&'static str, Api, &'static str)> {
    Some(match kind {
        "lmChatOpenAi" | "lmOpenAi" | "openAi" => ("https://api.openai.com/v1", Api::OpenAi, "gpt-4o-mini"),
        "lmChatGroq" => ("https://api.groq.com/openai/v1", Api::OpenAi, "llama3-8b-8192"),
        "lmChatMistralCloud" => ("https://api.mistral.ai/v1", Api::OpenAi, "mistral-small"),
        "lmChatOpenRouter" => ("https://openrouter.ai/api/v1", Api::OpenAi, "openai/gpt-4.1-mini"),
        "lmChatDeepSeek" => ("https://api.deepseek.com/v1", Api::OpenAi, "deepseek-chat"),
        "lmChatXAiGrok" => ("https://api.x.ai/v1", Api::OpenAi, "grok-2-vision-1212"),
        "lmChatAnthropic" => ("https://api.anthropic.com", Api::Anthropic, "claude-3-sonnet-20240229"),
        "lmChatGoogleGemini" => {
            ("https://generativelanguage.googleapis.com", Api::Gemini, "models/gemini-1.5-flash")
        }
        _ => return None,
    })
}

pub(super) fn translate(node: &Node<'_>, nodes: &Nodes<'_>) -> Option<Translation> {
    if node.kind.starts_with("lmChat") || node.kind.starts_with("lm") && nodes.is_sub_node(node) {
        return Some(model(node));
    }
    match node.kind {
        "chainLlm" => Some(chain(node, nodes)),
        "informationExtractor" => Some(extractor(node, nodes)),
        "textClassifier" | "sentimentAnalysis" => Some(classifier(node, nodes)),
        "openAi" => Some(open_ai(node)),
        "outputParserStructured" | "outputParserAutofixing" => {
            Some(Translation::apart(Grade::Partial, Sentence::SubStep))
        }
        "agent" => {
            let mut agent = Translation::unsupported(Sentence::UnknownType);
            agent.connection = None;
            Some(agent)
        }
        _ => None,
    }
}

/// A model by itself is a setting of the step that it belongs to.
fn model(node: &Node<'_>) -> Translation {
    match provider(node.kind) {
        Some(_) => Translation::apart(Grade::Partial, Sentence::SubStep).with_connection(need(node)),
        None => Translation::apart(Grade::Unsupported, Sentence::SubStepLost),
    }
}

fn need(node: &Node<'_>) -> Need {
    let base = provider(node.kind).map(|(base, ..)| base.to_owned());
    let mut need = node.need(None, readable(node.kind.trim_start_matches("lmChat")), base);
    need.methods.insert("POST".to_owned());
    need
}

/// Returns the lines that ask a model for `messages`, and leave its text in `answer`.
fn asking(node: &Node<'_>, messages: &str, model: &str, more: &str) -> Option<Vec<String>> {
    let (base, api, _) = provider(node.kind)?;
    let base = javascript::string(base);
    Some(vec![match api {
        Api::OpenAi => format!(
            "const answer = await chat({CONNECTION}, {{ base: {base}, model: {model}, messages: {messages}{more} }});"
        ),
        Api::Anthropic => format!(
            "const answer = await chatAnthropic({CONNECTION}, {{ base: {base}, model: {model}, messages: {messages} }});"
        ),
        Api::Gemini => format!(
            "const answer = await chatGemini({CONNECTION}, {{ base: {base}, model: {model}, messages: {messages} }});"
        ),
    }])
}

fn model_name(node: &Node<'_>) -> String {
    let default = provider(node.kind).map_or("", |(.., model)| model);
    let path = ["model", "modelName", "modelId", "chatModel"]
        .into_iter()
        .find(|path| node.get(path).is_some())
        .unwrap_or("model");
    node.code_or(path, &javascript::string(default))
}

fn options(node: &Node<'_>) -> String {
    let mut more = String::new();
    for (path, name) in [
        ("options.temperature", "temperature"),
        ("options.maxTokens", "max_tokens"),
        ("options.topP", "top_p"),
    ] {
        if node.get(path).is_some() {
            more.push_str(&format!(", {name}: {}", node.code(path)));
        }
    }
    more
}

fn chain(node: &Node<'_>, nodes: &Nodes<'_>) -> Translation {
    let Some(model) = nodes.part(node, "ai_languageModel").filter(|model| provider(model.kind).is_some())
    else {
        return Translation::unsupported(Sentence::Option("model"));
    };
    let prompt = match node.get("text").or_else(|| node.get("prompt")) {
        Some(value) if node.text("promptType") != Some("auto") => node.value_code(value),
        _ => "item.json.chatInput".to_owned(),
    };
    let mut messages = Vec::new();
    for message in node.list("messages.messageValues") {
        let Some(content) = message.get("message") else { continue };
        let role = match message.get("type").and_then(Value::as_str) {
            Some("AIMessagePromptTemplate") => "assistant",
            Some("HumanMessagePromptTemplate") => "user",
            _ => "system",
        };
        messages.push(format!("{{ role: '{role}', content: text({}) }}", node.value_code(content)));
    }
    messages.push(format!("{{ role: 'user', content: text({prompt}) }}"));
    let name = model_name(model);
    let asked = asking(model, &format!("[{}]", messages.join(", ")), &name, &options(model));
    for refused in model.take_refused() {
        node.refuse(refused);
    }
    let parses = nodes.part(node, "ai_outputParser").is_some();
    let result = match (parses, node.version >= 1.5) {
        (true, _) => "return { output: jsonIn(answer) };",
        (false, true) => "return { text: answer };",
        (false, false) => "return { response: { text: answer } };",
    };
    let mut lines = vec!["return eachAsync(items, async (item, index) => {".to_owned()];
    lines.extend(asked.into_iter().flatten().map(|line| format!("  {line}")));
    lines.extend([format!("  {result}"), "});".to_owned()]);
    Translation::exact(lines).partial(Sentence::Model).with_connection(need(model))
}

/// Returns the model that belongs to a node, if its provider is known.
fn model_of<'n, 'a>(node: &Node<'_>, nodes: &'n Nodes<'a>) -> Option<&'n Node<'a>> {
    nodes.part(node, "ai_languageModel").filter(|model| provider(model.kind).is_some())
}

/// Returns the lines that ask the model of a node with an instruction and a text, and leave its answer in `answer`.
fn instructed(node: &Node<'_>, model: &Node<'_>, instruction: &str, text: &str) -> Vec<String> {
    let messages =
        format!("[{{ role: 'system', content: {instruction} }}, {{ role: 'user', content: text({text}) }}]");
    let asked = asking(model, &messages, &model_name(model), &options(model));
    for refused in model.take_refused() {
        node.refuse(refused);
    }
    asked.unwrap_or_default()
}

/// Members of a text, as JSON.
fn extractor(node: &Node<'_>, nodes: &Nodes<'_>) -> Translation {
    let Some(model) = model_of(node, nodes) else {
        return Translation::unsupported(Sentence::Option("model"));
    };
    let schema = match node.text("schemaType") {
        Some("fromJson") => format!("an object like this one: ${{text({})}}", node.code("jsonSchemaExample")),
        Some("manual") => format!("JSON of this schema: ${{text({})}}", node.code("inputSchema")),
        _ => {
            let attributes =
                node.list("attributes.attributes").iter().map(|attribute| node.value_code(attribute));
            format!(
                "an object with these members: ${{JSON.stringify([{}])}}",
                attributes.collect::<Vec<_>>().join(", ")
            )
        }
    };
    let instruction =
        format!("`Answer with JSON only, and null for what the text does not say. Give {schema}`");
    let mut lines = vec!["return eachAsync(items, async (item, index) => {".to_owned()];
    lines.extend(
        instructed(node, model, &instruction, &node.code("text")).into_iter().map(|line| format!("  {line}")),
    );
    lines.extend(["  return { output: jsonIn(answer) };".to_owned(), "});".to_owned()]);
    Translation::exact(lines).partial(Sentence::Model).with_connection(need(model))
}

/// An output for each category.
fn classifier(node: &Node<'_>, nodes: &Nodes<'_>) -> Translation {
    let Some(model) = model_of(node, nodes) else {
        return Translation::unsupported(Sentence::Option("model"));
    };
    let (names, described): (Vec<String>, Vec<String>) = if node.kind == "sentimentAnalysis" {
        let categories = node.text("options.categories").unwrap_or("Positive, Neutral, Negative").split(',');
        categories.map(|name| (javascript::string(name.trim()), javascript::string(name.trim()))).unzip()
    } else {
        let part = |category: &Value, name: &str| {
            category.get(name).map_or_else(|| "''".to_owned(), |value| node.value_code(value))
        };
        let categories = node.list("categories.categories").iter();
        categories
            .map(|category| {
                let name = part(category, "category");
                (name.clone(), format!("`${{{name}}}: ${{{}}}`", part(category, "description")))
            })
            .unzip()
    };
    let instruction = format!(
        "`Answer with the name of one of these categories only:\\n${{[{}].join('\\n')}}`",
        described.join(", ")
    );
    let mut lines = vec![
        format!("const outputs = Array.from({{ length: {} }}, () => []);", names.len().clamp(1, 100)),
        "for (const [index, item] of items.entries()) {".to_owned(),
    ];
    lines.extend(
        instructed(node, model, &instruction, &node.code("inputText"))
            .into_iter()
            .map(|line| format!("  {line}")),
    );
    lines.push(format!(
        "  const output = [{}].findIndex((name) => answer.toLowerCase().includes(text(name).toLowerCase()));",
        names.join(", ")
    ));
    lines.extend(["  outputs[output]?.push(item);".to_owned(), "}".to_owned(), "return outputs;".to_owned()]);
    Translation::exact(lines).partial(Sentence::Model).with_connection(need(model))
}

/// OpenAI's own node, of both packages.
fn open_ai(node: &Node<'_>) -> Translation {
    let is_langchain = node.full_kind.contains("langchain");
    let resource = node.text("resource").unwrap_or("text");
    let operation = node.text("operation").unwrap_or(if is_langchain { "message" } else { "complete" });
    let list = match (is_langchain, resource, operation) {
        (true, "text", "message") => node.list("messages.values"),
        (false, "chat", "complete") => node.list("prompt.messages"),
        _ => {
            let translation = super::services::fill_in(node);
            return translation.with_connection(need(node));
        }
    };
    let messages: Vec<String> = list
        .iter()
        .map(|message| {
            let content =
                message.get("content").map_or_else(|| "''".to_owned(), |content| node.value_code(content));
            let role = message.get("role").map_or_else(|| "'user'".to_owned(), |role| node.value_code(role));
            format!("{{ role: {role}, content: text({content}) }}")
        })
        .collect();
    let mut more = options(node);
    let is_json = node.flag("jsonOutput", false);
    if is_json {
        more.push_str(", response_format: { type: 'json_object' }");
    }
    let asked =
        asking(node, &format!("[{}]", messages.join(", ")), &model_name(node), &more).unwrap_or_default();
    let content = if is_json { "jsonIn(answer)" } else { "answer" };
    let mut lines = vec!["return eachAsync(items, async (item, index) => {".to_owned()];
    lines.extend(asked.into_iter().map(|line| format!("  {line}")));
    lines.push(format!("  return {{ message: {{ role: 'assistant', content: {content} }} }};"));
    lines.push("});".to_owned());
    Translation::exact(lines).partial(Sentence::Model).with_connection(need(node))
}
