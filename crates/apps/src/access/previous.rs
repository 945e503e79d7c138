//! The access to an app before a change.

use kernel::{
    authority::{Role, Sharing},
    changes::Audience,
    id::UserId,
};

/// The access to an app before it was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousAccess {
    /// The sharing level.
    pub sharing: Sharing,
    /// The people with granted rights.
    pub people: Vec<UserId>,
}

impl PreviousAccess {
    /// Returns those who could view the app by what the change took away. Some of them may still view it by another
    /// right.
    pub(super) fn former_viewers(&self, sharing: Sharing, people: &[UserId]) -> Vec<Audience> {
        let lowest_role = |sharing| match sharing {
            Sharing::Private => None,
            Sharing::Team => Some(Role::Member),
            Sharing::Workspace => Some(Role::Viewer),
        };
        let by_sharing = lowest_role(self.sharing)
            .filter(|before| lowest_role(sharing).is_none_or(|now| now < *before))
            .map(Audience::Members);
        let revoked = self.people.iter().filter(|user| !people.contains(user));
        let by_grant = revoked.map(|user| Audience::Person { user: *user, role: Role::Viewer });
        by_sharing.into_iter().chain(by_grant).collect()
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;

    #[test]
    fn what_is_taken_away_has_former_viewers() {
        use Sharing::{Private, Team, Workspace};
        let viewers =
            |before, now| PreviousAccess { sharing: before, people: Vec::new() }.former_viewers(now, &[]);
        for (before, now, expected) in [
            (Private, Private, None),
            (Private, Workspace, None),
            (Team, Private, Some(Role::Member)),
            (Team, Team, None),
            (Team, Workspace, None),
            (Workspace, Private, Some(Role::Viewer)),
            (Workspace, Team, Some(Role::Viewer)),
            (Workspace, Workspace, None),
        ] {
            let expected: Vec<_> = expected.map(Audience::Members).into_iter().collect();
            assert_eq!(viewers(before, now), expected, "{before} to {now}");
        }
        let previous = PreviousAccess { sharing: Private, people: vec![id(1), id(2)] };
        let revoked = Audience::Person { user: id(1), role: Role::Viewer };
        assert_eq!(previous.former_viewers(Private, &[id(2), id(3)]), [revoked]);
    }
}
