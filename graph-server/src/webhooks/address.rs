use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;

use crate::api_error::{ApiError, ApiResult};
use crate::options::Options;

/// The maximum length of an address.
const MAX_BYTES: usize = 2_048;

/// Checks the webhook of a request. Its name is resolved later, when the webhook is called.
///
/// # Errors
/// It is no address of the web, or one that the server does not call.
pub(crate) fn check(options: &Options, webhook: Option<&str>) -> ApiResult<()> {
    let Some(text) = webhook else { return Ok(()) };
    let refused = |problem: &str| Err(ApiError::unprocessable(format!("`webhook`: {problem}")));
    let url = match Url::parse(text) {
        Ok(url) if text.len() <= MAX_BYTES => url,
        _ => return refused("expected an address such as `https://example.com/done`"),
    };
    let Some(host) = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")) else {
        return refused("expected an address that begins with `https://` or `http://`");
    };
    if options.private_webhooks {
        return Ok(());
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let is_local = name == "localhost" || name.ends_with(".localhost");
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    if is_local || ip.is_ok_and(|ip| !is_public(ip)) {
        return refused("the server sends nothing to addresses of its own machine or of private networks");
    }
    Ok(())
}

/// Returns the addresses to connect to.
///
/// # Errors
/// The name cannot be resolved, or one of its addresses is not public.
pub(super) async fn resolve(url: &Url, private: bool) -> Result<Vec<SocketAddr>, Unreachable> {
    let host = url.host_str().ok_or(Unreachable::Forbidden)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().ok_or(Unreachable::Forbidden)?;
    let found: Vec<_> = match tokio::net::lookup_host((host, port)).await {
        Ok(found) => found.collect(),
        Err(_) => return Err(Unreachable::NotResolved),
    };
    if !private && found.iter().any(|address| !is_public(address.ip())) {
        return Err(Unreachable::Forbidden);
    }
    if found.is_empty() { Err(Unreachable::NotResolved) } else { Ok(found) }
}

/// The reason why a webhook is not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreachable {
    /// The name has no address now.
    NotResolved,
    /// The address is not public.
    Forbidden,
}

/// Returns `true` for an address of the public internet.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        // This network, multicast, reserved, broadcast.
        || a == 0
        || a >= 224
        // Shared by carriers, protocol assignments, benchmarks, relays of 6to4.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 88 && c == 99))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    if let Some(ip) = ip.to_ipv4_mapped() {
        return is_public_v4(ip);
    }
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (a, b) {
        // Translated addresses.
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => v4(g, h),
        (0x2002, _) => v4(b, c),
        // Tunnels and other protocol assignments, documentation.
        (0x2001, b) if b < 0x200 || b == 0xdb8 => false,
        (0x3fff, b) if b < 0x1000 => false,
        // Only this range is given to the public internet.
        _ => (0x2000..0x4000).contains(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        for ip in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
        ] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
    }
}
