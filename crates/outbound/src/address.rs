use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to the public network: not to this machine, its neighbourhood, a
/// private network, or a range that has no owner.
///
/// Link-local addresses include the metadata services of cloud machines. An IPv6 address that
/// stands for an IPv4 address is judged by that one.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// A service of one cloud for its own machines, which has an address among the public ones.
const AZURE_WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn is_public_v4(address: Ipv4Addr) -> bool {
    if address == AZURE_WIRE_SERVER {
        return false;
    }
    let [a, b, c, _] = address.octets();
    let is_special = match (a, b, c) {
        // This network, private networks, loopback, link-local.
        (0 | 10 | 127, _, _) | (172, 16..=31, _) | (192, 168, _) | (169, 254, _) => true,
        // Between providers and their customers, and protocol assignments.
        (100, 64..=127, _) | (192, 0, 0) => true,
        // Documentation and benchmarks.
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) | (198, 18 | 19, _) => true,
        // Multicast, reserved, broadcast.
        (224..=255, _, _) => true,
        _ => false,
    };
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    if let Some(inner) = embedded_v4(address) {
        return is_public_v4(inner);
    }
    // Only the global unicast range is in use; some of it is for special purposes.
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_special = match (segments[0], segments[1]) {
        // Teredo and other protocol assignments, documentation.
        (0x2001, 0..=0x01ff | 0x0db8) => true,
        (0x3fff, 0..=0x0fff) => true,
        _ => false,
    };
    is_global && !is_special
}

/// The IPv4 address that an IPv6 address stands for: mapped, translated (NAT64) or tunnelled
/// (6to4).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(from(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
