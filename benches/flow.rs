//! What checks cost, as ratios: against Node's ajv on the same document in the same run, and as it grows.
//!
//! `cargo bench --bench flow`. The peer needs `npm ci` in `tests/node`; without it the run says so and goes on.

use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use botmesh_docs::flow::analyze::analyze;
use botmesh_docs::flow::check::validate;
use botmesh_docs::flow::diff::diff;
use botmesh_docs::flow::graph::{Direction, Graph};
use botmesh_docs::flow::lint::{Drawing, lint};
use botmesh_docs::flow::model::Flow;
use botmesh_docs::flow::reader::read;
use botmesh_docs::flow::schema::SCHEMA;
use serde_json::{Value, json};

/// The best of many runs: the least disturbed one.
fn best(mut run: impl FnMut()) -> Duration {
    const ROUNDS: usize = 300;
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// A flow of menus, questions, cases and messages, as authors write them.
fn document(n_steps: usize) -> String {
    let mut steps: Vec<Value> = Vec::new();
    let mut count = 0;
    while count + 6 <= n_steps {
        let at = count / 6;
        let next = format!("menu-{}", (at + 1).min(n_steps / 6 - 1));
        steps.push(json!({
            "id": format!("menu-{at}"), "kind": "choice",
            "text": { "es": format!("¿Qué necesitas, {{{{name|amigo}}}}? ({at})"), "en": format!("What do you need, {{{{name|friend}}}}? ({at})") },
            "save": format!("topic{at}"),
            "options": [
                { "id": "a", "label": { "es": "Ventas", "en": "Sales" }, "goto": format!("ask-{at}") },
                { "id": "b", "label": { "es": "Ayuda", "en": "Help" }, "steps": [
                    { "id": format!("help-{at}"), "kind": "say", "text": { "es": "Te ayudo con eso.", "en": "Let me help." } }
                ] },
                { "id": "c", "label": { "es": "Seguir", "en": "Go on" }, "goto": next },
            ],
            "onInvalid": { "goto": "fin" }, "timeout": { "seconds": 600, "goto": "fin" },
        }));
        steps.push(json!({
            "id": format!("ask-{at}"), "kind": "ask", "text": { "es": "¿Tu edad?", "en": "Your age?" },
            "save": format!("age{at}"), "expect": "integer", "min": 0, "max": 120,
            "onInvalid": { "goto": "fin" }, "timeout": { "seconds": 600, "goto": "fin" },
        }));
        steps.push(json!({
            "id": format!("case-{at}"), "kind": "branch",
            "cases": [{
                "when": { "op": "and", "of": [
                    { "op": "gte", "var": format!("age{at}"), "value": 18 },
                    { "op": "eq", "var": format!("topic{at}"), "value": "a" },
                ] },
                "steps": [{ "id": format!("adult-{at}"), "kind": "set", "assign": { "name": format!("{{{{age{at}}}}}") } }],
            }],
        }));
        steps.push(json!({
            "id": format!("save-{at}"), "kind": "action", "handler": "crm.save",
            "with": { "age": { "var": format!("age{at}") } }, "onError": { "goto": "fin" },
        }));
        count += 6;
    }
    steps.push(json!({ "id": "fin", "kind": "end", "outcome": "done" }));
    count += 1;
    while count < n_steps {
        steps.push(json!({ "id": format!("rest-{count}"), "kind": "end" }));
        count += 1;
    }
    json!({ "version": 2, "id": "bench", "locales": ["es", "en"], "steps": steps }).to_string()
}

/// The slope of log(time) over log(steps), by least squares: 1 is linear.
fn exponent(points: &[(usize, Duration)]) -> f64 {
    let logs: Vec<(f64, f64)> =
        points.iter().map(|(n, time)| ((*n as f64).ln(), time.as_secs_f64().ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let above = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>();
    above / logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>()
}

fn peer(text: &str) -> Result<(Duration, Duration), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::temp_dir().join(format!("flow-bench-{}", std::process::id()));
    let write = |name: &str, text: &str| -> io::Result<PathBuf> {
        fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        fs::write(&path, text)?;
        Ok(path)
    };
    let schema = write("schema.json", SCHEMA).map_err(|error| error.to_string())?;
    let document = write("document.json", text).map_err(|error| error.to_string())?;
    let output = Command::new("node")
        .arg(root.join("benches/peers/ajv.mjs"))
        .args([&schema, &document])
        .arg("300")
        .output()
        .map_err(|error| error.to_string());
    let removed = fs::remove_dir_all(&folder).map_err(|error| error.to_string());
    let output = output?;
    removed?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(text
            .lines()
            .find(|line| line.contains("Error"))
            .unwrap_or("it failed")
            .to_owned());
    }
    let times: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let time = |name: &str| Duration::from_nanos(times[name].as_u64().unwrap_or_default());
    Ok((time("parse_ns"), time("validate_ns")))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let clinic = fs::read_to_string(root.join("tests/cases/flow/valid/clinic-booking-60.json"))?;
    let time = best(|| {
        let document = read(&clinic).expect("a valid case");
        black_box(validate(&document));
        black_box(analyze(&document, None).expect("a valid case"));
    });
    writeln!(out, "validate + analyze, 60 steps: {time:?}")?;

    let large = document(1_000);
    let document_1000 = read(&large)?;
    let validation = validate(&document_1000);
    assert!(validation.is_valid(), "{:?}", validation.issues);
    let all = best(|| {
        black_box(validate(&read(&large).expect("JSON")));
    });
    let stages = best(|| {
        black_box(validate(&document_1000));
    });
    writeln!(
        out,
        "validate, 1000 steps, {} bytes: {all:?} with reading, {stages:?} without",
        large.len()
    )?;
    match peer(&large) {
        Ok((parse, check)) => {
            let with_parse = (parse + check).as_secs_f64() / all.as_secs_f64();
            let without = check.as_secs_f64() / stages.as_secs_f64();
            writeln!(out, "ajv standalone: {check:?}, and {parse:?} for JSON.parse")?;
            writeln!(
                out,
                "ajv takes {with_parse:.2} times as long with reading, {without:.2} without"
            )?;
        }
        Err(reason) => writeln!(out, "ajv skipped: {reason}")?,
    }

    let sizes = [100, 200, 400, 700, 1_000];
    let texts: Vec<String> = sizes.iter().map(|n| document(*n)).collect();
    let mut report = |name: &str, run: &mut dyn FnMut(&str) -> Duration| -> io::Result<()> {
        let points: Vec<(usize, Duration)> =
            sizes.iter().zip(&texts).map(|(n, text)| (*n, run(text))).collect();
        writeln!(out, "{name}: exponent {:.2}, {:?} at 1000", exponent(&points), points[4].1)
    };
    report("read + validate", &mut |text| {
        best(|| {
            black_box(validate(&read(text).expect("JSON")));
        })
    })?;
    report("lint", &mut |text| {
        let document = read(text).expect("JSON");
        let flow = Flow::new(&document.root);
        best(|| {
            black_box(lint(&flow, None, Drawing::default()));
        })
    })?;
    report("graph", &mut |text| {
        let document = read(text).expect("JSON");
        let flow = Flow::new(&document.root);
        best(|| {
            black_box(Graph::new(&flow, &[]).mermaid(Direction::TopDown));
        })
    })?;
    report("diff", &mut |text| {
        let changed = text.replace("Te ayudo", "Os ayudo");
        let (left, right) = (read(text).expect("JSON"), read(&changed).expect("JSON"));
        best(|| {
            black_box(diff(&left.root, &right.root));
        })
    })?;
    Ok(())
}
