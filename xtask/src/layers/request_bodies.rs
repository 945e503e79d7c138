//! Bodies of requests that are received on rights that nobody proves again.
//!
//! The sender decides how long a body takes, and the caller's rights may end meanwhile. So what receives one asks for a
//! `ProveAgain` (`crates/application/src/late_proof.rs`), and only a few files receive bodies at all: no other takes a body apart,
//! and no handler has an extractor of axum that would. Only listed files implement `ProveAgain`, or say that a request has no caller
//! whose rights could end.

use std::collections::BTreeMap;

use syn::{
    Expr, ExprAwait, ExprCall, ExprMethodCall, FnArg, Item, Signature, Type,
    visit::{self, Visit},
};

use super::imports::{is_test_only, item_attributes};

/// Files that receive bodies, with a proof that is made after them. The last one reads bodies of responses.
const RECEIVERS: [&str; 4] = [
    "api/http/extract/payload.rs",
    "api/http/extract/spool.rs",
    "mcp/transport.rs",
    "api/http/compression.rs",
];

/// Files that receive bodies of requests without a caller, each with the reason.
const WITHOUT_CALLER: [(&str, &str); 7] = [
    ("api/auth/ctx.rs", "the caller is anonymous"),
    ("api/http/extract/form.rs", "has the extractor"),
    ("api/http/extract/payload.rs", "has the function"),
    ("api/routes/app_proxy/forward.rs", "visitors of apps have no rights here"),
    ("api/routes/oauth/form.rs", "the form has the client's proof"),
    ("api/routes/oauth/register.rs", "anybody may register a client"),
    ("api/routes/oidc/callback_form.rs", "a redirect brings it back with the cookie"),
];

/// Files that implement the proof.
const PROVERS: [&str; 1] = ["api/routes/rest/caller.rs"];

/// Calls that take a body apart.
const READS: [&str; 6] =
    ["into_body", "into_data_stream", "into_limited_body", "to_bytes", "with_limited_body", "Limited"];

/// Methods of bodies that are awaited; others of these names are not.
const AWAITED_READS: [&str; 2] = ["collect", "frame"];

/// Extractors of axum that receive a body.
const EXTRACTORS: [&str; 7] = ["Body", "Bytes", "Json", "Multipart", "RawForm", "String", "Vec"];

/// Functions that receive a body without a proof to make again.
const ANONYMOUS: [&str; 3] = ["AnonymousForm", "of_nobody", "read_anonymous_body"];

/// Checks the sources of the surfaces, by the path of each file.
pub(super) fn check(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut broken = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("api/") || path.starts_with("mcp/"))
    {
        // A file that does not parse is reported with its imports.
        let Ok(file) = syn::parse_file(text) else { continue };
        let mut found = Found::default();
        found.visit_file(&file);
        if !RECEIVERS.contains(&path.as_str()) {
            broken.extend(found.reads.iter().map(|read| format!("{path}: `{read}` takes a body apart")));
        }
        broken.extend(found.extractors.iter().map(|name| format!("{path}: `{name}` extracts a body")));
        if !PROVERS.contains(&path.as_str()) {
            broken.extend(found.proofs.iter().map(|of| format!("{path}: `{of}` implements ProveAgain")));
        }
        if !WITHOUT_CALLER.iter().any(|(file, _)| file == path) {
            let anonymous = found.anonymous.iter();
            broken.extend(anonymous.map(|name| format!("{path}: `{name}` asks for no caller")));
        }
    }
    broken
}

#[derive(Default)]
struct Found {
    reads: Vec<String>,
    extractors: Vec<String>,
    anonymous: Vec<String>,
    proofs: Vec<String>,
}

/// Returns the name of a type without its path.
fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test_only(item_attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let implemented = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        if implemented.is_some_and(|name| name.ident == "ProveAgain") {
            self.proofs.push(type_name(&item.self_ty).unwrap_or_else(|| "a type without a name".to_owned()));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        let types = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(input) => type_name(&input.ty),
            FnArg::Receiver(_) => None,
        });
        let types: Vec<String> = types.collect();
        // Handlers take the state.
        if types.iter().any(|name| name == "State") {
            self.extractors.extend(types.into_iter().filter(|name| EXTRACTORS.contains(&name.as_str())));
        }
        visit::visit_signature(self, signature);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|segment| segment.ident.to_string());
        self.anonymous.extend(names.filter(|name| ANONYMOUS.contains(&name.as_str())));
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        visit::visit_expr_call(self, call);
        if let Expr::Path(path) = &*call.func {
            let names = path.path.segments.iter().map(|segment| segment.ident.to_string());
            self.reads.extend(names.filter(|name| READS.contains(&name.as_str())));
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        let name = call.method.to_string();
        // What is collected has a method of this name.
        if name != "to_bytes" && READS.contains(&name.as_str()) {
            self.reads.push(name);
        }
    }

    fn visit_expr_await(&mut self, awaited: &'ast ExprAwait) {
        visit::visit_expr_await(self, awaited);
        if let Expr::MethodCall(call) = &*awaited.base
            && AWAITED_READS.iter().any(|name| call.method == name)
        {
            self.reads.push(call.method.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> Vec<String> {
        check(&BTreeMap::from([(path.to_owned(), text.to_owned())]))
    }

    #[test]
    fn a_body_is_received_only_with_a_proof_to_make_again() {
        let route = "api/routes/apps/create.rs";
        for text in [
            "async fn f(request: Request) { to_bytes(request.body(), 1).await; }",
            "async fn f(request: Request) { axum::body::to_bytes(body, 1).await; }",
            "async fn f(request: Request) { request.into_body(); }",
            "async fn f(body: Body) { body.collect().await; }",
            "async fn f(body: Body) { Limited::new(body, 1); }",
            "async fn f(State(api): State<Api>, Json(input): Json<Input>) {}",
            "async fn f(State(api): State<Api>, text: axum::body::Bytes) {}",
            "async fn f(request: Request) { read_anonymous_body(request, 1).await; }",
            "async fn f(State(api): State<Api>, AnonymousForm(form): AnonymousForm<Input>) {}",
            "async fn f() { LateProof::of_nobody(); }",
            "impl late_proof::ProveAgain for Nobody {}",
            "impl ProveAgain for () {}",
        ] {
            assert!(!broken(route, text).is_empty(), "{text}");
            assert!(broken(route, &format!("#[cfg(test)] mod tests {{ {text} }}")).is_empty(), "{text}");
        }
        for text in [
            "async fn f(State(api): State<Api>, ctx: Ctx<Console>, payload: Payload) -> Json<View> {}",
            "async fn f(request: Request) { read_body(request, 1).await.map(|body| body.to_bytes()); }",
            "async fn f(names: Vec<String>, body: Bytes) { names.iter().collect::<Vec<_>>(); }",
        ] {
            assert_eq!(broken(route, text), [""; 0], "{text}");
        }
        let receives = "async fn f(body: Body) { to_bytes(body, 1).await; }";
        assert_eq!(broken("mcp/transport.rs", receives), [""; 0]);
    }
}
