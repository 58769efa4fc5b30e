//! Rules on handlers.

use super::Findings;
use super::facts::Facts;
use crate::flow::model::{Kind, Slot};
use crate::flow::pointer::join;

pub(super) fn lint(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    for (at, step) in facts.flow.steps.iter().enumerate() {
        if step.kind != Kind::Action {
            continue;
        }
        if step.is_awaited() {
            if step.exit(Slot::OnError).is_none() {
                let message = "the handler may fail: say where to go with `onError`";
                found.add("action-without-error-path", Some(at), step.path.clone(), message);
            }
            if step.node.get("starts").is_some() {
                let message =
                    "a handler must not await a conversation it starts: set `await` to false";
                found.add("await-own-conversation", Some(at), join(&step.path, "starts"), message);
            }
        } else if step.node.get("save").is_some() {
            let message = "nobody waits for the result: `await` is false";
            found.add("save-without-await", Some(at), join(&step.path, "save"), message);
        }
    }
}
