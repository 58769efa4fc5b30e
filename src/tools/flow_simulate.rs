//! `flow_simulate`: a conversation without a phone.

use serde_json::{Value, json};

use super::flow::{Source, open_all};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::ToolError;
use crate::flow::analyze::validate_all;
use crate::flow::model::Flow;
use crate::flow::simulate::{Script, simulate};
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "flow_simulate",
    title: "Simulate a flow",
    description: "Run a valid flow on scripted replies and handler results; no phone, clock or network. Answers the transcript, steps visited and missed, final variables and how it ended. Use it to test a flow.",
    input_schema: r#"{"type":"object","properties":{"document":{"type":["object","string"],"description":"The flow document"},"subflows":{"type":"array","maxItems":32,"items":{"type":["object","string"]},"description":"Documents of the flows it calls"},"inputs":{"type":"array","maxItems":1000,"items":{"type":["string","object"],"properties":{"timeout":{"type":"boolean"},"type":{"type":"string"}},"additionalProperties":false},"description":"Replies in order: text, {\"timeout\":true} or {\"type\":\"image\"}"},"variables":{"type":"object","description":"Starting values; also \"contact.name\" etc."},"handlers":{"type":"object","additionalProperties":{"type":"array","items":{"type":"object"}},"description":"Handler name to results in order: {\"value\":…} or {\"error\":true}; the last repeats"},"locale":{"type":"string"},"maxSteps":{"type":"integer","minimum":1,"maximum":10000,"description":"Step limit (500)"}},"required":["document"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"status":{"type":"string"},"outcome":{"type":"string"},"at":{"type":"string"},"transcript":{"type":"array","items":{"type":"object"}},"visited":{"type":"array","items":{"type":"string"}},"variables":{"type":"object"},"output":{"type":"object"},"unusedInputs":{"type":"integer"},"coverage":{"type":"object"},"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object"}},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run,
};

fn run(_: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let document = Source::argument(arguments, "document");
    let subflows = Source::list(arguments, "subflows");
    let (document, subflows) = match open_all(TOOL.name, &document, subflows.as_deref())? {
        Ok(opened) => opened,
        Err(reply) => return Ok(reply),
    };
    let subflows = subflows.unwrap_or_default();
    let validation = validate_all(&document, &subflows);
    if !validation.is_valid() {
        return Ok(validation.to_value().into());
    }
    let mut script = json!({});
    for name in ["inputs", "variables", "handlers", "locale", "maxSteps"] {
        script[name] = arguments.get(name).cloned().unwrap_or(Value::Null);
    }
    let flow = Flow::new(&document.root);
    let flows: Vec<Flow<'_>> = subflows.iter().map(|subflow| Flow::new(&subflow.root)).collect();
    Ok(simulate(&flow, &flows, &Script::from_value(&script)).to_value().into())
}
