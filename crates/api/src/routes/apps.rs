//! Apps, their versions and who may use them.

mod access_put;
mod access_read;
mod create;
mod delete;
mod gates;
mod list;
mod read;
mod update;
mod version_create;
mod version_list;
mod version_read;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::read("member"), list::list_apps))
        .routes(op!(Access::write("builder"), create::create_app))
        .routes(op!(Access::read("can_view"), read::read_app))
        .routes(op!(Access::write("can_edit"), update::update_app))
        .routes(op!(Access::write("can_edit"), delete::delete_app))
        .routes(op!(Access::read("can_view"), version_list::list_versions))
        .routes(op!(Access::write("can_edit").cost(10), version_create::create_version))
        .routes(op!(Access::read("can_view"), version_read::read_version))
        .routes(op!(Access::console("can_share"), access_read::read_access))
        .routes(op!(Access::console("can_share"), access_put::put_access))
}
