//! Limits of the channels. They are never a matter of validity: the server shortens or splits where it can.

use super::Findings;
use super::facts::Facts;
use crate::flow::check::texts;
use crate::flow::json::{Json, Node};
use crate::flow::model::{Kind, Slot};
use crate::flow::pointer::{join, join_index};
use crate::flow::text::visible_len;

const MAX_TEXT: usize = 4096; // WhatsApp and Telegram
const MAX_INTERACTIVE_BODY: usize = 1024; // WhatsApp buttons and lists
const MAX_CAPTION: usize = 1024; // WhatsApp and Telegram
const MAX_BUTTONS: usize = 3; // WhatsApp
const MAX_ROWS: usize = 10; // WhatsApp list
const MAX_BUTTON_LABEL: usize = 20; // WhatsApp, also the button that opens a list
const MAX_ROW_LABEL: usize = 24; // WhatsApp list
const MAX_ROW_DESCRIPTION: usize = 72; // WhatsApp list
const MAX_OPTION_ID_BYTES: usize = 64; // Telegram callback data
const WINDOW_SECONDS: f64 = 86_400.0; // WhatsApp: 24 hours after the last message of the user
const MAX_BURST: usize = 5;

pub(super) fn lint(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    let is_whatsapp = facts.is_on("whatsapp");
    let is_telegram = facts.is_on("telegram");
    for (at, step) in facts.flow.steps.iter().enumerate() {
        let display = step.node.str_of("display").unwrap_or("auto");
        let is_choice = step.kind == Kind::Choice;
        for (text, path) in texts(step) {
            let name = path.rsplit('/').next().unwrap_or_default();
            let limit = match name {
                "text" if is_choice && is_whatsapp && display != "text" => MAX_INTERACTIVE_BODY,
                "text" | "invalid" if is_whatsapp || is_telegram => MAX_TEXT,
                "caption" if is_whatsapp || is_telegram => MAX_CAPTION,
                _ => continue,
            };
            each_string(text, &path, |string, path| {
                let len = visible_len(string);
                if len > limit {
                    let message = format!("{len} characters; the channel takes {limit}");
                    found.add("text-too-long", Some(at), path, message);
                }
            });
        }
        if is_choice {
            if is_whatsapp {
                menu(facts, at, display, found);
            }
            if is_telegram {
                option_ids(facts, at, found);
            }
        }
        if is_whatsapp {
            let timeout = step.exit(Slot::Timeout).map(|exit| (exit.node, exit.path(&step.path)));
            let wait = (step.kind == Kind::Wait).then(|| (step.node, step.path.clone()));
            for (node, path) in timeout.into_iter().chain(wait) {
                let seconds = node.get("seconds").and_then(Node::as_number).unwrap_or_default();
                if seconds >= WINDOW_SECONDS {
                    let message = "after 24 hours WhatsApp delivers only approved templates";
                    found.add("wait-beyond-window", Some(at), join(&path, "seconds"), message);
                }
            }
        }
        if step.kind == Kind::Media {
            media(facts, at, found);
        }
    }
    bursts(facts, found);
}

fn each_string(text: &Node<'_>, path: &str, mut visit: impl FnMut(&str, String)) {
    match &text.json {
        Json::String(string) => visit(string, path.to_owned()),
        _ => {
            for member in text.members() {
                if let Some(string) = member.value.as_str() {
                    visit(string, join(path, &member.name));
                }
            }
        }
    }
}

/// The longest form of a text, in visible characters.
fn longest(text: &Node<'_>) -> usize {
    let mut longest = 0;
    each_string(text, "", |string, _| longest = longest.max(visible_len(string)));
    longest
}

fn menu(facts: &Facts<'_, '_>, at: usize, display: &str, found: &mut Findings<'_>) {
    let step = &facts.flow.steps[at];
    let options = step.node.get("options").map_or(&[][..], Node::items);
    let path = join(&step.path, "options");
    let (max_options, max_label) = match display {
        "buttons" => (MAX_BUTTONS, MAX_BUTTON_LABEL),
        "text" => return,
        _ => (MAX_ROWS, MAX_ROW_LABEL),
    };
    if options.len() > max_options {
        let message = format!("{} options; WhatsApp shows {max_options}", options.len());
        found.add("too-many-options", Some(at), path.clone(), message);
    }
    let mut check = |code, text: Option<&Node<'_>>, path: String, limit: usize| {
        let len = text.map_or(0, longest);
        if len > limit {
            let message = format!("{len} characters; WhatsApp shows {limit}");
            found.add(code, Some(at), path, message);
        }
    };
    let is_list = display != "buttons";
    for (index, option) in options.iter().enumerate() {
        let path = join_index(&path, index);
        check("label-too-long", option.get("label"), join(&path, "label"), max_label);
        if is_list {
            let path = join(&path, "description");
            check("description-too-long", option.get("description"), path, MAX_ROW_DESCRIPTION);
        }
    }
    if is_list {
        let path = join(&step.path, "button");
        check("label-too-long", step.node.get("button"), path, MAX_BUTTON_LABEL);
    }
}

fn option_ids(facts: &Facts<'_, '_>, at: usize, found: &mut Findings<'_>) {
    let step = &facts.flow.steps[at];
    for exit in step.exits.iter().filter(|exit| exit.slot == Slot::Option) {
        let len = exit.node.str_of("id").map_or(0, str::len);
        if len > MAX_OPTION_ID_BYTES {
            let message = format!("{len} bytes; Telegram takes {MAX_OPTION_ID_BYTES}");
            found.add("option-id-too-long", Some(at), join(&exit.path(&step.path), "id"), message);
        }
    }
}

fn media(facts: &Facts<'_, '_>, at: usize, found: &mut Findings<'_>) {
    let step = &facts.flow.steps[at];
    if step.node.str_of("url").is_some_and(|url| url.starts_with("http://")) {
        let message = "the file travels in the clear: use https";
        found.add("insecure-url", Some(at), join(&step.path, "url"), message);
    }
    let media = step.node.str_of("media").unwrap_or_default();
    if matches!(media, "audio" | "sticker") && step.node.get("caption").is_some() {
        let message = format!("channels show no caption on a file of kind {media}");
        found.add("unsupported-caption", Some(at), join(&step.path, "caption"), message);
    }
}

fn bursts(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    for block in &facts.flow.blocks {
        let mut run: Vec<usize> = Vec::new();
        for step in block.steps.iter().copied().map(Some).chain([None]) {
            let is_message = step
                .is_some_and(|step| matches!(facts.flow.steps[step].kind, Kind::Say | Kind::Media));
            if let Some(step) = step.filter(|_| is_message) {
                run.push(step);
                continue;
            }
            if run.len() > MAX_BURST {
                let message = format!("{} messages in a row", run.len());
                let path = facts.flow.steps[run[0]].path.clone();
                found.add("message-burst", Some(run[0]), path, message);
            }
            run.clear();
        }
    }
}
