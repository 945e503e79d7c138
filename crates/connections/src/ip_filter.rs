//! The IP addresses that may be dialled: globally reachable ones, except those that embed another address or belong to
//! a network's own infrastructure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocked IPv4 networks: octets and prefix length.
const BLOCKED_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),        // this network
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared by carriers (RFC 6598)
    ([127, 0, 0, 0], 8),      // loopback
    ([168, 63, 129, 16], 32), // Azure platform services
    ([169, 254, 0, 0], 16),   // link-local, and the metadata of most clouds
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 31, 196, 0], 24),  // AS112
    ([192, 52, 193, 0], 24),  // AMT
    ([192, 88, 99, 0], 24),   // 6to4 relays
    ([192, 168, 0, 0], 16),   // private
    ([192, 175, 48, 0], 24),  // AS112
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, broadcast
];

/// The only IPv6 block that is assigned to the internet. Everything outside it is blocked: mapped and compatible forms,
/// NAT64, unique local, link-local, site-local and multicast addresses.
const GLOBAL_V6: (u128, u32) = (0x2000 << 112, 3);

/// Blocked networks inside [`GLOBAL_V6`].
const BLOCKED_V6: &[(u128, u32)] = &[
    (0x2001 << 112, 23),          // Teredo, ORCHID, benchmarks
    (0x2001_0db8 << 96, 32),      // documentation
    (0x2002 << 112, 16),          // 6to4: an IPv4 address inside
    (0x2620_004f_8000 << 80, 48), // AS112
    (0x3fff << 112, 20),          // documentation
];

/// Returns `true` if nothing may be sent to `address` unless the operator allows it.
#[must_use]
pub fn is_blocked(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_blocked_v4(address),
        IpAddr::V6(address) => is_blocked_v6(address),
    }
}

/// Returns `true` if not even the operator can allow `address`: link-local addresses and those of cloud metadata
/// services, which give out credentials, in any form; also multicast, broadcast and unspecified addresses.
#[must_use]
pub fn is_never_allowed(address: IpAddr) -> bool {
    let v4 = |address: Ipv4Addr| {
        in_v4(address, ([169, 254, 0, 0], 16))
            || address == Ipv4Addr::new(168, 63, 129, 16)
            || address == Ipv4Addr::new(100, 100, 100, 200)
            || address == Ipv4Addr::new(192, 0, 0, 192)
            || address.is_multicast()
            || address.is_broadcast()
            || address.is_unspecified()
    };
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => {
            embedded_ipv4(address).is_some_and(v4)
                || in_v6(address, (0xfe80 << 112, 10))
                || address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
                || address.is_multicast()
                || address.is_unspecified()
        }
    }
}

fn is_blocked_v4(address: Ipv4Addr) -> bool {
    BLOCKED_V4.iter().any(|network| in_v4(address, *network))
}

fn is_blocked_v6(address: Ipv6Addr) -> bool {
    !in_v6(address, GLOBAL_V6) || BLOCKED_V6.iter().any(|network| in_v6(address, *network))
}

fn in_v4(address: Ipv4Addr, (network, prefix): ([u8; 4], u32)) -> bool {
    let differs = address.to_bits() ^ Ipv4Addr::from(network).to_bits();
    differs.leading_zeros() >= prefix
}

fn in_v6(address: Ipv6Addr, (network, prefix): (u128, u32)) -> bool {
    (address.to_bits() ^ network).leading_zeros() >= prefix
}

/// Returns the IPv4 address in a mapped, compatible, NAT64 or 6to4 address.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    let low = Ipv4Addr::from_bits((bits & u128::from(u32::MAX)) as u32);
    let top = bits >> 32;
    if top == 0xffff || top == 0 || top == 0x0064_ff9b << 64 || in_v6(address, (0x0064_ff9b_0001 << 80, 48)) {
        Some(low)
    } else if bits >> 112 == 0x2002 {
        Some(Ipv4Addr::from_bits((bits >> 80) as u32))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_network_is_blocked_up_to_its_edges() {
        for (blocked, allowed) in [
            ("0.0.0.0 0.255.255.255", "1.0.0.0"),
            ("10.0.0.0 10.255.255.255", "9.255.255.255 11.0.0.0"),
            ("100.64.0.0 100.127.255.255", "100.63.255.255 100.128.0.0"),
            ("127.0.0.0 127.0.0.1 127.255.255.255", "126.255.255.255 128.0.0.0"),
            ("168.63.129.16", "168.63.129.15 168.63.129.17"),
            ("169.254.0.0 169.254.169.254 169.254.255.255", "169.253.255.255 169.255.0.0"),
            ("172.16.0.0 172.31.255.255", "172.15.255.255 172.32.0.0"),
            ("192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255", "192.0.1.0 192.0.3.0 191.255.255.255"),
            ("192.31.196.0 192.31.196.255", "192.31.195.255 192.31.197.0"),
            ("192.52.193.0 192.52.193.255", "192.52.192.255 192.52.194.0"),
            ("192.88.99.0 192.88.99.255", "192.88.98.255 192.88.100.0"),
            ("192.168.0.0 192.168.255.255", "192.167.255.255 192.169.0.0"),
            ("192.175.48.0 192.175.48.255", "192.175.47.255 192.175.49.0"),
            ("198.18.0.0 198.19.255.255", "198.17.255.255 198.20.0.0"),
            ("198.51.100.0 198.51.100.255", "198.51.99.255 198.51.101.0"),
            ("203.0.113.0 203.0.113.255", "203.0.112.255 203.0.114.0"),
            ("224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255", "223.255.255.255 8.8.8.8 93.184.215.14"),
            (":: ::1 ::127.0.0.1 ::8.8.8.8", "2606:4700::1111"),
            ("::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8", "2a00:1450::1"),
            ("64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1", "2400::1"),
            ("100::1 100:0:0:1::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1", "2000::1"),
            ("2001::1 2001:1ff:ffff::1 2001:db8::1 2001:20::1", "2001:200::1 2001:db9::1"),
            ("2002:7f00:1:: 2002:808:808::1", "2003::1"),
            ("2620:4f:8000::1", "2620:4f:8001::1 2620:4f:7fff::1"),
            ("3fff::1 3fff:fff::1 4000::1 8000::1 1fff::1", "3fff:1000::1 3ffe::1"),
        ] {
            for address in blocked.split(' ') {
                assert!(is_blocked(address.parse().unwrap()), "{address} must be blocked");
            }
            for address in allowed.split(' ') {
                assert!(!is_blocked(address.parse().unwrap()), "{address} must be allowed");
            }
        }
    }

    #[test]
    fn the_operator_cannot_allow_metadata_services() {
        for address in
            "169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 0.0.0.0 224.0.0.1 255.255.255.255 \
             :: fe80::1 fd00:ec2::254 ff02::1 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe:: ::169.254.169.254"
                .split_ascii_whitespace()
        {
            let address = address.parse().unwrap();
            assert!(is_never_allowed(address), "{address}");
            assert!(is_blocked(address), "{address}");
        }
        for address in ["127.0.0.1", "10.0.0.1", "192.168.1.1", "::1", "fd00::1"] {
            assert!(!is_never_allowed(address.parse().unwrap()), "{address}");
        }
    }

    proptest! {
        #[test]
        fn no_form_of_ipv4_inside_ipv6_gets_through(bits: u32) {
            let low = u128::from(bits);
            for form in [low, 0xffff << 32 | low, 0x0064_ff9b << 96 | low, 0x2002 << 112 | low << 80] {
                prop_assert!(is_blocked(IpAddr::V6(Ipv6Addr::from_bits(form))));
            }
        }

        #[test]
        fn what_the_operator_cannot_allow_is_blocked(bits: u128) {
            let six = IpAddr::V6(Ipv6Addr::from_bits(bits));
            let four = IpAddr::V4(Ipv4Addr::from_bits(bits as u32));
            prop_assert!(!is_never_allowed(six) || is_blocked(six));
            prop_assert!(!is_never_allowed(four) || is_blocked(four));
        }
    }
}
