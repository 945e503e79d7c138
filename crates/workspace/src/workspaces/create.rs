//! Making a workspace; its maker becomes the owner.

use kernel::{
    Context, Locale,
    authority::Role,
    id::UserId,
    slug::{SLUG_SUFFIX_ALPHABET, slugify},
};

use super::types::{Currency, Intent, Profile, TeamSize, Workspace};
use crate::{Plan, WorkspaceError, WorkspaceTx};

/// What a new workspace is to be.
#[derive(Debug, Clone)]
pub struct CreateWorkspace {
    /// Its name.
    pub name: String,
    /// Under which rules its data is held.
    pub profile: Profile,
    /// How many people will work in it.
    pub team_size: TeamSize,
    /// What it is made for.
    pub intents: Vec<Intent>,
    /// The language of its mails; English when not said.
    pub locale: Option<Locale>,
    /// An IANA time zone; UTC when not said.
    pub timezone: Option<String>,
    /// What money is counted in; the profile's when not said.
    pub currency: Option<Currency>,
    /// What it may use.
    pub plan: Plan,
}

/// Makes the workspace. The starter world is laid by others in the same transaction.
///
/// # Errors
/// When a field is out of bounds, or what the store says.
pub async fn create_workspace(
    tx: &mut dyn WorkspaceTx,
    ctx: &Context,
    owner: UserId,
    input: CreateWorkspace,
) -> Result<Workspace, WorkspaceError> {
    let invalid = |field, what| Err(WorkspaceError::InvalidField { field, what });
    let name = input.name.trim().to_owned();
    if !(2..=60).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return invalid("name", "must have 2 to 60 printable characters");
    }
    if input.intents.len() > 3 {
        return invalid("intents", "may hold at most three");
    }
    let timezone = input.timezone.unwrap_or_else(|| "UTC".to_owned());
    if timezone.len() > 64 || timezone.parse::<chrono_tz::Tz>().is_err() {
        return invalid("timezone", "must be an IANA time zone such as Asia/Almaty");
    }
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
    tx.insert_member(workspace.id, owner, Role::Owner, ctx.now).await?;
    tx.audit(ctx.audit_entry("workspace.create").workspace(workspace.id).target(workspace.id));
    Ok(workspace)
}

/// What an hour is taken to cost until the workspace says otherwise.
fn default_hourly_cost(currency: Currency) -> u32 {
    match currency {
        Currency::Usd | Currency::Eur => 2_500,
        Currency::Kzt => 500_000,
    }
}

/// A readable name for addresses, with six random characters so that it is free and not to be guessed.
fn generate_slug(name: &str, ctx: &Context) -> String {
    let mut slug = slugify(name, 40);
    if slug.is_empty() {
        slug.push_str("workspace");
    }
    slug.push('-');
    slug + &ctx.random().string(SLUG_SUFFIX_ALPHABET, 6)
}
