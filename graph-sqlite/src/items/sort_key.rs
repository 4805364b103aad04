use superstep_store::store::Namespace;

/// Encodes a namespace as bytes that sort like namespaces and start with the bytes of every parent namespace. Each
/// segment is its bytes, with 00 written as 00 FF, followed by 00 01.
pub(super) fn sort_key(namespace: &Namespace) -> Vec<u8> {
    let mut key = Vec::new();
    for segment in namespace.segments() {
        for byte in segment.bytes() {
            key.push(byte);
            if byte == 0 {
                key.push(0xff);
            }
        }
        key.extend([0, 1]);
    }
    key
}

/// Returns the upper bound of all namespaces at or below one. UTF-8 never contains the byte FF.
pub(super) fn end_of_subtree(key: &[u8]) -> Vec<u8> {
    [key, &[0xff]].concat()
}

/// Decodes a namespace.
pub(super) fn from_sort_key(key: &[u8]) -> Option<Namespace> {
    let mut segments = Vec::new();
    let mut segment = Vec::new();
    let mut bytes = key.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            0 => match bytes.next()? {
                0xff => segment.push(0),
                1 => segments.push(String::from_utf8(std::mem::take(&mut segment)).ok()?),
                _ => return None,
            },
            byte => segment.push(byte),
        }
    }
    segment.is_empty().then(|| segments.into())
}

/// Returns the segments as JSON, for people.
pub(super) fn display_name(namespace: &Namespace) -> String {
    let segments: Vec<&str> = namespace.segments().iter().map(|segment| &**segment).collect();
    serde_json::Value::from(segments).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_keys_sort_like_namespaces_and_round_trip() {
        let lists: [&[&str]; 12] = [
            &[],
            &[""],
            &["", ""],
            &["a"],
            &["a", ""],
            &["a", "b"],
            &["a\0"],
            &["a\0", "b"],
            &["a\0b"],
            &["a\u{1}"],
            &["ab"],
            &["\u{10ffff}"],
        ];
        let mut namespaces: Vec<Namespace> = lists.into_iter().map(Namespace::from).collect();
        namespaces.sort();
        for pair in namespaces.windows(2) {
            assert!(sort_key(&pair[0]) < sort_key(&pair[1]), "{pair:?}");
        }
        for inner in &namespaces {
            assert_eq!(from_sort_key(&sort_key(inner)).as_ref(), Some(inner));
            for outer in &namespaces {
                let from = sort_key(outer);
                let between = sort_key(inner) >= from && sort_key(inner) < end_of_subtree(&from);
                assert_eq!(between, inner.is_within(outer), "{inner} within {outer}");
            }
        }
    }

    #[test]
    fn invalid_sort_keys_are_refused() {
        for bytes in [&b"a"[..], b"a\0", b"a\0\x02", b"\xff\0\x01", b"a\0\x01b"] {
            assert_eq!(from_sort_key(bytes), None, "{bytes:?}");
        }
        assert_eq!(display_name(&["a\"", "\0"].into()), r#"["a\"","\u0000"]"#);
    }
}
