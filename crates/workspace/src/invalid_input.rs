//! Inputs that use cases refuse.

/// An input whose value a use case refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The name of a workspace does not have 2 to 60 printable characters.
    #[error("the name of the workspace is out of bounds")]
    Name,
    /// A workspace has more than three purposes.
    #[error("too many purposes are given")]
    IntentCount,
    /// The text is not the name of an IANA time zone.
    #[error("the time zone is unknown")]
    Timezone,
    /// The cost of an hour exceeds [`MAX_HOURLY_COST_MINOR`](crate::workspaces::MAX_HOURLY_COST_MINOR).
    #[error("the cost of an hour is out of bounds")]
    HourlyCost,
    /// The end of access is not in the future.
    #[error("the end of access is not in the future")]
    AccessEnd,
    /// The name that confirms a transfer or deletion is not that of the workspace.
    #[error("the confirmation is not the name of the workspace")]
    ConfirmationName,
    /// The number of addresses to invite is not from 1 to [`MAX_EMAILS`](crate::invites::MAX_EMAILS).
    #[error("the number of addresses is out of bounds")]
    EmailCount,
    /// The lifetime of an invite's link is not from 1 to 30 days.
    #[error("the lifetime of the link is out of bounds")]
    LinkLifetime,
    /// The text is not a domain name.
    #[error("the text is not a domain name")]
    DomainName,
}
