//! The types that describe a workspace.

use kernel::{Locale, Timestamp, authority::Role, id::WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::Plan;

/// Defines an enumeration by the names that its variants have on the wire and in stores.
macro_rules! named_enum {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $name:tt,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $type {
            $($(#[$vdoc])* #[serde(rename = $name)] $variant,)*
        }

        kernel::names! { $type { $($variant = $name,)* } }
    };
}

named_enum! {
    /// The data protection rules that apply to a workspace.
    Profile {
        /// No particular rules.
        Global = "global",
        /// The rules of the European Union.
        Eu = "eu",
        /// The rules of Kazakhstan.
        KzStandard = "kz-standard",
        /// The rules of Kazakhstan; no data leaves the country.
        KzStrict = "kz-strict",
    }
}

named_enum! {
    /// The region that holds the data of a workspace.
    Cell {
        /// Any region.
        Global = "global",
        /// The European Union.
        Eu = "eu",
        /// Kazakhstan.
        Kz = "kz",
    }
}

impl Profile {
    /// Returns the region that this profile requires.
    #[must_use]
    pub fn cell(self) -> Cell {
        match self {
            Self::Global => Cell::Global,
            Self::Eu => Cell::Eu,
            Self::KzStandard | Self::KzStrict => Cell::Kz,
        }
    }
}

named_enum! {
    /// The number of people who will work in a workspace.
    TeamSize {
        /// One person.
        Solo = "solo",
        /// A few people.
        Small = "small",
        /// Some dozens of people.
        Medium = "medium",
        /// More people.
        Large = "large",
    }
}

named_enum! {
    /// A purpose of a workspace.
    Intent {
        /// Tools for the team itself.
        InternalTools = "internal_tools",
        /// An app for customers.
        CustomerApp = "customer_app",
        /// Automated work.
        Automations = "automations",
        /// Data storage.
        Data = "data",
        /// Use of models.
        Ai = "ai",
        /// Something else.
        Other = "other",
    }
}

named_enum! {
    /// The currency of a workspace.
    Currency {
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
    /// The id of the workspace.
    pub id: WorkspaceId,
    /// The name in URLs, unique.
    pub slug: String,
    /// The display name, 2 to 60 characters.
    pub name: String,
    /// The data protection rules that apply.
    pub profile: Profile,
    /// The number of people who will work in it.
    pub team_size: TeamSize,
    /// The purposes, at most three.
    pub intents: Vec<Intent>,
    /// The default language of e-mails.
    pub locale: Locale,
    /// The IANA time zone, such as `Asia/Almaty`.
    pub timezone: String,
    /// The currency of a workspace.
    pub currency: Currency,
    /// Cost of an hour of a person's work, in the minor unit of the currency.
    pub hourly_cost_minor: u32,
    /// The plan, which sets the limits.
    pub plan: Plan,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// A workspace as one of its members sees it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSummary {
    /// The id of the workspace.
    pub id: WorkspaceId,
    /// The display name.
    pub name: String,
    /// The name in URLs.
    pub slug: String,
    /// The data protection rules that apply.
    pub profile: Profile,
    /// The person's role.
    pub role: Role,
    /// Number of members who have access.
    pub member_count: u64,
}
