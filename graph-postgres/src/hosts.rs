//! The servers that a URL names.

use std::hash::{BuildHasher as _, RandomState};

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts};

/// Returns the configuration of each server, in the order in which they are tried.
///
/// `Config::connect` tries all servers by itself, but one that accepts the connection and then does not answer would keep it
/// from the next.
pub(crate) fn each(config: &Config) -> Vec<Config> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = hosts.len().max(addresses.len());
    let fits = |len: usize| len == 0 || len == count;
    // `Config::connect` refuses lists of different lengths.
    if count <= 1 || !fits(hosts.len()) || !fits(addresses.len()) || !(ports.len() == 1 || fits(ports.len()))
    {
        return vec![config.clone()];
    }
    let mut each: Vec<Config> = (0..count)
        .map(|nth| {
            let mut one = without_hosts(config);
            match hosts.get(nth) {
                Some(Host::Tcp(name)) => drop(one.host(name)),
                #[cfg(unix)]
                Some(Host::Unix(folder)) => drop(one.host_path(folder)),
                None => {}
            }
            if let Some(address) = addresses.get(nth) {
                one.hostaddr(*address);
            }
            if let Some(port) = ports.get(nth).or(ports.first()) {
                one.port(*port);
            }
            one
        })
        .collect();
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        let random = RandomState::new();
        let mut nth = 0_usize;
        each.sort_by_cached_key(|_| {
            nth += 1;
            random.hash_one(nth)
        });
    }
    each
}

/// Copies everything but the servers.
fn without_hosts(config: &Config) -> Config {
    let mut copy = Config::new();
    if let Some(user) = config.get_user() {
        copy.user(user);
    }
    if let Some(password) = config.get_password() {
        copy.password(password);
    }
    if let Some(database) = config.get_dbname() {
        copy.dbname(database);
    }
    if let Some(options) = config.get_options() {
        copy.options(options);
    }
    if let Some(name) = config.get_application_name() {
        copy.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        copy.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        copy.tcp_user_timeout(*timeout);
    }
    copy.keepalives(config.get_keepalives());
    copy.keepalives_idle(config.get_keepalives_idle());
    if let Some(interval) = config.get_keepalives_interval() {
        copy.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        copy.keepalives_retries(retries);
    }
    copy.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    copy
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use super::*;

    fn check(url: &str, expected: &[&str]) {
        let found: Vec<Config> = each(&Config::from_str(url).unwrap());
        let expected: Vec<Config> = expected.iter().map(|url| Config::from_str(url).unwrap()).collect();
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn each_server_keeps_the_other_parts_of_the_url() {
        let rest = "user=a password=b dbname=c options=-cx=1 application_name=d sslmode=require sslnegotiation=direct \
                    connect_timeout=2 tcp_user_timeout=3 keepalives=0 keepalives_idle=4 keepalives_interval=5 \
                    keepalives_retries=6 target_session_attrs=read-write channel_binding=require";
        check(
            &format!("host=x,/y hostaddr=1.2.3.4,1.2.3.5 port=1,2 {rest}"),
            &[
                &format!("host=x hostaddr=1.2.3.4 port=1 {rest}"),
                &format!("host=/y hostaddr=1.2.3.5 port=2 {rest}"),
            ],
        );
    }

    #[test]
    fn servers_share_a_single_port() {
        check("host=x,y port=7", &["host=x port=7", "host=y port=7"]);
        check("host=x,y", &["host=x", "host=y"]);
        check("hostaddr=1.2.3.4,1.2.3.5", &["hostaddr=1.2.3.4", "hostaddr=1.2.3.5"]);
    }

    #[test]
    fn lists_that_do_not_fit_are_left_to_the_client() {
        check("host=x,y port=1,2,3", &["host=x,y port=1,2,3"]);
        check("host=x", &["host=x"]);
    }
}
