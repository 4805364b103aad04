use super::Namespace;

impl Namespace {
    /// Returns bytes that sort like namespaces and begin with the bytes of every outer namespace, for the index of a store.
    ///
    /// They never contain the bytes 00 00. All namespaces inside this one sort before these bytes followed by FF.
    ///
    /// ```
    /// use superstep_store::store::Namespace;
    ///
    /// let (users, ann) = (Namespace::from(["users"]), Namespace::from(["users", "ann"]));
    /// assert!(ann.sort_key().starts_with(&users.sort_key()));
    /// assert_eq!(Namespace::from_sort_key(&ann.sort_key()), Some(ann));
    /// ```
    pub fn sort_key(&self) -> Vec<u8> {
        // Each segment is its bytes, with 00 written as 00 FF, followed by 00 01.
        let mut key = Vec::new();
        for segment in self.segments() {
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

    /// Reads a namespace from its [sort key](Self::sort_key). Returns `None` if the bytes are not one.
    pub fn from_sort_key(key: &[u8]) -> Option<Self> {
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
            assert!(pair[0].sort_key() < pair[1].sort_key(), "{pair:?}");
        }
        for inner in &namespaces {
            let key = inner.sort_key();
            assert_eq!(Namespace::from_sort_key(&key).as_ref(), Some(inner));
            assert!(!key.windows(2).any(|pair| pair == [0, 0]), "{key:?}");
            for outer in &namespaces {
                let from = outer.sort_key();
                let between = key >= from && key < [&*from, &[0xff]].concat();
                assert_eq!(between, inner.is_within(outer), "{inner} within {outer}");
            }
        }
    }

    #[test]
    fn invalid_sort_keys_are_refused() {
        for bytes in [&b"a"[..], b"a\0", b"a\0\x02", b"\xff\0\x01", b"a\0\x01b"] {
            assert_eq!(Namespace::from_sort_key(bytes), None, "{bytes:?}");
        }
    }
}
