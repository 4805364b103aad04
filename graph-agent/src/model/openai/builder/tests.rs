use super::*;

fn vars(vars: &[(&str, &str)]) -> Option<OpenAiBuilder> {
    OpenAiBuilder::from_vars(|name| {
        vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })
}

/// Checks the name, the endpoint and the name of the field for the maximum number of tokens.
fn check(builder: OpenAiBuilder, expected: (&str, &str, &str)) {
    let model = builder.build().unwrap();
    assert_eq!((model.model.as_str(), model.sender.endpoint.base(), model.max_tokens), expected);
}

#[test]
fn no_variables_give_no_model() {
    assert!(vars(&[]).is_none());
    assert!(vars(&[("OPENAI_API_KEY", " "), ("OPENAI_MODEL", "m")]).is_none());
}

#[test]
fn key_or_url_alone_is_enough() {
    let expected = (DEFAULT_MODEL, DEFAULT_ENDPOINT, "max_completion_tokens");
    check(vars(&[("OPENAI_API_KEY", "k")]).unwrap(), expected);
    let local = vars(&[("OPENAI_BASE_URL", " http://localhost:1/v1/ "), ("OPENAI_MODEL", "m")]).unwrap();
    assert!(local.header_map().unwrap().is_empty());
    check(local, ("m", "http://localhost:1/v1", "max_tokens"));
}

#[test]
fn invalid_settings_are_refused_without_quoting_them() {
    let model = || OpenAiModel::builder("m").endpoint("http://localhost:1/v1");
    for (builder, reason) in [
        (model().endpoint("localhost:1/v1"), "must begin with http"),
        (model().endpoint("not a url"), "not a URL"),
        (model().endpoint("file:///s3cret"), "must begin with http"),
        (model().endpoint("http://ann:s3cret@localhost/v1"), "password"),
        (model().endpoint("http://localhost/v1?key=s3cret"), "must not have a query"),
        (model().key("s3cret\nb"), "visible ASCII"),
        (model().key("s3cret schlüssel"), "visible ASCII"),
        (model().header("no name", "s3cret"), "`no name` is not a valid header name"),
        (model().header("x-team", "s3cret\r\nb: c"), "the value of the header `x-team` is not valid"),
    ] {
        assert!(!format!("{builder:?}").contains("s3cret"));
        let error = builder.build().unwrap_err();
        assert!(matches!(error, ModelError::InvalidConfig { .. }) && !error.is_transient());
        assert!(error.to_string().contains(reason), "{error}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn debug_output_hides_the_key() {
    let builder = OpenAiModel::builder("m").key("s3cret").header("api-key", "s3cret");
    assert!(!format!("{:?}{builder:?}", builder.header_map().unwrap()).contains("s3cret"));
    let model = builder.build().unwrap();
    assert_eq!(
        format!("{model:?}"),
        r#"OpenAiModel { model: "m", endpoint: "https://api.openai.com/v1", .. }"#
    );
}
