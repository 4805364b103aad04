use superstep_store::store::Namespace;

/// A namespace as bytes that sort as it does, and begin with those of the namespaces that it is within: the bytes of each
/// segment, in which 00 is 00 FF, and behind each segment 00 01.
pub(super) fn place(namespace: &Namespace) -> Vec<u8> {
    let mut place = Vec::new();
    for segment in namespace.segments() {
        for byte in segment.bytes() {
            place.push(byte);
            if byte == 0 {
                place.push(0xff);
            }
        }
        place.extend([0, 1]);
    }
    place
}

/// What sorts behind the bytes of every namespace within one, and before those of every other that sorts behind it: no text
/// has the byte FF.
pub(super) fn end(place: &[u8]) -> Vec<u8> {
    [place, &[0xff]].concat()
}

/// The namespace of such bytes.
pub(super) fn namespace(place: &[u8]) -> Option<Namespace> {
    let mut segments = Vec::new();
    let mut segment = Vec::new();
    let mut bytes = place.iter();
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

/// The same for people: the segments as JSON.
pub(super) fn name(namespace: &Namespace) -> String {
    let segments: Vec<&str> = namespace.segments().iter().map(|segment| &**segment).collect();
    serde_json::Value::from(segments).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_sort_as_namespaces_do_and_are_read_back() {
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
            assert!(place(&pair[0]) < place(&pair[1]), "{pair:?}");
        }
        for inner in &namespaces {
            assert_eq!(namespace(&place(inner)).as_ref(), Some(inner));
            for outer in &namespaces {
                let from = place(outer);
                let between = place(inner) >= from && place(inner) < end(&from);
                assert_eq!(between, inner.is_within(outer), "{inner} within {outer}");
            }
        }
    }

    #[test]
    fn what_is_no_place_is_none() {
        for bytes in [&b"a"[..], b"a\0", b"a\0\x02", b"\xff\0\x01", b"a\0\x01b"] {
            assert_eq!(namespace(bytes), None, "{bytes:?}");
        }
        assert_eq!(name(&["a\"", "\0"].into()), r#"["a\"","\u0000"]"#);
    }
}
