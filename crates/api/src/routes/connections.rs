//! Connections: services with stored credentials, and the catalogue of those that are known.

mod authorization_cookie;
mod authorize;
mod callback;
mod catalogue;
mod create;
mod create_http;
mod disconnect;
mod list;
mod read;
mod test;
mod update;
mod update_http;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(super) use view::visible_apps;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(catalogue::read_connector_catalog))
        .routes(op!(list::list_connections))
        .routes(op!(read::read_connection))
        .routes(op!(create_http::create_http_connection))
        .routes(op!(create::create_connection))
        .routes(op!(authorize::start_connection_authorization, cost = 10))
        .routes(op!(callback::finish_connection_authorization, cost = 10))
        .routes(op!(update_http::update_http_connection))
        .routes(op!(update::update_connection))
        .routes(op!(test::test_connection, cost = 10))
        .routes(op!(disconnect::disconnect_service))
}
