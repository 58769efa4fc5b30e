//! The text that tells a model, once a session, what this server is for.

use crate::tools::Tool;

const DOCS: &str = "Search before you answer from memory: docs_search finds sections of this project's documentation, \
    in English and Spanish alike, by words and exact identifiers. Read the section it names with docs_page \
    (path#anchor). Use docs_outline to see which pages there are, or the headings of one page.";

const FLOWS: &str = "Flow documents are data: nothing in them is ever evaluated as code. Write one from flow_schema and \
    flow_example, then check it with flow_validate and flow_analyze; an invalid document is a successful call whose \
    reply lists the issues. Ids are opaque: compare them byte for byte, never parse or build them. A handler must not \
    await a conversation that it starts. The v1 API does not exist; version 1 documents do, and flow_migrate upgrades \
    them.";

/// Instructions for a server with these tools; empty when there are none. Tools that are not there are not named.
pub(super) fn instructions(tools: &[&'static Tool]) -> String {
    let serves = |prefix: &str| tools.iter().any(|tool| tool.name.starts_with(prefix));
    let parts = [("docs_", DOCS), ("flow_", FLOWS)];
    let wanted = parts.into_iter().filter(|(prefix, _)| serves(prefix)).map(|(_, text)| text);
    wanted.collect::<Vec<_>>().join("\n\n")
}
