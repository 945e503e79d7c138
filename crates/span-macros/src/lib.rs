//! The attribute [`macro@traced`], which gives each async method of a trait's implementation a span.
//!
//! A repository has hundreds of methods. Written once for each implementation, the attribute leaves none of them out, and
//! none of them can take a value into its span that must not be there.

use proc_macro::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// The type whose argument becomes the field `workspace`.
const WORKSPACE_TYPE: &str = "WorkspaceId";

/// Gives each `async fn` of an `impl Trait for Type` a span at debug level, named `Trait::method`.
///
/// An argument of the type `WorkspaceId` is its field `workspace`; no other argument is recorded. An error of a method that
/// returns a `Result` is an event of the span at debug level. A span that nobody collects costs a comparison.
///
/// Stands above `#[async_trait]`. The crate that uses it depends on `tracing`.
#[proc_macro_attribute]
pub fn traced(_: TokenStream, implementation: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = implementation.into_iter().collect();
    let name = trait_name(&tokens);
    if let (Some(name), Some(TokenTree::Group(body))) = (name, tokens.pop()) {
        let mut traced = Group::new(body.delimiter(), trace_methods(body.stream(), &name));
        traced.set_span(body.span());
        tokens.push(TokenTree::Group(traced));
        return tokens.into_iter().collect();
    }
    r#"compile_error!("`traced` stands on an implementation of a trait");"#.parse().unwrap_or_default()
}

/// The last name before `for`.
fn trait_name(tokens: &[TokenTree]) -> Option<String> {
    let position = tokens.iter().position(|token| is_ident(token, "for"))?;
    tokens[..position].iter().rev().find_map(ident).map(Ident::to_string)
}

fn trace_methods(body: TokenStream, trait_name: &str) -> TokenStream {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut traced = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        if let Some(method) = Method::read(&tokens[at..]) {
            traced.extend(method.attribute(trait_name));
        }
        traced.push(token.clone());
    }
    traced.into_iter().collect()
}

/// Parts of a method that its span depends on.
struct Method {
    name: String,
    /// Name of the argument that is a workspace's id.
    workspace: Option<String>,
    is_fallible: bool,
}

impl Method {
    /// Reads a method that begins with these tokens.
    fn read(tokens: &[TokenTree]) -> Option<Self> {
        let [keyword, function, name, rest @ ..] = tokens else { return None };
        if !is_ident(keyword, "async") || !is_ident(function, "fn") {
            return None;
        }
        let is_group = |token: &TokenTree, delimiter| matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter);
        let arguments = rest.iter().position(|token| is_group(token, Delimiter::Parenthesis))?;
        let body = rest.iter().position(|token| is_group(token, Delimiter::Brace))?;
        let TokenTree::Group(group) = &rest[arguments] else { return None };
        Some(Self {
            name: ident(name)?.to_string(),
            workspace: workspace_argument(group.stream()),
            is_fallible: rest[arguments..body]
                .iter()
                .find_map(ident)
                .is_some_and(|first| first.to_string() == "Result"),
        })
    }

    fn attribute(&self, trait_name: &str) -> TokenStream {
        let fields = self.workspace.as_ref().map(|name| format!(", fields(workspace = %{name})"));
        let (fields, name) = (fields.unwrap_or_default(), &self.name);
        let error = if self.is_fallible { r#", err(level = "debug")"# } else { "" };
        let attribute = format!(
            r#"#[::tracing::instrument(level = "debug", name = "{trait_name}::{name}", skip_all{fields}{error})]"#
        );
        attribute.parse().unwrap_or_default()
    }
}

/// The argument `name: WorkspaceId`.
fn workspace_argument(arguments: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = arguments.into_iter().collect();
    tokens.windows(3).enumerate().find_map(|(at, window)| {
        let [name, colon, kind] = window else { return None };
        let is_argument = matches!(colon, TokenTree::Punct(punct) if punct.as_char() == ':')
            && is_ident(kind, WORKSPACE_TYPE)
            && matches!(tokens.get(at + 3), None | Some(TokenTree::Punct(_)));
        is_argument.then(|| ident(name).map(Ident::to_string))?
    })
}

fn ident(token: &TokenTree) -> Option<&Ident> {
    match token {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

fn is_ident(token: &TokenTree, text: &str) -> bool {
    ident(token).is_some_and(|ident| ident.to_string() == text)
}
