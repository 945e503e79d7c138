//! Creating an app.

use std::collections::BTreeMap;

use application::{
    Problem, ProblemKind,
    app_versions::{NewVersion, check_projects, parse_manifest},
    templates::{NewFromTemplate, create_template_automations},
    unit,
};
use apps::{
    Category, Manifest, VersionKind,
    apps::CreateApp,
    safe_band::PublishRule,
    templates::FilledTemplate,
    versions::{Baseline, CreateVersion, Publishing, check_files},
};
use axum::{Json, extract::State, http::HeaderMap};
use kernel::{
    Context,
    authority::{AppRights, Builder, CanEdit, Sharing},
    id::{ConnectionId, ProjectId},
};
use observability::AppHealth;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::view::AppView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload, pages::negotiate_locale, schemas},
    state::Api,
};

/// A new app.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
    #[schema(value_type = Option<schemas::apps::NewManifest>)]
    manifest: Option<serde_json::Value>,
    /// Source text by path. With files, the app gets its first version at once.
    #[serde(default)]
    files: Option<BTreeMap<String, String>>,
    /// Template to start from, in place of a manifest, files, an archetype and a category. The app gets its first version and
    /// its automations at once, and missing tables are created in the project.
    #[serde(default)]
    #[schema(max_length = 48, example = "short-links")]
    template_id: Option<String>,
    /// Project in which a template keeps rows; required if it has tables.
    #[serde(default)]
    project_id: Option<ProjectId>,
    /// Connections of a template, by their names in the code.
    #[serde(default)]
    connections: Option<BTreeMap<String, ConnectionId>>,
    /// Values of a template's settings, by name.
    #[serde(default)]
    settings: Option<BTreeMap<String, Value>>,
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
/// With `files` or a template, the app gets its first version at once. Otherwise it is a draft.
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
            ("template" = (
                summary = "From a template",
                value = json!({
                    "name": "Links",
                    "templateId": "short-links",
                    "projectId": "proj_01h455vb4pex5vsknk084sn02q"
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
    headers: HeaderMap,
    payload: Payload,
) -> ApiResult<Json<MadeApp>> {
    let input: NewApp = payload.json()?;
    let first = if input.template_id.is_some() {
        first_of_template(&api, &ctx, &builder, input, &headers).await?
    } else {
        first_of_files(&api, &ctx, &builder, input).await?
    };
    let (app, needs_console) = api
        .transaction(unit!(|tx| {
            let creator = api.lock_member(tx, &ctx, builder.workspace()).await?.require_builder()?.into();
            let app = apps::apps::create_app(tx, &ctx, &creator, first.app.clone()).await?;
            let Some(version) = first.version.clone() else { return Ok::<_, Problem>((app, Vec::new())) };
            let right = api.lock_app::<CanEdit>(tx, &ctx, app.id).await?;
            let (app, _, needs_console) = api.publish_version(tx, &ctx, &right, version).await?;
            if let Some(filled) = &first.template {
                create_template_automations(tx, &ctx, &right, filled).await?;
            }
            Ok((app, needs_console))
        }))
        .await?;
    let app = AppView::of(&api, app, AppRights::ALL, &AppHealth::default());
    Ok(Json(MadeApp { app, needs_console }))
}

/// What an app begins with.
struct First {
    app: CreateApp,
    version: Option<CreateVersion>,
    template: Option<FilledTemplate>,
}

/// Returns the circumstances of the first version of a new app.
fn of_new_app() -> Publishing {
    Publishing { baseline: Baseline::new_app(), rule: PublishRule::Direct, inherits_manifest: false }
}

async fn first_of_files(
    api: &Api,
    ctx: &Context,
    builder: &Builder,
    input: NewApp,
) -> Result<First, Problem> {
    for (member, is_given) in [
        ("projectId", input.project_id.is_some()),
        ("connections", input.connections.is_some()),
        ("settings", input.settings.is_some()),
    ] {
        if is_given {
            return Err(Problem::invalid_field(member, "is only for a template; give `templateId`"));
        }
    }
    let manifest = match &input.manifest {
        Some(manifest) => Some(parse_manifest(api, ctx, builder, manifest, &[]).await?),
        None => None,
    };
    if manifest.is_some() && input.files.is_none() {
        return Err(Problem::invalid_field("files", "is required with a manifest"));
    }
    let app = CreateApp {
        name: input.name,
        description: input.description,
        archetype: input.archetype.or_else(|| manifest.as_ref().map(|manifest| manifest.archetype.clone())),
        category: input.category.or(manifest.as_ref().map(|manifest| manifest.category)),
        sharing: manifest.as_ref().map_or(Sharing::Private, |manifest| manifest.sharing.default),
        is_in_review: false,
    };
    let Some(files) = input.files else { return Ok(First { app, version: None, template: None }) };
    let manifest = manifest.unwrap_or_else(|| {
        let description = app.description.as_deref().filter(|text| text.trim().len() >= 4);
        let archetype = app.archetype.as_deref().unwrap_or("workshop");
        let category = app.category.unwrap_or(Category::Interface);
        Manifest::minimal(&app.name, description.unwrap_or("An app."), archetype, category)
    });
    check_files(&files)?;
    let version = NewVersion {
        manifest,
        files,
        summary: Some("First version".to_owned()),
        kind: VersionKind::Edit,
        built_from: None,
        sharing: app.sharing,
        publishing: of_new_app(),
    };
    let version = api.check_version(ctx, builder, version).await?;
    Ok(First { app, version: Some(version), template: None })
}

async fn first_of_template(
    api: &Api,
    ctx: &Context,
    builder: &Builder,
    input: NewApp,
    headers: &HeaderMap,
) -> Result<First, Problem> {
    for (member, is_given) in [
        ("files", input.files.is_some()),
        ("manifest", input.manifest.is_some()),
        ("archetype", input.archetype.is_some()),
        ("category", input.category.is_some()),
    ] {
        if is_given {
            return Err(Problem::invalid_field(member, "is given by the template; leave it out"));
        }
    }
    let chosen = NewFromTemplate {
        template: input.template_id.as_deref().unwrap_or_default(),
        name: &input.name,
        description: input.description.as_deref(),
        locale: negotiate_locale(headers),
        project: input.project_id,
        connections: &input.connections.unwrap_or_default(),
        settings: &input.settings.unwrap_or_default(),
    };
    let (template, filled) = api.fill_template(builder, &chosen).await?;
    let projects = check_projects(api, ctx, builder.workspace(), &filled.manifest, &[]).await;
    projects.map_err(|problem| match problem.kind {
        ProblemKind::Invalid => Problem::invalid_field(
            "projectId",
            "must be a project of this workspace that you may use like the template",
        ),
        _ => problem,
    })?;
    let version = NewVersion {
        manifest: filled.manifest.clone(),
        files: filled.files.clone(),
        summary: Some(format!("From the template {}", template.id)),
        kind: VersionKind::Seed,
        built_from: None,
        sharing: Sharing::Private,
        publishing: of_new_app(),
    };
    let version = api.check_version(ctx, builder, version).await?;
    api.create_template_tables(ctx, template, &filled).await?;
    let app = CreateApp {
        name: input.name,
        description: Some(filled.manifest.description.clone()),
        archetype: Some(filled.manifest.archetype.clone()),
        category: Some(filled.manifest.category),
        sharing: Sharing::Private,
        is_in_review: false,
    };
    Ok(First { app, version: Some(version), template: Some(filled) })
}
