use crate::Error;

/// Where a chat model is, according to the environment.
#[derive(Clone, PartialEq, Eq)]
pub struct Setup {
    /// `OPENAI_BASE_URL`.
    pub endpoint: String,
    /// `OPENAI_API_KEY`; servers on one's own machine want none.
    pub key: Option<String>,
    /// `OPENAI_MODEL`.
    pub model: String,
}

const ENDPOINT: &str = "https://api.openai.com/v1";
const MODEL: &str = "gpt-4o-mini";

impl Setup {
    /// Reads the variables through `var`, empty ones being unset; `None` when neither a base URL nor a key is given.
    ///
    /// # Errors
    /// [`Error::ChatSetup`] when the base URL is no URL, or the key no key.
    pub fn from_env(var: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Error> {
        let set = |name| var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let (endpoint, key) = (set("OPENAI_BASE_URL"), set("OPENAI_API_KEY"));
        if endpoint.is_none() && key.is_none() {
            return Ok(None);
        }
        let endpoint = endpoint.unwrap_or_else(|| ENDPOINT.to_owned());
        if !(endpoint.starts_with("http://") || endpoint.starts_with("https://")) {
            return Err(Error::ChatSetup("OPENAI_BASE_URL must begin with http:// or https://"));
        }
        // No HTTP header can hold another. Here the error can name the variable.
        if key.as_ref().is_some_and(|key| !key.chars().all(|letter| letter.is_ascii_graphic())) {
            return Err(Error::ChatSetup("OPENAI_API_KEY must consist of visible ASCII letters"));
        }
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        Ok(Some(Self { endpoint, key, model: set("OPENAI_MODEL").unwrap_or_else(|| MODEL.to_owned()) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(vars: &[(&str, &str)]) -> Result<Option<Setup>, Error> {
        Setup::from_env(|name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_set_is_no_model() {
        assert!(setup(&[]).unwrap().is_none());
        assert!(setup(&[("OPENAI_API_KEY", " "), ("OPENAI_MODEL", "m")]).unwrap().is_none());
    }

    #[test]
    fn a_key_alone_means_the_public_endpoint() {
        let setup = setup(&[("OPENAI_API_KEY", "k")]).unwrap().unwrap();
        assert_eq!((setup.endpoint.as_str(), setup.model.as_str()), (ENDPOINT, MODEL));
    }

    #[test]
    fn a_url_alone_means_a_server_without_a_key() {
        let setup =
            setup(&[("OPENAI_BASE_URL", "http://localhost:1/v1/"), ("OPENAI_MODEL", "m")]).unwrap().unwrap();
        assert_eq!(
            (setup.endpoint.as_str(), setup.key, setup.model.as_str()),
            ("http://localhost:1/v1", None, "m")
        );
    }

    #[test]
    fn what_is_no_url_is_refused() {
        assert!(setup(&[("OPENAI_BASE_URL", "localhost:1")]).is_err());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        assert!(setup(&[("OPENAI_API_KEY", "a\nb")]).is_err());
        assert!(setup(&[("OPENAI_API_KEY", "schlüssel")]).is_err());
    }
}
