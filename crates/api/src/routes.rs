//! Every operation: one file each, in the folder of its group. A group file registers the operations of its folder.

/// Registers operations that share a path and an access.
macro_rules! op {
    ($access:expr, $($handler:path),+ $(,)?) => {
        $access.of(utoipa_axum::routes!($($handler),+))
    };
}

pub(crate) mod app_proxy;
pub(crate) mod apps;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod automations;
pub(crate) mod changes;
pub(crate) mod dead_letters;
pub(crate) mod device;
pub(crate) mod docs;
pub(crate) mod events;
pub(crate) mod gates;
pub(crate) mod health;
pub(crate) mod inbound_webhooks;
pub(crate) mod invites;
pub(crate) mod join_domain;
pub(crate) mod logs;
pub(crate) mod members;
pub(crate) mod oauth;
pub(crate) mod oidc;
pub(crate) mod passkeys;
pub(crate) mod projects;
pub(crate) mod rest;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod tokens;
pub(crate) mod web_pages;
pub(crate) mod webhooks;
pub(crate) mod workspaces;
