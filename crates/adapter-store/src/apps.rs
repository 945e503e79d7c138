//! The ports of `apps`.

mod changes;
mod drafts;
mod read;
mod visibility;
mod write;

use ::apps::App;

use crate::entity::{apps, column::DbId};

pub(crate) use visibility::{editable_app_ids, viewable_app_ids, visible_app_ids, visible_apps};

impl From<apps::Model> for App {
    fn from(model: apps::Model) -> Self {
        Self {
            id: model.id.0,
            workspace: model.workspace_id.0,
            category: model.category.0,
            sharing: model.sharing.0,
            is_paused: model.paused,
            is_in_review: model.in_review,
            current_version: model.current_version_id.map(DbId::into_inner),
            created_by: model.created_by.0,
            created_at: model.created_at.0,
            slug: model.slug,
            name: model.name,
            description: model.description,
            archetype: model.archetype,
        }
    }
}
