//! Which hosts and origins may reach the server: a page of another site must not, not even by a name that it points
//! at this machine (DNS rebinding).

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use super::Options;

/// The hosts that requests may name.
pub(super) struct Guard {
    hosts: Vec<String>,
}

impl Guard {
    pub(super) fn new(options: &Options, address: SocketAddr) -> Self {
        let public = options.public_url.as_deref().and_then(host_of_url).map(str::to_owned);
        let mut hosts: Vec<String> =
            options.hosts.iter().chain(&public).map(|host| host.to_lowercase()).collect();
        if !address.ip().is_unspecified() {
            hosts.push(bare(&address.ip().to_string()).to_owned());
        }
        Self { hosts }
    }

    /// Why a request may not come in.
    pub(super) fn refuse(&self, headers: &HeaderMap) -> Option<&'static str> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if hosts.next().is_some() || !host.is_some_and(|host| self.knows(without_port(host))) {
            return Some(
                "the `Host` of the request is not one of this server's: name it with `--allow-host`",
            );
        }
        for origin in headers.get_all(ORIGIN) {
            let host = origin.to_str().ok().and_then(host_of_url);
            if !host.is_some_and(|host| self.knows(host)) {
                return Some(
                    "the `Origin` of the request is not one of this server's: name it with `--allow-host`",
                );
            }
        }
        None
    }

    fn knows(&self, host: &str) -> bool {
        let host = bare(host).to_lowercase();
        let is_loopback =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        is_loopback || self.hosts.contains(&host)
    }
}

/// The host of `http://host:port`; what has another form has none.
fn host_of_url(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    (!authority.contains('@')).then(|| without_port(authority))
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !ends_open(host) => host,
        _ => authority,
    }
}

/// Whether a `:` was inside the brackets of an IPv6 address.
fn ends_open(host: &str) -> bool {
    host.contains('[') && !host.ends_with(']')
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_origins_are_known_or_not() {
        let guard = Guard { hosts: vec!["docs.example".to_owned()] };
        for (host, origin, is_in) in [
            (Some("127.0.0.1:6060"), None, true),
            (Some("127.8.8.8"), None, true),
            (Some("LOCALHOST:1"), None, true),
            (Some("[::1]:6060"), None, true),
            (Some("::1"), None, false),
            (Some("docs.example"), Some("https://docs.example"), true),
            (Some("docs.example:443"), Some("https://docs.example:443"), true),
            (Some("evil.example"), None, false),
            (Some("localhost.evil.example"), None, false),
            (Some("127.0.0.1.evil.example"), None, false),
            (Some("127.0.0.1:x"), None, false),
            (Some(""), None, false),
            (None, None, false),
            (Some("localhost"), Some("null"), false),
            (Some("localhost"), Some("http://localhost@evil.example"), false),
            (Some("localhost"), Some("http://evil.example#localhost"), false),
            (Some("localhost"), Some("file://localhost"), false),
            (Some("localhost"), Some("http://[::1]:9"), true),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(host) = host {
                headers.insert(HOST, host.parse().expect("a header"));
            }
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().expect("a header"));
            }
            assert_eq!(guard.refuse(&headers).is_none(), is_in, "{host:?} {origin:?}");
        }
    }
}
