//! The cases of `tests/cases/markdown/`: a page's sections, anchors and lines.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use botmesh_index::anchor::Dialect;
use botmesh_index::page::Page;
use serde_json::Value;

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/markdown");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no cases");
    let mut failures = Vec::new();
    for file in files {
        let case = fs::read_to_string(&file).expect("a case");
        let case: Value = serde_json::from_str(&case).expect("a case is JSON");
        let name = case["file"].as_str().expect("a file");
        let bytes = fs::read(folder.join(name)).expect("a page");
        let (page, _) = Page::read(name, &bytes, Dialect::GitHub, "en");
        if let Err(fault) = check(&case, &page) {
            failures.push(format!("{name}: {fault}"));
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

fn check(case: &Value, page: &Page) -> Result<(), String> {
    let joined: String =
        page.sections.iter().map(|section| &page.text[section.bytes.clone()]).collect();
    if !page.sections.is_empty() && joined != page.text {
        return Err("the sections are not the page".to_owned());
    }
    let expected: Vec<&Value> = case["sections"].as_array().expect("sections").iter().collect();
    let is_front_matter = |start: u32| {
        let lines = &case["front_matter_lines"];
        lines.is_array() && u64::from(start) <= lines[1].as_u64().unwrap_or(0) + 1
    };
    let sections: Vec<_> = page.sections.iter().collect();
    let starts_with_extra = sections.first().is_some_and(|first| first.level == 0)
        && expected.first().is_none_or(|first| first["level"] != 0);
    let may_be_extra = starts_with_extra && is_front_matter(sections[0].start_line);
    let lacks_optional = expected.first().is_some_and(|first| first["optional"] == true)
        && sections.first().is_none_or(|first| first.level != 0);
    let shown = &sections[usize::from(may_be_extra)..];
    let wanted = &expected[usize::from(lacks_optional)..];
    if shown.len() != wanted.len() {
        let seen: Vec<_> = shown.iter().map(|section| (section.level, &section.heading)).collect();
        return Err(format!("{} sections, not {}: {seen:?}", shown.len(), wanted.len()));
    }
    for (section, wanted) in shown.iter().zip(wanted) {
        let level = wanted["level"].as_u64().expect("a level");
        let mut faults = Vec::new();
        let mut compare = |name: &str, seen: Value, wanted: &Value| {
            if !wanted.is_null() && seen != *wanted {
                faults.push(format!("{name} {seen}, not {wanted}"));
            }
        };
        compare("level", section.level.into(), &wanted["level"]);
        if level > 0 {
            compare("heading", section.heading.as_str().into(), &wanted["heading"]);
            compare("anchor", section.anchor.as_str().into(), &wanted["anchor"]);
        }
        if level > 0 || !is_front_matter(section.start_line) {
            compare("start_line", section.start_line.into(), &wanted["start_line"]);
        }
        compare("end_line", section.end_line.into(), &wanted["end_line"]);
        if !faults.is_empty() {
            return Err(format!("{:?}: {}", section.heading, faults.join(", ")));
        }
    }
    for part in case["section_text_contains"].as_array().into_iter().flatten() {
        let at = part["section"].as_u64().expect("a position") as usize;
        let text = part["text"].as_str().expect("a text");
        let section = shown.get(at).ok_or("no such section")?;
        if !section.text.contains(text) {
            return Err(format!("{text:?} is not in {:?}", section.text));
        }
    }
    for heading in case["never_a_heading"].as_array().into_iter().flatten() {
        if page.sections.iter().any(|section| Some(section.heading.as_str()) == heading.as_str()) {
            return Err(format!("{heading} is a heading"));
        }
    }
    if case["page_title"].as_str().is_some_and(|title| title != page.title) {
        return Err(format!("the title is {:?}", page.title));
    }
    let anchors: Vec<&str> = page
        .sections
        .iter()
        .filter(|section| section.level > 0)
        .map(|section| section.anchor.as_str())
        .collect();
    if anchors.iter().collect::<BTreeSet<_>>().len() != anchors.len() {
        return Err(format!("anchors repeat: {anchors:?}"));
    }
    Ok(())
}
