//! Enumerations whose values have a name each, on the wire and in stores.

use std::{error::Error as StdError, fmt};

/// An enumeration whose names are declared with [`names!`](crate::names!).
pub trait Named: Copy + 'static {
    /// The names, in the order in which they are declared.
    const NAMES: &'static [&'static str];
}

/// Declares the name of each value of an enumeration, which is defined beside it: `names! { Plan { Free = "free" } }`.
///
/// The type gets `ALL`, `as_str`, [`Named`], [`Display`](fmt::Display) and [`FromStr`](std::str::FromStr), whose error
/// is [`UnknownName`]. If the type is also read or written by serde, its attributes must give the same names; a test of
/// `api` compares them for every enumeration of the API description.
#[macro_export]
macro_rules! names {
    ($type:ident { $($variant:ident = $name:tt),+ $(,)? }) => {
        impl $type {
            /// Every value, in the order in which the names are declared.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name on the wire and in stores.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl $crate::names::Named for $type {
            const NAMES: &'static [&'static str] = &[$($name),+];
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::names::UnknownName;

            fn from_str(text: &str) -> ::std::result::Result<Self, Self::Err> {
                match text {
                    $($name => ::std::result::Result::Ok(Self::$variant),)+
                    _ => ::std::result::Result::Err($crate::names::UnknownName::of::<Self>()),
                }
            }
        }
    };
}

/// Error of a text that is not a name of an enumeration. It is the rest of a sentence that begins with a field: "must be
/// read or write".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownName {
    /// The names of the enumeration.
    pub expected: &'static [&'static str],
}

impl UnknownName {
    /// Creates the error for an enumeration.
    #[must_use]
    pub const fn of<T: Named>() -> Self {
        Self { expected: T::NAMES }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be ")?;
        for (index, name) in self.expected.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index + 1 == self.expected.len() => " or ",
                _ => ", ",
            };
            write!(f, "{separator}{name}")?;
        }
        Ok(())
    }
}

impl StdError for UnknownName {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{authority::Role, caller::Scope};

    #[test]
    fn each_value_is_written_and_read_by_its_name() {
        assert_eq!(Role::ALL.map(Role::as_str), Role::NAMES);
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
            assert_eq!(role.to_string(), role.as_str());
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        for text in ["", "Read", " read", "reader"] {
            let error = text.parse::<Scope>().unwrap_err();
            assert_eq!(error.to_string(), "must be read, write or admin", "{text:?}");
        }
    }
}
