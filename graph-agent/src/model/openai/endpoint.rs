use reqwest::Url;
use reqwest::header::HeaderMap;

/// The URL, headers and secrets of each request.
pub(super) struct Endpoint {
    /// The URL without `/chat/completions`.
    base: Url,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// The key and the values of the user's headers, the longest first.
    secrets: Vec<String>,
}

/// The length in bytes below which a header value is not a secret. To replace it would garble messages.
const MIN_SECRET: usize = 4;

impl Endpoint {
    pub(super) fn new<'a>(base: Url, headers: HeaderMap, secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut url = base.clone();
        url.set_path(&format!("{}/chat/completions", base.path().trim_end_matches('/')));
        // A provider may repeat the token of `Bearer <token>` without the scheme.
        let parts = secrets.flat_map(|value| {
            let value = value.trim();
            [Some(value), value.split_once(' ').map(|(_, token)| token.trim())].into_iter().flatten()
        });
        let mut secrets: Vec<String> =
            parts.filter(|secret| secret.len() >= MIN_SECRET).map(str::to_owned).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { base, url, headers, secrets }
    }

    pub(super) fn base(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Removes the key and the header values from a provider's message, since some providers repeat them.
    ///
    /// A message may be truncated in the middle of a secret.
    pub(super) fn redact(&self, message: &str) -> String {
        let mut message = message.to_owned();
        let starts = self
            .secrets
            .iter()
            .flat_map(|secret| (MIN_SECRET..secret.len()).rev().filter_map(|length| secret.get(..length)));
        let end = starts.filter(|start| message.ends_with(start)).map(str::len).max();
        if let Some(length) = end {
            message.truncate(message.len().saturating_sub(length));
            message.push_str("***");
        }
        self.secrets.iter().fold(message, |message, secret| message.replace(secret, "***"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_redacted() {
        let secrets = ["sk-12345", "Bearer token-1", "sk-1234567", "eu", ""];
        let base = Url::parse("http://localhost:1/v1/").unwrap();
        let endpoint = Endpoint::new(base, HeaderMap::new(), secrets.into_iter());
        assert_eq!(endpoint.url.as_str(), "http://localhost:1/v1/chat/completions");
        for (message, expected) in [
            ("bad key sk-12345 in eu", "bad key *** in eu"),
            ("bad key sk-1234567.", "bad key ***."),
            ("token-1 and Bearer token-1", "*** and ***"),
            ("no secret", "no secret"),
            ("truncated in sk-123456", "truncated in ***"),
            ("truncated in sk-123 or tok", "truncated in sk-123 or tok"),
            ("truncated in Bearer tok", "truncated in ***"),
        ] {
            assert_eq!(endpoint.redact(message), expected);
        }
    }
}
