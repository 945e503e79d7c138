//! Apps, their versions and the access to them.

mod access_put;
mod access_read;
mod create;
mod delete;
mod list;
mod read;
mod template_list;
mod update;
mod version_compare;
mod version_create;
mod version_list;
mod version_read;
mod version_roll_back;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_apps))
        .routes(op!(create::create_app))
        .routes(op!(template_list::list_templates))
        .routes(op!(read::read_app))
        .routes(op!(update::update_app))
        .routes(op!(delete::delete_app))
        .routes(op!(version_list::list_versions))
        .routes(op!(version_create::create_version, cost = 10))
        .routes(op!(version_compare::compare_versions, cost = 10))
        .routes(op!(version_read::read_version))
        .routes(op!(version_roll_back::roll_back_version, cost = 10))
        .routes(op!(access_read::read_access))
        .routes(op!(access_put::put_access))
}
