//! What a workspace is.

use std::str::FromStr;

use kernel::{Locale, Problem, Timestamp, authority::Role, id::WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::Plan;

/// A closed set of names: how each stands on the wire and in stores.
macro_rules! names {
    ($(#[$doc:meta])* $type:ident, $field:literal { $($(#[$vdoc:meta])* $variant:ident = $name:tt,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum $type {
            $($(#[$vdoc])* #[serde(rename = $name)] $variant,)*
        }

        impl $type {
            /// The name on the wire and in stores.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl FromStr for $type {
            type Err = Problem;

            fn from_str(text: &str) -> Result<Self, Problem> {
                match text {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(Problem::invalid_field($field, concat!("must be one of", $(" ", $name),*))),
                }
            }
        }
    };
}

names! {
    /// Under which rules a workspace's data is held.
    Profile, "profile" {
        /// No particular rules.
        Global = "global",
        /// The European Union's.
        Eu = "eu",
        /// Kazakhstan's.
        KzStandard = "kz-standard",
        /// Kazakhstan's, nothing leaving the country.
        KzStrict = "kz-strict",
    }
}

names! {
    /// Where a workspace is held.
    Cell, "cell" {
        /// Anywhere.
        Global = "global",
        /// In the European Union.
        Eu = "eu",
        /// In Kazakhstan.
        Kz = "kz",
    }
}

impl Profile {
    /// The cell a profile asks for.
    #[must_use]
    pub fn cell(self) -> Cell {
        match self {
            Self::Global => Cell::Global,
            Self::Eu => Cell::Eu,
            Self::KzStandard | Self::KzStrict => Cell::Kz,
        }
    }
}

names! {
    /// How many people will work in a workspace.
    TeamSize, "teamSize" {
        /// One.
        Solo = "solo",
        /// A few.
        Small = "small",
        /// Some dozens.
        Medium = "medium",
        /// More.
        Large = "large",
    }
}

names! {
    /// What a workspace is made for.
    Intent, "intents" {
        /// Tools for the team itself.
        InternalTools = "internal_tools",
        /// An app for customers.
        CustomerApp = "customer_app",
        /// Work that runs by itself.
        Automations = "automations",
        /// Keeping data.
        Data = "data",
        /// Using models.
        Ai = "ai",
        /// Something else.
        Other = "other",
    }
}

names! {
    /// What money is counted in.
    Currency, "currency" {
        /// Euro.
        Eur = "EUR",
        /// US dollar.
        Usd = "USD",
        /// Tenge.
        Kzt = "KZT",
    }
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The workspace's id.
    pub id: WorkspaceId,
    /// Its name in addresses, unique.
    pub slug: String,
    /// Its name, 2 to 60 characters.
    pub name: String,
    /// Under which rules its data is held.
    pub profile: Profile,
    /// How many people will work in it.
    pub team_size: TeamSize,
    /// What it is made for, at most three.
    pub intents: Vec<Intent>,
    /// The language of its mails.
    pub locale: Locale,
    /// An IANA time zone.
    pub timezone: String,
    /// What money is counted in.
    pub currency: Currency,
    /// What an hour of a person's work costs, in the currency's minor unit.
    pub hourly_cost_minor: u32,
    /// What it may use.
    pub plan: Plan,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A workspace in a person's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSummary {
    /// The workspace's id.
    pub id: WorkspaceId,
    /// Its name.
    pub name: String,
    /// Its name in addresses.
    pub slug: String,
    /// Under which rules its data is held.
    pub profile: Profile,
    /// The person's role.
    pub role: Role,
    /// How many members it has.
    pub member_count: u64,
}
