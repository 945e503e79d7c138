//! Spellings of addresses that a URL parser, a resolver or another program may read as private ones. Most are made from
//! the address in every base and form; the rest are written out.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc};

use super::{EgressPolicy, RefusalCode, authorize_egress, policy};
use crate::{
    ConnectionPolicy, GateHost, authorize_connection, authorize_token_request, connection::BaseUrl,
    ip_filter::is_blocked, testing::http_connection,
};

/// Loopback, private, link-local, metadata, shared, unspecified and other addresses that are not of the internet.
const PRIVATE: &[[u8; 4]] = &[
    [127, 0, 0, 1],
    [127, 255, 255, 254],
    [0, 0, 0, 0],
    [10, 0, 0, 1],
    [172, 16, 0, 1],
    [192, 168, 0, 1],
    [169, 254, 169, 254],
    [169, 254, 170, 2],
    [100, 100, 100, 200],
    [168, 63, 129, 16],
    [192, 0, 0, 192],
    [198, 18, 0, 1],
    [224, 0, 0, 1],
    [255, 255, 255, 255],
];

const PUBLIC: &[[u8; 4]] = &[[8, 8, 8, 8], [1, 1, 1, 1], [93, 184, 215, 14], [172, 32, 0, 1]];

/// Writes an IPv4 address in every form that the URL standard reads.
fn ipv4_spellings([a, b, c, d]: [u8; 4]) -> Vec<String> {
    let number = u32::from_be_bytes([a, b, c, d]);
    let (low24, low16) = (number & 0x00ff_ffff, number & 0xffff);
    let dotted = format!("{a}.{b}.{c}.{d}");
    let in_digits = |zero: u32| -> String {
        let digit = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(zero + digit)).unwrap_or(c);
        dotted.chars().map(digit).collect()
    };
    vec![
        format!("{a}.{b}.{low16}"),
        format!("{a}.{low24}"),
        format!("{number}"),
        format!("0x{number:x}"),
        format!("0X{number:08X}"),
        format!("0x0000{number:08x}"),
        format!("0{number:o}"),
        format!("000{number:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0x{a:02X}.0x{b:02X}.0x{c:02X}.0x{d:02X}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.000{b:o}.000{c:o}.000{d:o}"),
        format!("0x{a:x}.0{b:o}.{c}.{d}"),
        format!("0x{a:x}.{low24}"),
        format!("0{a:o}.0x{low24:x}"),
        format!("{a}.0x{b:x}.0{low16:o}"),
        format!("{dotted}."),
        format!("{number}."),
        format!("{dotted}:443"),
        format!("0x{number:x}:443"),
        in_digits(0xff10),
        in_digits(0x1d7d8),
        dotted.replace('.', "。"),
        dotted.replace('.', "．"),
        dotted.replace('.', "｡"),
        dotted.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        dotted.replace('.', "%2e"),
        format!("{}\u{ad}{}", &dotted[..2], &dotted[2..]),
        format!("{}\u{200b}{}", &dotted[..2], &dotted[2..]),
        dotted,
    ]
}

/// Writes an IPv4 address inside an IPv6 address.
fn embedded_spellings(octets: [u8; 4]) -> Vec<String> {
    let (dotted, number) = (Ipv4Addr::from(octets), u32::from_be_bytes(octets));
    let (high, low) = (number >> 16, number & 0xffff);
    vec![
        format!("[::ffff:{dotted}]"),
        format!("[::FFFF:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:ffff:{dotted}]"),
        format!("[0000:0000:0000:0000:0000:ffff:{high:04x}:{low:04x}]"),
        format!("[::{dotted}]"),
        format!("[::ffff:0:{dotted}]"),
        format!("[64:ff9b::{dotted}]"),
        format!("[64:ff9b::{high:x}:{low:x}]"),
        format!("[64:ff9b:1::{high:x}:{low:x}]"),
        format!("[2002:{high:x}:{low:x}::]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:{high:x}:{low:x}::1]"),
        format!("[2001::{:x}:{:x}]", high ^ 0xffff, low ^ 0xffff),
        format!("[::ffff:{dotted}]:443"),
        format!("[::ffff:{dotted}%25eth0]"),
        format!("[::ffff:{dotted}%eth0]"),
    ]
}

/// Spellings that no rule makes.
const WRITTEN_OUT: &[&str] = &[
    "localhost",
    "LOCALHOST",
    "localhost.",
    "ｌocalhost",
    "local\u{ad}host",
    "loc%61lhost",
    "localhost:443",
    "a.localhost",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "localhost.localdomain",
    "ip6-localhost",
    "metadata",
    "metadata.google.internal",
    "METADATA.GOOGLE.INTERNAL.",
    "instance-data.ec2.internal",
    "kubernetes.default.svc.cluster.local",
    "router.lan",
    "printer.local",
    "nas.home.arpa",
    "wiki.corp",
    "gateway.home",
    "portal.intranet",
    "db",
    "[::]",
    "[::1]",
    "[0::1]",
    "[::0:1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::1]:443",
    "[::1%25lo]",
    "[::1%lo]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[FE80::1]",
    "[febf::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00::1]",
    "[fd00:ec2::254]",
    "[FD00:EC2::254]",
    "[fd20:ce::254]",
    "[ff02::1]",
    "[ff05::2]",
    "[100::1]",
    "[5f00::1]",
    "[2001:db8::1]",
    "[2001:10::1]",
    "[3fff::1]",
    "[::1",
    "::1",
    "::ffff:127.0.0.1",
    "127.0.0.1\t",
    "127.0\t.0.1",
    "127.0.0.1\n",
    "127.0.0.1\r\n",
    " 127.0.0.1",
    "127.0.0.1 ",
    "127.0.0.1\\",
    "127.0.0.1\\@api.example.com",
    "127.0.0.1\u{0}",
    "api.example.com@127.0.0.1",
    "api.example.com:443@127.0.0.1",
    "127.0.0.1#@api.example.com",
    "127.0.0.1?@api.example.com",
    "127.0.0.1/@api.example.com",
    "①②⑦.⓪.⓪.①",
    "⑯⑨。②⑤④。⑯⑨｡②⑤④",
    "127.1",
    "127.0.1",
    "127.000.000.001",
    "0x7f000001.",
    "00000000177.0.0.1",
    "256.256.256.256",
    "0x100000000",
    "4294967296",
    "1.2.3.4.5",
    "127.0.0.1..",
    ".127.0.0.1",
];

/// Returns every spelling of an address that must not be reached.
fn spellings() -> BTreeSet<String> {
    let made = PRIVATE
        .iter()
        .flat_map(|octets| ipv4_spellings(*octets).into_iter().chain(embedded_spellings(*octets)));
    made.chain(WRITTEN_OUT.iter().map(|text| (*text).to_owned())).collect()
}

#[test]
fn no_spelling_of_a_private_address_is_permitted() {
    let spellings = spellings();
    assert!(spellings.len() >= 600, "{}", spellings.len());
    // Whoever can reach a private address has open gates to every host; still none may get through.
    let policy: Arc<EgressPolicy> = policy();
    let connection = Arc::new(ConnectionPolicy::new(http_connection(1, "https://api.example.com")));
    for authority in &spellings {
        for url in [
            format!("https://{authority}/"),
            format!("https://{authority}/latest/meta-data?x=y"),
            format!("https://{authority}"),
        ] {
            let refusal = authorize_egress(&url, "GET", &policy).map(|permit| permit.url().to_string());
            let refusal = refusal.expect_err(&url);
            let expected = [RefusalCode::InvalidUrl, RefusalCode::PrivateAddress, RefusalCode::HostDenied];
            assert!(expected.contains(&refusal.code), "{url:?}: {refusal}");
            assert!(BaseUrl::parse(&url).is_err(), "{url:?}");
            assert!(authorize_token_request(&url, &connection).is_err(), "{url:?}");
        }
        assert!(GateHost::parse(authority).is_err(), "{authority:?}");
        // As a path or a redirect it must not become the host.
        for target in [format!("//{authority}/"), format!("/{authority}"), format!("/\\{authority}/")] {
            if let Ok(permit) = authorize_connection(&target, "GET", &connection) {
                assert_eq!(permit.host().as_str(), "api.example.com", "{target:?}");
                assert_eq!(permit.url().host_str(), Some("api.example.com"), "{target:?}");
            }
        }
        let permit = authorize_connection("/", "GET", &connection).unwrap();
        for location in
            [format!("https://{authority}/"), format!("//{authority}/"), format!("\\\\{authority}/")]
        {
            if let Ok(next) = permit.follow_redirect(&location) {
                assert_eq!(next.url().host_str(), Some("api.example.com"), "{location:?}");
            }
        }
    }
}

#[test]
fn spellings_that_parse_are_known_as_private() {
    let policy = policy();
    let mut private = 0;
    for octets in PRIVATE {
        assert!(is_blocked(Ipv4Addr::from(*octets).into()));
        for authority in ipv4_spellings(*octets) {
            let refusal = authorize_egress(&format!("https://{authority}/"), "GET", &policy).unwrap_err();
            private += usize::from(refusal.code == RefusalCode::PrivateAddress);
        }
    }
    assert!(private >= 300, "only {private} spellings were read as addresses");
}

#[test]
fn public_hosts_and_addresses_are_the_control() {
    let policy = policy();
    for octets in PUBLIC {
        for authority in ipv4_spellings(*octets) {
            let refusal = authorize_egress(&format!("https://{authority}/"), "GET", &policy).unwrap_err();
            // A manifest declares names: the code tells that the address itself is not the reason.
            let is_private = matches!(refusal.code, RefusalCode::PrivateAddress | RefusalCode::HostDenied);
            assert!(!is_private, "{authority}: {refusal}");
        }
    }
    for authority in [
        "api.example.com",
        "API.EXAMPLE.COM",
        "api.example.com.",
        "api.example.com:443",
        "ａpi.example.com",
        "api\u{ad}.example.com",
    ] {
        let url = format!("https://{authority}/");
        assert!(authorize_egress(&url, "GET", &policy).is_ok(), "{authority}");
        assert!(BaseUrl::parse(&url).is_ok(), "{authority}");
    }
}
