//! The choice of a content coding (RFC 9110, section 12.5.3).

/// Content codings that files are embedded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentCoding {
    Brotli,
    Gzip,
    Identity,
}

impl ContentCoding {
    /// Returns the smallest coding that an `Accept-Encoding` field accepts. Weights above zero do not order codings:
    /// what a client accepts at all, it decodes.
    pub(crate) fn negotiate(accept_encoding: &str) -> Self {
        let accepts = |coding: &str| {
            let mut any = None;
            for item in accept_encoding.split(',') {
                let mut parts = item.split(';').map(str::trim);
                let name = parts.next().unwrap_or_default();
                let refused = parts.any(|parameter| {
                    let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
                    weight
                        .is_some_and(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0))
                });
                if name.eq_ignore_ascii_case(coding) {
                    return !refused;
                }
                if name == "*" {
                    any = Some(!refused);
                }
            }
            any.unwrap_or(false)
        };
        if accepts("br") {
            Self::Brotli
        } else if accepts("gzip") {
            Self::Gzip
        } else {
            Self::Identity
        }
    }

    /// Returns the name for `Content-Encoding`; identity has none.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_accepted_coding_is_chosen() {
        for (field, expected) in [
            ("gzip, deflate, br, zstd", ContentCoding::Brotli),
            ("br;q=0.1, gzip", ContentCoding::Brotli),
            ("gzip", ContentCoding::Gzip),
            ("GZIP", ContentCoding::Gzip),
            ("br;q=0, gzip", ContentCoding::Gzip),
            ("br; q=0.000, *", ContentCoding::Gzip),
            ("*", ContentCoding::Brotli),
            ("*;q=0", ContentCoding::Identity),
            ("identity", ContentCoding::Identity),
            ("", ContentCoding::Identity),
            ("gzip;q=0", ContentCoding::Identity),
            ("brotli", ContentCoding::Identity),
        ] {
            assert_eq!(ContentCoding::negotiate(field), expected, "{field}");
        }
    }
}
