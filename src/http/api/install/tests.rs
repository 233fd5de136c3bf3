//! Tests of `http::api::install`.

use super::*;

#[test]
fn every_shipped_folder_holds_the_capability_of_its_name() {
    for (name, folder) in folders() {
        let read = folder::read(&folder).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.name, name);
        read.grants().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
