//! Any bytes, cut anywhere: the same frames, no panic, and a dispatcher that goes on.
//!
//! The first byte says where the rest is cut.

#![no_main]

use botmesh_docs::mcp::frame::{Frame, Frames};
use botmesh_docs::mcp::session::{Server, Session, Transport};
use botmesh_docs::tools::Context;
use libfuzzer_sys::fuzz_target;

/// Small, so that the limit is met often.
const MAX_CHARS: usize = 4096;

fn frames<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut frames = Frames::with_limit(MAX_CHARS);
    let mut seen = Vec::new();
    for chunk in chunks {
        frames.push(chunk, |frame| seen.push(frame));
    }
    frames.finish(|frame| seen.push(frame));
    seen
}

fuzz_target!(|input: &[u8]| {
    let Some((&step, bytes)) = input.split_first() else { return };
    let whole = frames([bytes]);
    assert_eq!(whole, frames(bytes.chunks(usize::from(step) + 1)));
    let server = Server::new(Context::default());
    let mut session = Session::default();
    for frame in whole {
        let Frame::Line(line) = frame else { continue };
        let answer = server.answer(&mut session, Transport::Stdio, &line);
        let text = serde_json::to_string(&answer).expect("answers are JSON");
        assert!(!text.contains('\n') && !text.contains(r#""id":null"#), "{text}");
    }
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert!(server.answer(&mut session, Transport::Stdio, ping).is_some());
});
