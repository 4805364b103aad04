use super::*;

fn vars(vars: &[(&str, &str)]) -> Option<OpenAiBuilder> {
    OpenAiBuilder::from_vars(|name| {
        vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })
}

/// Name, endpoint and the field for the most tokens.
fn check(builder: OpenAiBuilder, expected: (&str, &str, &str)) {
    let model = builder.build().unwrap();
    assert_eq!((model.model.as_str(), model.client.config().base(), model.max_tokens), expected);
}

#[test]
fn nothing_set_is_no_model() {
    assert!(vars(&[]).is_none());
    assert!(vars(&[("OPENAI_API_KEY", " "), ("OPENAI_MODEL", "m")]).is_none());
}

#[test]
fn a_key_alone_means_openai_and_a_url_alone_a_server_without_a_key() {
    check(vars(&[("OPENAI_API_KEY", "k")]).unwrap(), (MODEL, OPENAI, "max_completion_tokens"));
    let local = vars(&[("OPENAI_BASE_URL", " http://localhost:1/v1/ "), ("OPENAI_MODEL", "m")]).unwrap();
    assert!(local.header_map().unwrap().is_empty());
    check(local, ("m", "http://localhost:1/v1", "max_tokens"));
}

#[test]
fn what_cannot_be_used_is_refused_when_the_model_is_made_and_nothing_of_it_is_said() {
    let model = || OpenAiModel::builder("m").endpoint("http://localhost:1/v1");
    for (builder, reason) in [
        (model().endpoint("localhost:1/v1"), "must begin with http"),
        (model().endpoint("not a url"), "no URL"),
        (model().endpoint("file:///s3cret"), "must begin with http"),
        (model().endpoint("http://ann:s3cret@localhost/v1"), "password"),
        (model().endpoint("http://localhost/v1?key=s3cret"), "must end with its path"),
        (model().key("s3cret\nb"), "visible ASCII"),
        (model().key("s3cret schlüssel"), "visible ASCII"),
        (model().header("no name", "s3cret"), "`no name` is no name of a header"),
        (model().header("x-team", "s3cret\r\nb: c"), "`x-team` cannot hold"),
    ] {
        assert!(!format!("{builder:?}").contains("s3cret"));
        let error = builder.build().unwrap_err();
        assert!(matches!(error, ModelError::Setup { .. }) && !error.is_transient());
        assert!(error.to_string().contains(reason), "{error}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn no_debug_shows_the_key() {
    let builder = OpenAiModel::builder("m").key("s3cret").header("api-key", "s3cret");
    assert!(!format!("{:?}{builder:?}", builder.header_map().unwrap()).contains("s3cret"));
    let model = builder.build().unwrap();
    assert_eq!(
        format!("{model:?}"),
        r#"OpenAiModel { model: "m", endpoint: "https://api.openai.com/v1", .. }"#
    );
}
