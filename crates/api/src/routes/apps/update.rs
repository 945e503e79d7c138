//! Renaming, describing and pausing an app.

use application::{Problem, unit};
use apps::apps::UpdateApp;
use axum::extract::State;
use kernel::authority::{AppRight, CanEdit};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::AppView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
    },
    state::Api,
};

/// Changes. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppChange {
    #[serde(default)]
    #[schema(min_length = 2, max_length = 60)]
    name: Option<String>,
    #[serde(default)]
    #[schema(max_length = 280)]
    description: Option<String>,
    /// `true` to pause the app, `false` to resume it.
    #[serde(default)]
    paused: Option<bool>,
}

/// Rename, describe or pause an app
#[utoipa::path(patch, path = "/v1/apps/{id}", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app."), IfMatch), request_body(content = AppChange, example = json!({"name": "Orders", "description": "Logs the data of each event."})), responses((status = 200, body = AppView)))]
pub(crate) async fn update_app(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<AppView>> {
    let input: AppChange = payload.json()?;
    let input = UpdateApp { name: input.name, description: input.description, paused: input.paused };
    let app = api
        .transaction(unit!(|tx| {
            if_match.check(AppView::locked(tx, &api, &right)).await?;
            Ok::<_, Problem>(apps::apps::update_app(tx, &ctx, &right, input.clone()).await?)
        }))
        .await?;
    Ok(Tagged(AppView::read(&api, &ctx, &right, app).await?))
}
