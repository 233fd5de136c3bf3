//! Which addresses are public. The tables are the special-purpose registries of the IANA, with what clouds have put elsewhere.
//!
//! Of IPv6 only 2000::/3 is given out as public; what lies outside it is special as a whole. Ranges that carry an IPv4 address inside
//! (mapped, compatible, translated, 6to4, Teredo) are special whatever they carry: nobody needs them to reach a public peer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

type V4 = ([u8; 4], u8, &'static str);
type V6 = ([u16; 8], u8, &'static str);

const V4_RANGES: [V4; 21] = [
    ([0, 0, 0, 0], 8, "this machine"),
    ([10, 0, 0, 0], 8, "a private network"),
    ([100, 64, 0, 0], 10, "a carrier's inner network"),
    ([127, 0, 0, 0], 8, "this machine (loopback)"),
    ([168, 63, 129, 16], 32, "a cloud's control service"),
    ([169, 254, 0, 0], 16, "the local link, where clouds keep their metadata"),
    ([172, 16, 0, 0], 12, "a private network"),
    ([192, 0, 0, 0], 24, "protocol assignments"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 31, 196, 0], 24, "the AS112 sink"),
    ([192, 52, 193, 0], 24, "multicast tunnels"),
    ([192, 88, 99, 0], 24, "6to4 relays"),
    ([192, 168, 0, 0], 16, "a private network"),
    ([192, 175, 48, 0], 24, "the AS112 sink"),
    ([198, 18, 0, 0], 15, "benchmarks"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([233, 252, 0, 0], 24, "documentation"),
    ([255, 255, 255, 255], 32, "broadcast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

/// Inside 2000::/3.
const V6_RANGES: [V6; 6] = [
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "protocol assignments, Teredo and ORCHID among them"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4, which carries an IPv4 address"),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, "the AS112 sink"),
    ([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16, "the 6bone, which is no more"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation"),
];

/// Outside 2000::/3, to say which.
const V6_OUTSIDE: [V6; 12] = [
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "this machine (unspecified)"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "this machine (loopback)"),
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "an IPv4 address written as IPv6"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, "an IPv4 address written as IPv6"),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "NAT64, which carries an IPv4 address"),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "NAT64, which carries an IPv4 address"),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "the discard prefix"),
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "segment routing"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "a private network"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "the local link"),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "a private network (site-local)"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast"),
];

/// The use this address is reserved for; `None` if it is public.
pub(super) fn reserved_for(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => {
            let within = |(network, bits, _): &&V4| same_prefix(v4(address), v4(Ipv4Addr::from(*network)), *bits);
            V4_RANGES.iter().find(within).map(|(.., name)| *name)
        }
        IpAddr::V6(address) => {
            let within = |(network, bits, _): &&V6| same_prefix(address.to_bits(), Ipv6Addr::from(*network).to_bits(), *bits);
            let global = same_prefix(address.to_bits(), 0x2000 << 112, 3);
            let ranges: &[V6] = if global { &V6_RANGES } else { &V6_OUTSIDE };
            let outside = if global { None } else { Some("nobody yet") };
            ranges.iter().find(within).map(|(.., name)| *name).or(outside)
        }
    }
}

/// In the upper bits, so that prefixes of both families are compared alike.
fn v4(address: Ipv4Addr) -> u128 {
    u128::from(address.to_bits()) << 96
}

fn same_prefix(one: u128, other: u128, bits: u8) -> bool {
    (one ^ other).leading_zeros() >= u32::from(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and last address of every special range, and the neighbours that are public.
    #[test]
    fn every_special_range_is_refused_from_its_first_to_its_last_address() {
        for (first, last) in [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("168.63.129.16", "168.63.129.16"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.31.196.0", "192.31.196.255"),
            ("192.52.193.0", "192.52.193.255"),
            ("192.88.99.0", "192.88.99.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("192.175.48.0", "192.175.48.255"),
            ("198.18.0.0", "198.19.255.255"),
            ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"),
            ("224.0.0.0", "239.255.255.255"),
            ("240.0.0.0", "255.255.255.255"),
            ("::", "::"),
            ("::1", "::1"),
            ("::0.0.0.2", "::255.255.255.255"),
            ("::ffff:0.0.0.0", "::ffff:255.255.255.255"),
            ("::ffff:0:0:0", "::ffff:0:ffff:ffff"),
            ("64:ff9b::", "64:ff9b::ffff:ffff"),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
            ("100::", "100::ffff:ffff:ffff:ffff"),
            ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
            ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"),
            ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:30::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
            ("3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ] {
            for address in [first, last] {
                assert!(reserved_for(address.parse().unwrap()).is_some(), "{address}");
            }
        }
    }

    #[test]
    fn the_addresses_beside_the_special_ranges_are_public() {
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.114.0",
            "223.255.255.255",
            "2000::",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "2a00::1",
            "3fff:1000::1",
        ] {
            assert_eq!(reserved_for(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn the_reason_says_what_the_address_is() {
        for (address, said) in
            [("255.255.255.255", "broadcast"), ("::1", "loopback"), ("169.254.169.254", "metadata"), ("::ffff:8.8.8.8", "IPv4")]
        {
            assert!(reserved_for(address.parse().unwrap()).is_some_and(|reason| reason.contains(said)), "{address}");
        }
    }
}
