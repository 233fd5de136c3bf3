//! The order of keys: that of the alphabet, if a client was always given it so.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};

/// Writes the keys of every object in `value` in the order of the alphabet.
pub(super) fn by_name<T: Serialize, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    serde_json::to_value(value).map_err(S::Error::custom)?.serialize(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Inner {
        second: bool,
        first: Option<i64>,
    }

    #[derive(Serialize)]
    struct Outer {
        whole: i64,
        #[serde(serialize_with = "by_name")]
        parts: Vec<Inner>,
    }

    #[test]
    fn the_keys_of_every_object_are_sorted_and_those_around_it_are_not() {
        let outer = Outer { whole: 1, parts: vec![Inner { second: true, first: None }] };
        assert_eq!(serde_json::to_string(&outer).unwrap(), r#"{"whole":1,"parts":[{"first":null,"second":true}]}"#);
    }
}
