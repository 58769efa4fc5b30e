//! What holds for all input: frames and the dispatcher.

use botmesh_docs::mcp::frame::{Frame, Frames};
use botmesh_docs::mcp::session::{Answer, Server, Session, Transport};
use botmesh_docs::tools::Context;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

fn frames<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut frames = Frames::with_limit(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        frames.push(chunk, |frame| seen.push(frame));
    }
    frames.finish(|frame| seen.push(frame));
    seen
}

/// Bytes rich in what frames look at.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => Just(b'\n'),
        2 => Just(b'\r'),
        2 => Just(b' '),
        1 => prop::sample::select(b"\xef\xbb\xbf\xc3\xa9\xf0\x9f\x8e\x89\xff".to_vec()),
        6 => any::<u8>(),
    ];
    vec(byte, 0..200)
}

/// A line that a client might send, right or wrong.
fn line() -> impl Strategy<Value = String> {
    let method = prop::sample::select(vec![
        "ping",
        "initialize",
        "server/discover",
        "tools/list",
        "tools/call",
        "notifications/cancelled",
        "x",
    ]);
    let member = prop_oneof![
        Just(json!(null)),
        Just(json!(1.5)),
        Just(json!("2.0")),
        Just(json!("2026-07-28")),
        Just(json!([])),
        Just(json!({})),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "jsonrpc",
        "id",
        "params",
        "method",
        "result",
        "error",
        "name",
        "arguments",
        "cursor",
        "_meta",
        "protocolVersion",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
    ]);
    let object = vec((name, member), 0..5).prop_map(|members| {
        let members: Vec<String> =
            members.iter().map(|(name, member)| format!("{}:{member}", json!(name))).collect();
        format!("{{{}}}", members.join(","))
    });
    prop_oneof![
        object.clone(),
        (method, object.clone(), object).prop_map(|(method, params, meta)| format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"_meta":{meta},"x":{params}}}}}"#
        )),
        ".{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_survive_any_chunking(bytes in stream(), cuts in vec(0..200_usize, 0..8), limit in 0..40_usize) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(frames(limit, pieces), frames(limit, [bytes.as_slice()]));
    }

    #[test]
    fn any_bytes_leave_the_dispatcher_alive(lines in vec(line(), 0..8), noise in stream()) {
        let mut bytes = lines.join("\n").into_bytes();
        bytes.extend(noise);
        let server = Server::new(Context::default());
        let mut session = Session::default();
        for frame in frames(1000, [bytes.as_slice()]) {
            let Frame::Line(line) = frame else { continue };
            let answer = server.answer(&mut session, Transport::Stdio, &line);
            let text = serde_json::to_string(&answer).expect("answers are JSON");
            prop_assert!(!text.contains('\n'), "one line: {}", text);
            prop_assert!(!text.contains(r#""id":null"#), "{}", text);
        }
        let ping = r#"{"jsonrpc":"2.0","id":"after","method":"ping"}"#;
        let answer = server.answer(&mut session, Transport::Stdio, ping);
        let text = serde_json::to_string(&answer).expect("answers are JSON");
        prop_assert_eq!(text, r#"{"jsonrpc":"2.0","id":"after","result":{}}"#);
    }

    #[test]
    fn every_request_gets_one_answer_under_its_id(
        ids in vec(prop_oneof![any::<i64>().prop_map(Value::from), "\\PC{0,12}".prop_map(Value::from)], 1..20),
        method in prop::sample::select(vec!["ping", "tools/list", "tools/call", "initialize", "x"]),
        in_batch in any::<bool>(),
    ) {
        let request = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "method": method });
        let server = Server::new(Context::default());
        let mut session = Session::default();
        let mut seen = Vec::new();
        if in_batch {
            let batch = Value::Array(ids.iter().map(request).collect()).to_string();
            match server.answer(&mut session, Transport::Stdio, &batch) {
                Some(Answer::Batch(replies)) => seen.extend(replies),
                other => prop_assert!(false, "no array: {:?}", other),
            }
        } else {
            for id in &ids {
                match server.answer(&mut session, Transport::Stdio, &request(id).to_string()) {
                    Some(Answer::One(reply)) => seen.push(reply),
                    other => prop_assert!(false, "no single answer: {:?}", other),
                }
            }
        }
        let seen: Vec<Value> = seen
            .iter()
            .map(|reply| serde_json::to_value(&reply.id).expect("ids are JSON"))
            .collect();
        prop_assert_eq!(seen, ids);
    }
}
