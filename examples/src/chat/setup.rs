use crate::Error;

/// The chat model that the environment variables describe.
#[derive(Clone, PartialEq, Eq)]
pub struct Setup {
    /// The variable `OPENAI_BASE_URL`.
    pub endpoint: String,
    /// The variable `OPENAI_API_KEY`. Local servers usually need no key.
    pub key: Option<String>,
    /// The variable `OPENAI_MODEL`.
    pub model: String,
}

const ENDPOINT: &str = "https://api.openai.com/v1";
const MODEL: &str = "gpt-4o-mini";

impl Setup {
    /// Reads the variables through `var`. An empty variable counts as unset.
    ///
    /// Returns `None` if neither a base URL nor a key is set.
    ///
    /// # Errors
    /// [`Error::ChatSetup`], if the base URL or the key is invalid.
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
        // Checked here, too, so that the error can name the variable.
        if key.as_ref().is_some_and(|key| !key.chars().all(|char| char.is_ascii_graphic())) {
            return Err(Error::ChatSetup("OPENAI_API_KEY must consist of visible ASCII characters"));
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
    fn no_variables_give_no_model() {
        assert!(setup(&[]).unwrap().is_none());
        assert!(setup(&[("OPENAI_API_KEY", " "), ("OPENAI_MODEL", "m")]).unwrap().is_none());
    }

    #[test]
    fn key_alone_uses_the_public_endpoint() {
        let setup = setup(&[("OPENAI_API_KEY", "k")]).unwrap().unwrap();
        assert_eq!((setup.endpoint.as_str(), setup.model.as_str()), (ENDPOINT, MODEL));
    }

    #[test]
    fn url_alone_uses_no_key() {
        let setup =
            setup(&[("OPENAI_BASE_URL", "http://localhost:1/v1/"), ("OPENAI_MODEL", "m")]).unwrap().unwrap();
        assert_eq!(
            (setup.endpoint.as_str(), setup.key, setup.model.as_str()),
            ("http://localhost:1/v1", None, "m")
        );
    }

    #[test]
    fn invalid_url_is_refused() {
        assert!(setup(&[("OPENAI_BASE_URL", "localhost:1")]).is_err());
    }

    #[test]
    fn invalid_key_is_refused() {
        assert!(setup(&[("OPENAI_API_KEY", "a\nb")]).is_err());
        assert!(setup(&[("OPENAI_API_KEY", "schlüssel")]).is_err());
    }
}
