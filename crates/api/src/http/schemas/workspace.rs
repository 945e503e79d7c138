//! Types of `workspace`.

use super::enumeration::enumerations;

enumerations! {
    /// The region that holds the data of a workspace.
    Cell: workspace::workspaces::Cell;
    /// The currency of a workspace.
    Currency: workspace::workspaces::Currency;
    /// A purpose of a workspace.
    Intent: workspace::workspaces::Intent;
    /// A role that an invite can give: any but owner.
    InviteRole: workspace::invites::InviteRole;
    /// The status of an invite at a point in time.
    InviteStatus: workspace::invites::InviteStatus;
    /// A role that a join domain can give.
    JoinRole: workspace::join_domains::JoinRole;
    /// The data protection rules that apply to a workspace.
    Profile: workspace::workspaces::Profile;
    /// The number of people who will work in a workspace.
    TeamSize: workspace::workspaces::TeamSize;
}
