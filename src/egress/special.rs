//! Which addresses are public. The tables are the special-purpose registries of the IANA, with what
//! clouds have put elsewhere.
//!
//! Of IPv6 only 2000::/3 is given out as public; what lies outside it is special as a whole. Ranges
//! that carry an IPv4 address inside (mapped, compatible, translated, 6to4, Teredo) are special
//! whatever they carry: nobody needs them to reach a public peer.

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
mod tests;
