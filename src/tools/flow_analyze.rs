//! `flow_analyze`: what a valid flow does and what is risky in it.

use serde_json::Value;

use super::flow::{Source, open_all, word};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::ToolError;
use crate::flow::analyze::{Format, analyze};
use crate::flow::check::Validation;
use crate::flow::graph::Direction;
use crate::flow::reach;
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "flow_analyze",
    title: "Analyze a flow",
    description: "Validate, lint and draw a flow: diagnostics (loops, dead ends, unset variables, channel limits, translations) and a Mermaid or JSON graph. Pass the flows it calls as subflows. Use it when flow_validate finds nothing.",
    input_schema: r#"{"type":"object","properties":{"document":{"type":["object","string"],"description":"The flow document"},"subflows":{"type":"array","maxItems":32,"items":{"type":["object","string"]},"description":"Documents of the flows it calls or starts; [] means there are none"},"format":{"type":"string","enum":["mermaid","json"],"description":"Graph format (mermaid)"},"direction":{"type":"string","enum":["TD","LR","TB","RL","BT"],"description":"Graph direction (TD)"},"reach":{"type":"string","minLength":1,"maxLength":64,"description":"Step id: also answer the shortest script of inputs that gets there"}},"required":["document"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object"}},"omitted":{"type":"integer"},"summary":{"type":"object"},"diagnostics":{"type":"array","items":{"type":"object"}},"counts":{"type":"object"},"suppressed":{"type":"object"},"mermaid":{"type":"string"},"graph":{"type":"object"},"reach":{"type":"object"},"error":{"type":"object"}}}"#,
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
    let format = match word(arguments, "format") {
        Some("json") => Format::Json,
        _ => Format::Mermaid,
    };
    let direction = word(arguments, "direction").and_then(Direction::from_name).unwrap_or_default();
    let mut value: Value = match analyze(&document, subflows.as_deref()) {
        Ok(analysis) => analysis.to_value(format, direction),
        Err(validation) => return Ok(Validation::to_value(&validation).into()),
    };
    if let Some(step) = word(arguments, "reach") {
        value["reach"] = reach::reach(&document.root, step);
    }
    Ok(value.into())
}
