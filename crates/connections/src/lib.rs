//! Connections of a workspace to services, and its egress: which requests may be sent to other hosts, and with which
//! credential. No I/O happens here.
//!
//! * [`app_secrets`]: secrets of an app that belong to no connection
//! * [`connection`]: a service with a stored credential; validation of what people describe
//! * [`connection_test`]: one harmless request that tests a connection
//! * [`connections`]: the use cases on connections
//! * [`auth`]: how a connection proves itself; [`injection`]: what that adds to a request
//! * [`calls`]: the record of requests by gate
//! * [`catalogue`]: the services that are known, and what a connection to each needs
//! * [`gates`]: a workspace's permission to reach one host, and the use cases on it
//! * [`egress`]: the decision on one request, by its URL, method and headers
//! * [`health`]: counts of calls, and what they say about a connection
//! * [`oauth_apps`]: the OAuth apps of the operator; [`stored_token`]: access tokens as they are stored
//! * [`outbound`]: the port that sends permitted requests
//! * [`scrub`]: redaction of secrets in what services send back
//! * [`ip_filter`]: the IP addresses that may be dialled
//! * [`host`]: names of external hosts

pub mod app_secrets;
pub mod auth;
pub mod calls;
pub mod catalogue;
pub mod connection;
pub mod connection_test;
pub mod connections;
pub mod egress;
pub mod gates;
pub mod health;
pub mod host;
pub mod injection;
pub mod invalid_input;
pub mod ip_filter;
pub mod last_check;
pub mod oauth_apps;
pub mod outbound;
mod request_path;
pub mod scrub;
pub mod stored_token;
#[cfg(test)]
mod testing;

pub use auth::{Auth, AuthInput};
pub use connection::{Connection, ConnectionStatus, HttpConnection, HttpConnectionInput};
pub use connections::{ConnectionReader, ConnectionTx};
pub use egress::{
    AllowedPorts, ConnectionPolicy, EgressPermit, EgressPolicy, Refusal, RefusalCode, authorize_connection,
    authorize_egress, authorize_token_request,
};
pub use gates::{ConnectionsTx, Gate, GateReader, GateStatus, GateTx};
pub use host::GateHost;
pub use invalid_input::{Field, InvalidInput, Reason};
pub use outbound::{CredentialSource, OutboundBody, OutboundClient, OutboundRequest, OutboundResponse};
