//! Creating a workspace. Its creator becomes the owner.

use kernel::{
    Context, Locale,
    authority::Role,
    id::UserId,
    slug::{SLUG_SUFFIX_ALPHABET, slugify},
};

use super::{
    bounds::{check_timezone, parse_name},
    types::{Currency, Intent, Profile, TeamSize, Workspace},
};
use crate::{InvalidInput, Plan, WorkspaceError, WorkspaceTx};

/// Workspaces that one person creates; at most. Those that were deleted count while they can be restored.
pub const MAX_CREATED: u64 = 50;

/// The description of a new workspace.
#[derive(Debug, Clone)]
pub struct CreateWorkspace {
    /// The display name, 2 to 60 characters after trimming.
    pub name: String,
    /// The data protection rules that apply.
    pub profile: Profile,
    /// The number of people who will work in it.
    pub team_size: TeamSize,
    /// The purposes, at most three.
    pub intents: Vec<Intent>,
    /// The default language of e-mails; English by default.
    pub locale: Option<Locale>,
    /// An IANA time zone; UTC by default.
    pub timezone: Option<String>,
    /// The currency; that of the profile by default.
    pub currency: Option<Currency>,
    /// The plan, which sets the limits.
    pub plan: Plan,
}

/// Creates a workspace that `owner` owns. Sample data is the caller's to add in the same transaction.
///
/// # Errors
/// [`WorkspaceError::InvalidInput`] when a field is out of bounds; [`WorkspaceError::TooManyWorkspaces`] when the person has
/// created [`MAX_CREATED`]; [`WorkspaceError::Store`] with [`kernel::StoreError::Duplicate`] when the slug is taken.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_workspace(
    tx: &mut dyn WorkspaceTx,
    ctx: &Context,
    owner: UserId,
    input: CreateWorkspace,
) -> Result<Workspace, WorkspaceError> {
    let name = parse_name(&input.name)?;
    if input.intents.len() > 3 {
        return Err(InvalidInput::IntentCount.into());
    }
    let timezone = input.timezone.unwrap_or_else(|| "UTC".to_owned());
    check_timezone(&timezone)?;
    let currency = input.currency.unwrap_or(match input.profile {
        Profile::Global => Currency::Usd,
        Profile::Eu => Currency::Eur,
        Profile::KzStandard | Profile::KzStrict => Currency::Kzt,
    });

    let workspace = Workspace {
        id: ctx.new_id(),
        slug: generate_slug(&name, ctx),
        name,
        profile: input.profile,
        team_size: input.team_size,
        intents: input.intents,
        locale: input.locale.unwrap_or(Locale::En),
        timezone,
        currency,
        hourly_cost_minor: default_hourly_cost(currency),
        plan: input.plan,
        created_at: ctx.now,
    };
    tx.insert_workspace(&workspace).await?;
    if tx.record_creator(workspace.id, owner).await? > MAX_CREATED {
        return Err(WorkspaceError::TooManyWorkspaces);
    }
    tx.insert_member(workspace.id, owner, Role::Owner, ctx.now).await?;
    tx.audit(ctx.audit_entry("workspace.create").workspace(workspace.id).target(workspace.id));
    Ok(workspace)
}

/// Cost of an hour until the workspace sets its own, in the minor unit of the currency.
fn default_hourly_cost(currency: Currency) -> u32 {
    match currency {
        Currency::Usd | Currency::Eur => 2_500,
        Currency::Kzt => 500_000,
    }
}

/// Returns a readable name for URLs, with six random characters that make it unique and hard to guess.
fn generate_slug(name: &str, ctx: &Context) -> String {
    let mut slug = slugify(name, 40);
    if slug.is_empty() {
        slug.push_str("workspace");
    }
    slug.push('-');
    slug + &ctx.random().string(SLUG_SUFFIX_ALPHABET, 6)
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::at};

    use super::*;
    use crate::testing::{FakeTx, owner, request_of};

    fn input() -> CreateWorkspace {
        CreateWorkspace {
            name: "  Acme Sales  ".to_owned(),
            profile: Profile::Global,
            team_size: TeamSize::Small,
            intents: vec![Intent::Data],
            locale: None,
            timezone: None,
            currency: None,
            plan: Plan::Team,
        }
    }

    #[tokio::test]
    async fn its_creator_becomes_the_owner_and_the_creation_is_audited() {
        let (mut tx, ctx) = (FakeTx::default(), request_of(owner()));
        let workspace = create_workspace(&mut tx, &ctx, owner(), input()).await.unwrap();
        assert_eq!(tx.workspaces, std::slice::from_ref(&workspace));
        assert_eq!((&*workspace.name, workspace.plan), ("Acme Sales", Plan::Team));
        assert_eq!((workspace.locale, &*workspace.timezone), (Locale::En, "UTC"));
        let suffix = workspace.slug.strip_prefix("acme-sales-").unwrap();
        assert_eq!(suffix.len(), 6, "{suffix}");
        let membership = &tx.memberships[&(workspace.id, owner())];
        assert_eq!((membership.role, membership.joined_at), (Role::Owner, at(0)));
        let [entry] = &tx.work.audit[..] else { panic!("{:?}", tx.work.audit) };
        assert_eq!((&*entry.action, entry.workspace), ("workspace.create", Some(workspace.id)));
        assert_eq!(entry.target.as_ref().map(|target| &*target.0), Some(&*workspace.id.to_string()));
        assert_eq!((&entry.actor, &entry.detail), (&kernel::Actor::Person(owner()), &None));
    }

    #[tokio::test]
    async fn the_currency_follows_the_profile_unless_it_is_given() {
        for (profile, given, currency, hourly_cost) in [
            (Profile::Global, None, Currency::Usd, 2_500),
            (Profile::Eu, None, Currency::Eur, 2_500),
            (Profile::KzStandard, None, Currency::Kzt, 500_000),
            (Profile::KzStrict, None, Currency::Kzt, 500_000),
            (Profile::KzStrict, Some(Currency::Usd), Currency::Usd, 2_500),
        ] {
            let (mut tx, ctx) = (FakeTx::default(), request_of(owner()));
            let input = CreateWorkspace { profile, currency: given, ..input() };
            let workspace = create_workspace(&mut tx, &ctx, owner(), input).await.unwrap();
            assert_eq!((workspace.currency, workspace.hourly_cost_minor), (currency, hourly_cost));
        }
    }

    #[tokio::test]
    async fn a_name_without_ascii_letters_still_gets_a_slug() {
        let (mut tx, ctx) = (FakeTx::default(), request_of(owner()));
        let input = CreateWorkspace { name: "Қала".to_owned(), ..input() };
        let workspace = create_workspace(&mut tx, &ctx, owner(), input).await.unwrap();
        assert!(workspace.slug.starts_with("workspace-"), "{}", workspace.slug);
    }

    #[tokio::test]
    async fn a_field_out_of_bounds_is_refused_by_name() {
        let name = |name: &str| CreateWorkspace { name: name.to_owned(), ..input() };
        let timezone = |zone: &str| CreateWorkspace { timezone: Some(zone.to_owned()), ..input() };
        for (input, expected) in [
            (name(" x "), InvalidInput::Name),
            (name(&"x".repeat(61)), InvalidInput::Name),
            (name("a\nb"), InvalidInput::Name),
            (CreateWorkspace { intents: vec![Intent::Ai; 4], ..input() }, InvalidInput::IntentCount),
            (timezone("Moon/Crater"), InvalidInput::Timezone),
            (timezone(&"x".repeat(65)), InvalidInput::Timezone),
        ] {
            let (mut tx, ctx) = (FakeTx::default(), request_of(owner()));
            let refused = create_workspace(&mut tx, &ctx, owner(), input).await;
            assert!(
                matches!(refused, Err(WorkspaceError::InvalidInput(invalid)) if invalid == expected),
                "{refused:?}"
            );
            assert!(tx.workspaces.is_empty());
            tx.assert_nothing_recorded();
        }
    }

    #[tokio::test]
    async fn a_person_creates_a_bounded_number() {
        let mut tx = FakeTx::default();
        tx.creators = vec![(request_of(owner()).new_id(), owner()); 49];
        create_workspace(&mut tx, &request_of(owner()), owner(), input()).await.unwrap();
        tx.workspaces.clear();
        let refused = create_workspace(&mut tx, &request_of(owner()), owner(), input()).await;
        assert!(matches!(refused, Err(WorkspaceError::TooManyWorkspaces)), "{refused:?}");
        assert_eq!(tx.work.audited_actions(), ["workspace.create"]);
    }

    #[tokio::test]
    async fn a_slug_that_is_taken_is_a_duplicate() {
        let mut tx = FakeTx::default();
        create_workspace(&mut tx, &request_of(owner()), owner(), input()).await.unwrap();
        // The same seed makes the same suffix.
        let refused = create_workspace(&mut tx, &request_of(owner()), owner(), input()).await;
        assert!(matches!(refused, Err(WorkspaceError::Store(StoreError::Duplicate))), "{refused:?}");
        assert_eq!(tx.workspaces.len(), 1);
        assert_eq!(tx.work.audited_actions(), ["workspace.create"]);
    }
}
