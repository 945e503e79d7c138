//! Creating an app.

use std::collections::BTreeMap;

use application::{
    Problem,
    app_versions::{check_code, check_connectors, check_projects, create_gates},
    unit,
};
use apps::{
    Category, Manifest, VersionKind,
    apps::CreateApp,
    versions::{CreateVersion, check_files},
};
use axum::{Json, extract::State};
use kernel::authority::{AppRights, Builder, CanEdit, Sharing, authorize_app};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::AppView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload, schemas},
    state::Api,
};

/// A new app.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewApp {
    #[schema(min_length = 2, max_length = 60, example = "Orders")]
    name: String,
    #[serde(default)]
    #[schema(max_length = 280)]
    description: Option<String>,
    /// Building as which the console draws the app. Default: `workshop`.
    #[serde(default)]
    #[schema(pattern = "^[a-z]{2,32}$", example = "workshop")]
    archetype: Option<String>,
    /// Subject of the app. Default: `interface`.
    #[serde(default)]
    #[schema(value_type = Option<schemas::apps::Category>)]
    category: Option<Category>,
    /// Manifest of the first version. Default: a manifest without permissions. Requires `files`.
    #[serde(default)]
    #[schema(value_type = Option<schemas::apps::Manifest>)]
    manifest: Option<serde_json::Value>,
    /// Source text by path. With files, the app gets its first version at once.
    #[serde(default)]
    files: Option<BTreeMap<String, String>>,
}

/// The new app.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeApp {
    #[serde(flatten)]
    app: AppView,
    /// Steps that an admin has to take in the console before the app can use everything in its manifest.
    needs_console: Vec<String>,
}

/// Create an app
///
/// With `files`, the app gets its first version at once. Otherwise it is a draft.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/apps", tag = "apps",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    request_body(
        content = NewApp,
        examples(
            ("code" = (
                summary = "Code only",
                value = json!({
                    "name": "Orders",
                    "description": "Logs the data of each event.",
                    "archetype": "workshop",
                    "files": {
                        "main.js": "export default { async scheduled(event) { console.log(event.data) } }"
                    }
                })
            )),
            ("manifest" = (
                summary = "With a manifest",
                value = json!({
                    "name": "Orders",
                    "files": {
                        "main.js": "export default { async scheduled(event) { console.log(event.data) } }"
                    },
                    "manifest": {
                        "name": "Orders",
                        "description": "Logs the data of each event.",
                        "archetype": "workshop",
                        "category": "data",
                        "permissions": {
                            "data": [{
                                "name": "orders",
                                "projectId": "proj_01h455vb4pex5vsknk084sn02q",
                                "access": "write"
                            }],
                            "secrets": [{"name": "SIGNING_KEY", "uses": ["sign"]}],
                            "egress": [{"host": "api.example.com", "methods": ["GET"]}]
                        },
                        "triggers": [{"type": "schedule", "cron": "0 9 * * *", "timezone": "Asia/Almaty"}]
                    }
                })
            ))
        )
    ),
    responses((status = 200, body = MadeApp))
)]
pub(crate) async fn create_app(
    State(api): State<Api>,
    Authorized(ctx, builder): Authorized<WriteToken, Builder>,
    payload: Payload,
) -> ApiResult<Json<MadeApp>> {
    let input: NewApp = payload.json()?;
    let manifest = input.manifest.as_ref().map(Manifest::parse).transpose()?;
    if manifest.is_some() && input.files.is_none() {
        return Err(Problem::invalid_field("files", "is required with a manifest").into());
    }
    let create = CreateApp {
        name: input.name,
        description: input.description,
        archetype: input.archetype.or_else(|| manifest.as_ref().map(|manifest| manifest.archetype.clone())),
        category: input.category.or(manifest.as_ref().map(|manifest| manifest.category)),
        sharing: manifest.as_ref().map_or(Sharing::Private, |manifest| manifest.sharing.default),
    };
    let version = match input.files {
        None => None,
        Some(files) => {
            let manifest = manifest.unwrap_or_else(|| {
                let description = create.description.as_deref().filter(|text| text.trim().len() >= 4);
                let archetype = create.archetype.as_deref().unwrap_or("workshop");
                let category = create.category.unwrap_or(Category::Interface);
                Manifest::minimal(&create.name, description.unwrap_or("An app."), archetype, category)
            });
            check_files(&files)?;
            check_code(&api, &ctx, builder.workspace(), &files).await?;
            check_projects(&api, &ctx, builder.workspace(), &manifest, &[]).await?;
            check_connectors(&api, &ctx, &builder, &manifest, &[]).await?;
            Some(CreateVersion {
                manifest,
                files,
                summary: Some("First version".to_owned()),
                kind: VersionKind::Edit,
                built_from: None,
            })
        }
    };
    let (app, needs_console) = api
        .transaction(unit!(|tx| {
            let app = apps::apps::create_app(tx, &ctx, &builder, create.clone()).await?;
            let Some(version) = version.clone() else { return Ok::<_, Problem>((app, Vec::new())) };
            let access = authorize_app((*builder).clone(), Some(&app.to_fact(AppRights::NONE)))?;
            let right = access.require::<CanEdit>()?;
            let needs_console = create_gates(&api, tx, &ctx, right.member(), &version.manifest).await?;
            let (app, _) = apps::versions::create_version(tx, &ctx, &right, version).await?;
            Ok((app, needs_console))
        }))
        .await?;
    Ok(Json(MadeApp { app: AppView::of(&api, app, AppRights::ALL), needs_console }))
}
