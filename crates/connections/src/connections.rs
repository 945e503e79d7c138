//! The use cases on connections, and what they need of a store.

mod create_catalogue;
mod create_http;
mod disconnect;
mod error;
mod finish_authorization;
mod list;
mod ports;
mod record_outcome;
mod set_gate_status;
mod start_authorization;
mod store_secret;
mod update_catalogue;
mod update_http;

pub use create_catalogue::{CatalogueConnectionInput, create_catalogue_connection};
pub use create_http::create_http_connection;
pub use disconnect::{Disconnected, disconnect};
pub use error::ConnectionError;
pub use finish_authorization::{authorized_connection, finish_authorization};
pub use list::{list_connections, view_connection};
pub use ports::{ConnectionReader, ConnectionTx};
pub use record_outcome::{mark_expired, record_outcome};
pub use set_gate_status::set_connection_gate;
pub use start_authorization::{AuthorizationInput, PendingAuthorization, start_authorization};
pub use update_catalogue::{CatalogueConnectionChange, update_catalogue_connection};
pub use update_http::update_http_connection;
