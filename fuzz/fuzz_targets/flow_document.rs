//! Any text through everything that looks at one document.
#![no_main]

use botmesh_docs::flow::analyze::{Format, analyze};
use botmesh_docs::flow::block::check_block;
use botmesh_docs::flow::diff::diff;
use botmesh_docs::flow::digest::digest;
use botmesh_docs::flow::format::format;
use botmesh_docs::flow::graph::Direction;
use botmesh_docs::flow::model::Flow;
use botmesh_docs::flow::reader::read;
use botmesh_docs::flow::simulate::{Input, Script, simulate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for located in check_block(text, 1) {
        assert!(text.get(located.span).is_some(), "a finding is at a place of the text");
    }
    let Ok(document) = read(text) else { return };
    if !document.defects.is_empty() {
        return;
    }
    let before = digest(&document.root);
    let laid_out = format(&document.root);
    let again = read(&laid_out).expect("a layout is JSON");
    assert_eq!(before, digest(&again.root));
    assert!(!diff(&document.root, &again.root).changed);
    let Ok(analysis) = analyze(&document, None) else { return };
    analysis.to_value(Format::Json, Direction::LeftRight);
    let script = Script {
        inputs: ["1", "si", "2027-01-01", ""].map(|text| Input::Text(text.to_owned())).to_vec(),
        max_steps: 50,
        ..Script::default()
    };
    simulate(&Flow::new(&document.root), &[], &script);
});
