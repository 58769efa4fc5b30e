//! How a reply is understood: as an answer of the expected type, or as one of the options.

use super::Input;
use crate::flow::json::{Json, Member, Node};
use crate::flow::model::Step;
use crate::flow::text::fold;

/// The value of a reply to an `ask`; nothing when it is no valid answer.
pub(super) fn answer(step: &Step<'_>, input: &Input) -> Option<Node<'static>> {
    let expect = step.node.str_of("expect").unwrap_or("text");
    let text = match input {
        Input::Timeout => return None,
        Input::Media(media) => {
            let is_expected = expect == "any" || expect == media;
            let is_text = matches!(media.as_str(), "text");
            return (is_expected && !is_text).then(|| {
                Json::Object(vec![Member::new("type", Node::string(media.clone()))]).into()
            });
        }
        Input::Text(text) => text.trim(),
    };
    if text.is_empty() {
        return None;
    }
    let bound = |name: &str| step.node.get(name).and_then(Node::as_number);
    let within = |measure: f64| {
        bound("min").is_none_or(|min| measure >= min)
            && bound("max").is_none_or(|max| measure <= max)
    };
    let kept = |is_valid: bool| is_valid.then(|| Node::string(text.to_owned()));
    match expect {
        "text" => kept(within(text.chars().count() as f64)),
        "any" => kept(true),
        "integer" => integer(text).filter(|number| within(*number)).map(Node::number),
        "number" => decimal(text).filter(|number| within(*number)).map(Node::number),
        "boolean" => match fold(text).as_str() {
            "sí" | "si" | "s" | "yes" | "y" | "true" | "1" | "ok" => Some(Json::Bool(true).into()),
            "no" | "n" | "false" | "0" => Some(Json::Bool(false).into()),
            _ => None,
        },
        "email" => kept(is_email(text)),
        "phone" => kept(is_phone(text)),
        "date" => kept(is_date(text)),
        "time" => kept(is_time(text)),
        "url" => kept(is_url(text)),
        _ => None,
    }
}

/// The position of the option that a reply chooses: by id, then by a label in any locale, then by position.
pub(super) fn choose(ids: &[&str], labels: &[Vec<String>], input: &Input) -> Option<usize> {
    let Input::Text(text) = input else { return None };
    let reply = fold(text);
    if reply.is_empty() {
        return None;
    }
    let by_id = ids.iter().position(|id| fold(id) == reply);
    let by_label = || labels.iter().position(|texts| texts.iter().any(|text| fold(text) == reply));
    let by_position = || {
        let is_number = reply.bytes().all(|byte| byte.is_ascii_digit());
        let position = reply.parse::<usize>().ok().filter(|_| is_number)?;
        (1..=ids.len()).contains(&position).then(|| position - 1)
    };
    by_id.or_else(by_label).or_else(by_position)
}

fn digits_of(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn is_digits(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn integer(text: &str) -> Option<f64> {
    is_digits(digits_of(text), 1, 15).then(|| text.parse::<i64>().ok())?.map(|number| number as f64)
}

fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = match text.split_once([',', '.']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    if !is_digits(digits_of(whole), 1, 15) || !fraction.is_none_or(|f| is_digits(f, 1, 15)) {
        return None;
    }
    let number: f64 = text.replace(',', ".").parse().ok()?;
    Some(if number == 0.0 { 0.0 } else { number })
}

fn is_email(text: &str) -> bool {
    let Some((name, domain)) = text.split_once('@') else { return false };
    !name.is_empty()
        && !text.contains(char::is_whitespace)
        && !domain.contains('@')
        && domain.split('.').count() > 1
        && domain.split('.').all(|label| !label.is_empty())
}

fn is_phone(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !" ().-".contains(*c)).collect();
    is_digits(plain.strip_prefix('+').unwrap_or(&plain), 7, 15)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    if !is_digits(year, 4, 4) || !is_digits(month, 2, 2) || !is_digits(day, 2, 2) {
        return false;
    }
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    let (year, month, day) = (number(year), number(month), number(day));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=n_days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let Some((hours, minutes)) = text.split_once(':') else { return false };
    is_digits(hours, 2, 2) && is_digits(minutes, 2, 2) && hours < "24" && minutes < "60"
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_answers() {
        let check = |expect: &str, text: &str, expected: Option<&str>| {
            let node = Node::from_value(&serde_json::json!({
                "id": "q", "kind": "ask", "text": "?", "save": "v", "expect": expect
            }));
            let step = Step {
                node: &node,
                id: "q",
                kind: crate::flow::model::Kind::Ask,
                path: String::new(),
                block: 0,
                at: 0,
                exits: Vec::new(),
            };
            let answer = answer(&step, &Input::Text(text.to_owned()));
            let answer = answer.map(|value| crate::flow::digest::canonical(&value));
            assert_eq!(answer.as_deref(), expected, "{expect} {text}");
        };
        check("text", "  a ", Some("\"a\""));
        check("text", "   ", None);
        check("integer", "+007", Some("7"));
        check("integer", "1234567890123456", None);
        check("integer", "1.0", None);
        check("number", "-0", Some("0"));
        check("number", "3,5", Some("3.5"));
        check("number", "1.", None);
        check("number", "1e3", None);
        check("boolean", " SÍ", None);
        check("boolean", "Sí", Some("true"));
        check("boolean", "0", Some("false"));
        check("email", "ana@example.com", Some("\"ana@example.com\""));
        check("email", "ana@x@example.com", None);
        check("email", "ana@example", None);
        check("phone", "+34 (600) 12-34.56", Some("\"+34 (600) 12-34.56\""));
        check("phone", "12345", None);
        check("date", "2024-02-29", Some("\"2024-02-29\""));
        check("date", "2100-02-29", None);
        check("date", "2024-2-29", None);
        check("time", "23:59", Some("\"23:59\""));
        check("time", "24:00", None);
        check("url", "https://", None);
        check("image", "una foto", None);
    }
}
