//! The order in which members are listed.

use kernel::{Timestamp, authority::Role, id::UserId, page::Position};

use super::Membership;

/// Position of a member in the list: most authority first, then by time of joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberPosition {
    /// The member's role.
    pub role: Role,
    /// Time of joining.
    pub joined_at: Timestamp,
    /// The person.
    pub user: UserId,
}

impl From<&Membership> for MemberPosition {
    fn from(member: &Membership) -> Self {
        Self { role: member.role, joined_at: member.joined_at, user: member.user }
    }
}

impl Position for MemberPosition {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.role as u8];
        bytes.extend(self.joined_at.timestamp_millis().to_be_bytes());
        bytes.extend(self.user.to_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (role, rest) = bytes.split_first()?;
        let (millis, user) = rest.split_at_checked(size_of::<i64>())?;
        Some(Self {
            role: Role::ALL.into_iter().find(|known| *known as u8 == *role)?,
            joined_at: Timestamp::from_timestamp_millis(i64::from_be_bytes(millis.try_into().ok()?))?,
            user: UserId::from_bytes(user)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written() {
        for role in Role::ALL {
            let position = MemberPosition { role, joined_at: at(1_234), user: id(7) };
            assert_eq!(MemberPosition::from_bytes(&position.to_bytes()), Some(position));
        }
        let bytes = MemberPosition { role: Role::Owner, joined_at: at(0), user: id(7) }.to_bytes();
        assert_eq!(MemberPosition::from_bytes(&bytes[1..]), None);
        assert_eq!(MemberPosition::from_bytes(&[&[9], &bytes[1..]].concat()), None);
        assert_eq!(MemberPosition::from_bytes(&[]), None);
    }
}
