//! Creating an app.

use kernel::{
    Context,
    authority::{AppCreator, Locked, Sharing},
    slug::{SLUG_SUFFIX_ALPHABET, slugify},
};

use super::{App, Category};
use crate::{AppError, AppsTx, InvalidInput, manifest};

/// Fields of a new app.
#[derive(Debug, Clone)]
pub struct CreateApp {
    /// Display name; 2 to 60 characters after trimming.
    pub name: String,
    /// Purpose; at most 280 characters after trimming. Empty by default.
    pub description: Option<String>,
    /// Building that the console draws for it; `workshop` by default.
    pub archetype: Option<String>,
    /// Subject; [`Category::Interface`] by default.
    pub category: Option<Category>,
    /// Sharing inside the workspace.
    pub sharing: Sharing,
    /// True if it belongs to an import that nobody has turned on.
    pub is_in_review: bool,
}

/// Creates an app without a version.
///
/// # Errors
/// * [`AppError::InvalidInput`] when a field is out of bounds
/// * [`AppError::Store`] with [`StoreError::Duplicate`](kernel::StoreError::Duplicate) when another app took the same
///   random slug, and when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_app(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    creator: &Locked<AppCreator>,
    input: CreateApp,
) -> Result<App, AppError> {
    let mut slug = slugify(&input.name, 32);
    if slug.is_empty() {
        slug.push_str("app");
    }
    let app = App {
        id: ctx.new_id(),
        workspace: creator.workspace(),
        slug: format!("{slug}-{}", ctx.random().string(SLUG_SUFFIX_ALPHABET, 6)),
        name: validate_name(&input.name)?,
        description: validate_description(input.description.as_deref().unwrap_or_default())?,
        archetype: validate_archetype(input.archetype.as_deref().unwrap_or("workshop"))?,
        category: input.category.unwrap_or(Category::Interface),
        sharing: input.sharing,
        is_paused: false,
        is_in_review: input.is_in_review,
        current_version: None,
        created_by: creator.user(),
        created_at: ctx.now,
    };
    tx.insert_app(&app).await?;
    tx.audit(ctx.audit_entry("app.create").workspace(app.workspace).target(app.id));
    Ok(app)
}

pub(super) fn validate_name(name: &str) -> Result<String, InvalidInput> {
    manifest::check_name(name, 2, 60).map_err(InvalidInput::Name)?;
    Ok(name.trim().to_owned())
}

pub(super) fn validate_description(description: &str) -> Result<String, InvalidInput> {
    manifest::check_text(description, 0, 280).map_err(InvalidInput::Description)?;
    Ok(description.trim().to_owned())
}

fn validate_archetype(archetype: &str) -> Result<String, InvalidInput> {
    if manifest::is_archetype(archetype) { Ok(archetype.to_owned()) } else { Err(InvalidInput::Archetype) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        InvalidText,
        testing::{FakeTx, assert_audited, builder_context, builder_id, creator, workspace},
    };

    fn named(name: &str) -> CreateApp {
        CreateApp {
            name: name.to_owned(),
            description: None,
            archetype: None,
            category: None,
            sharing: Sharing::Private,
            is_in_review: false,
        }
    }

    #[tokio::test]
    async fn a_new_app_is_a_draft_of_its_creator() {
        let (ctx, mut tx) = (builder_context(), FakeTx::default());
        let app = create_app(&mut tx, &ctx, &creator(&ctx), named(" Daily Orders ")).await.unwrap();

        let suffix = app.slug.strip_prefix("daily-orders-").unwrap();
        assert_eq!(suffix.len(), 6, "{}", app.slug);
        let expected = App {
            id: app.id,
            workspace: workspace(),
            slug: app.slug.clone(),
            name: "Daily Orders".to_owned(),
            description: String::new(),
            archetype: "workshop".to_owned(),
            category: Category::Interface,
            sharing: Sharing::Private,
            is_paused: false,
            is_in_review: false,
            current_version: None,
            created_by: builder_id(),
            created_at: ctx.now,
        };
        assert_eq!(app, expected);
        assert_eq!(tx.apps, [expected]);
        assert_audited(&tx.work, "app.create", app.id, None);
        assert!(tx.work.emails.is_empty() && tx.work.events.is_empty());
    }

    #[tokio::test]
    async fn the_fields_of_a_new_app_can_be_chosen() {
        let (ctx, mut tx) = (builder_context(), FakeTx::default());
        let input = CreateApp {
            description: Some(" Takes orders. ".to_owned()),
            archetype: Some("kiosk".to_owned()),
            category: Some(Category::Money),
            sharing: Sharing::Team,
            ..named("Orders")
        };
        let app = create_app(&mut tx, &ctx, &creator(&ctx), input).await.unwrap();
        assert_eq!((app.description.as_str(), app.archetype.as_str()), ("Takes orders.", "kiosk"));
        assert_eq!((app.category, app.sharing), (Category::Money, Sharing::Team));
    }

    #[tokio::test]
    async fn a_name_without_ascii_letters_gets_a_general_slug() {
        let (ctx, mut tx) = (builder_context(), FakeTx::default());
        let app = create_app(&mut tx, &ctx, &creator(&ctx), named("Тапсырыс")).await.unwrap();
        assert!(app.slug.starts_with("app-"), "{}", app.slug);
        assert_eq!(app.name, "Тапсырыс");
    }

    #[tokio::test]
    async fn fields_out_of_bounds_are_refused() {
        let (ctx, mut tx) = (builder_context(), FakeTx::default());
        let described = |text: String| CreateApp { description: Some(text), ..named("Orders") };
        let name_length = InvalidText::Length { min: 2, max: 60 };
        let drawn_as = |text: &str| CreateApp { archetype: Some(text.to_owned()), ..named("Orders") };
        for (input, expected) in [
            (named(" x "), InvalidInput::Name(name_length)),
            (named(&"x".repeat(61)), InvalidInput::Name(name_length)),
            (named("Ord\u{7}ers"), InvalidInput::Name(InvalidText::ControlCharacters)),
            (described("x".repeat(281)), InvalidInput::Description(InvalidText::Length { min: 0, max: 280 })),
            (described("a\0b".to_owned()), InvalidInput::Description(InvalidText::ControlCharacters)),
            (drawn_as("x"), InvalidInput::Archetype),
            (drawn_as("Tower!"), InvalidInput::Archetype),
            (drawn_as(&"x".repeat(33)), InvalidInput::Archetype),
        ] {
            let refused = create_app(&mut tx, &ctx, &creator(&ctx), input.clone()).await;
            assert!(
                matches!(&refused, Err(AppError::InvalidInput(invalid)) if *invalid == expected),
                "{input:?}: {refused:?}"
            );
        }
        assert!(tx.apps.is_empty() && tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_taken_slug_is_a_conflict() {
        let mut tx = FakeTx::default();
        // Both contexts draw the same random suffix.
        let (first, second) = (builder_context(), builder_context());
        create_app(&mut tx, &first, &creator(&first), named("Orders")).await.unwrap();
        let refused = create_app(&mut tx, &second, &creator(&second), named("Orders")).await;
        assert!(matches!(refused, Err(AppError::Store(kernel::StoreError::Duplicate))), "{refused:?}");
        assert_eq!((tx.apps.len(), tx.work.audit.len()), (1, 1));
    }
}
