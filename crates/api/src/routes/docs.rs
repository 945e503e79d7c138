//! `/openapi.json` and `/docs`: the API description as JSON and as a page that the server renders. The page works
//! without JavaScript, which only adds the search, and loads nothing from other sites. `/types/qala.d.ts` has the types of the
//! runtime, for editors.

mod page;
mod sample;
mod static_asset;
mod types;

use std::sync::{Arc, OnceLock};

use axum::{Router, http::HeaderMap, routing::get};
use bytes::Bytes;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::state::Api;
use static_asset::StaticAsset;

const SCRIPT: &str = include_str!("docs/page.js");
const STYLE: &str = include_str!("docs/page.css");
const TYPES: &str = include_str!("docs/qala.d.ts");
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'";

/// Served assets, each created by the first request for it. To describe the API takes as long as all else that a start does.
#[derive(Default)]
struct DocsAssets {
    json: OnceLock<Bytes>,
    description: OnceLock<StaticAsset>,
    page: OnceLock<StaticAsset>,
    script: OnceLock<StaticAsset>,
    style: OnceLock<StaticAsset>,
    types: OnceLock<StaticAsset>,
}

impl DocsAssets {
    fn json(&self, describe: fn() -> OpenApi) -> Bytes {
        // Serializing the description cannot fail.
        let json = || Bytes::from(serde_json::to_vec(&describe()).unwrap_or_default());
        self.json.get_or_init(json).clone()
    }
}

pub(crate) fn router(describe: fn() -> OpenApi) -> Router<Api> {
    let contents = Arc::new(DocsAssets::default());
    let (of_description, of_page) = (Arc::clone(&contents), Arc::clone(&contents));
    let (of_script, of_style, of_types) = (Arc::clone(&contents), Arc::clone(&contents), contents);
    Router::new()
        .route(
            "/openapi.json",
            get(async move |headers: HeaderMap| {
                let content = || StaticAsset::new("application/json", of_description.json(describe));
                of_description.description.get_or_init(content).response(&headers)
            }),
        )
        .route(
            "/docs",
            get(async move |headers: HeaderMap| {
                of_page.page.get_or_init(|| render_page(&of_page.json(describe))).response(&headers)
            }),
        )
        .route(
            "/docs/page.js",
            get(async move |headers: HeaderMap| {
                let content = || {
                    StaticAsset::new("text/javascript; charset=utf-8", Bytes::from_static(SCRIPT.as_bytes()))
                };
                of_script.script.get_or_init(content).response(&headers)
            }),
        )
        .route(
            "/docs/page.css",
            get(async move |headers: HeaderMap| {
                let content =
                    || StaticAsset::new("text/css; charset=utf-8", Bytes::from_static(STYLE.as_bytes()));
                of_style.style.get_or_init(content).response(&headers)
            }),
        )
        .route(
            "/types/qala.d.ts",
            get(async move |headers: HeaderMap| {
                let content = || {
                    let types = Bytes::from_static(TYPES.as_bytes());
                    StaticAsset::new("application/typescript; charset=utf-8", types)
                };
                of_types.types.get_or_init(content).response(&headers)
            }),
        )
}

fn render_page(json: &[u8]) -> StaticAsset {
    let document: Value = serde_json::from_slice(json).unwrap_or_default();
    let page = page::page(&document).into_string();
    StaticAsset::new("text/html; charset=utf-8", Bytes::from(page)).with_policy(POLICY)
}
