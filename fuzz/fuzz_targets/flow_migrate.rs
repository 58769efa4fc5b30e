//! Any object through migration.
#![no_main]

use botmesh_docs::flow::digest::digest;
use botmesh_docs::flow::migrate::migrate;
use botmesh_docs::flow::reader::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(document) = read(text) else { return };
    if !document.defects.is_empty() || !document.root.is_object() {
        return;
    }
    for target in 0..=2 {
        let Ok(migration) = migrate(document.root.clone(), target) else { continue };
        let once = digest(&migration.document);
        let again = migrate(migration.document, target).expect("what was migrated is of a known version");
        assert_eq!(once, digest(&again.document), "migrating twice changes nothing");
    }
});
