//! All operations: one file each, in the folder of its group. The file of a group registers the operations of its
//! folder.

/// Registers an operation with the access that its handler's signature declares. `cost` is in rate limit units; without
/// it, the default of the method applies. `public` registers a handler that reads no credential.
macro_rules! op {
    (public $handler:path, cost = $cost:expr) => {
        crate::auth::access::Access::PUBLIC.describe(utoipa_axum::routes!($handler), Some($cost))
    };
    (public $handler:path) => {
        crate::auth::access::Access::PUBLIC.describe(utoipa_axum::routes!($handler), None)
    };
    ($handler:path, cost = $cost:expr) => {
        crate::auth::access::access_of(&$handler).describe(utoipa_axum::routes!($handler), Some($cost))
    };
    ($handler:path) => {
        crate::auth::access::access_of(&$handler).describe(utoipa_axum::routes!($handler), None)
    };
}

pub(crate) mod agent_tools;
pub(crate) mod app_proxy;
pub(crate) mod app_secrets;
pub(crate) mod apps;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod automations;
pub(crate) mod changes;
pub(crate) mod connections;
pub(crate) mod dead_letters;
pub(crate) mod device;
pub(crate) mod docs;
pub(crate) mod drafts;
pub(crate) mod events;
pub(crate) mod gates;
pub(crate) mod health;
pub(crate) mod imports;
pub(crate) mod inbound_webhooks;
pub(crate) mod invites;
pub(crate) mod join_domain;
pub(crate) mod logs;
pub(crate) mod members;
pub(crate) mod notifications;
pub(crate) mod oauth;
pub(crate) mod oidc;
pub(crate) mod overview;
pub(crate) mod passkeys;
pub(crate) mod projects;
pub(crate) mod rest;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod tokens;
pub(crate) mod web_pages;
pub(crate) mod webhooks;
pub(crate) mod workspaces;
