use superstep_store::store::{ItemKey, Namespace};

/// The bytes between the namespace and the key in the name of an item. A sort key does not contain them. They sort before
/// every segment, so the items of a namespace come before those of the namespaces inside it.
const SEPARATOR: [u8; 2] = [0, 0];

/// Encodes the namespace and key of an item as bytes that sort like them.
pub(super) fn name(at: &ItemKey) -> Vec<u8> {
    let mut name = at.namespace.sort_key();
    name.extend(SEPARATOR);
    name.extend(at.key.as_bytes());
    name
}

/// A range of names, from the first to the one after the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameRange {
    pub(super) from: Vec<u8>,
    pub(super) to: Vec<u8>,
}

impl NameRange {
    /// The items of a namespace and of the namespaces inside it. UTF-8 never contains the byte FF.
    pub(super) fn within(namespace: &Namespace) -> Self {
        let from = namespace.sort_key();
        let to = [&*from, &[0xff]].concat();
        Self { from, to }
    }

    /// The items of exactly one namespace.
    pub(super) fn of(namespace: &Namespace) -> Self {
        let key = namespace.sort_key();
        Self { from: [&*key, &SEPARATOR].concat(), to: Self::after(&key) }
    }

    /// Leaves out the names up to this one.
    pub(super) fn begin_after(&mut self, at: &ItemKey) {
        // The next bytes in their order.
        let next = [&*name(at), &[0]].concat();
        self.from = next.max(std::mem::take(&mut self.from));
    }

    /// Returns the first name after those of the items of a namespace, from the sort key of the namespace.
    pub(super) fn after(key: &[u8]) -> Vec<u8> {
        [key, &[0, 1]].concat()
    }
}

/// Decodes the name of an item.
pub(super) fn read_name(name: &[u8]) -> Option<ItemKey> {
    let separator = name.windows(2).position(|pair| pair == SEPARATOR)?;
    let namespace = Namespace::from_sort_key(name.get(..separator)?)?;
    let key = std::str::from_utf8(name.get(separator + 2..)?).ok()?;
    Some(ItemKey::new(namespace, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_like_items_and_round_trip() {
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
        let keys = ["", "\0", "\0\0", "\0\u{1}", "\u{1}", "a", "a\0", "ab", "\u{10ffff}"];
        let namespaces: Vec<Namespace> = lists.into_iter().map(Namespace::from).collect();
        let mut items: Vec<ItemKey> =
            namespaces.iter().flat_map(|inner| keys.map(|key| ItemKey::new(inner, key))).collect();
        items.sort();
        for pair in items.windows(2) {
            assert!(name(&pair[0]) < name(&pair[1]), "{pair:?}");
        }
        for at in &items {
            let name = name(at);
            assert_eq!(read_name(&name).as_ref(), Some(at));
            for outer in &namespaces {
                let contains = |range: NameRange| name >= range.from && name < range.to;
                assert_eq!(
                    contains(NameRange::within(outer)),
                    at.namespace.is_within(outer),
                    "{at:?} {outer}"
                );
                assert_eq!(contains(NameRange::of(outer)), at.namespace == *outer, "{at:?} {outer}");
            }
        }
    }

    #[test]
    fn invalid_names_are_refused() {
        for bytes in [&b"a"[..], b"a\0", b"a\0\x02", b"\xff\0\x01", b"a\0\x01b"] {
            assert_eq!(read_name(bytes), None, "{bytes:?}");
        }
        for bytes in [&b"a\0\0k"[..], b"\0\0\xff", b"a\0\x01"] {
            assert_eq!(read_name(bytes), None, "{bytes:?}");
        }
    }
}
