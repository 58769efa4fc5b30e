//! Like a compiler: the sentence, the place, the line under a caret, what to do, and a count at the end.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Finding, Severity, counts};

pub(super) fn write(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let renderer = Renderer::styled();
    for finding in findings {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Info => Level::INFO,
        };
        let title = level.primary_title(&*finding.message).id(&*finding.code);
        let mut group = title.elements(std::iter::empty::<annotate_snippets::Element<'_>>());
        if let Some(excerpt) = &finding.excerpt {
            let mut annotation = AnnotationKind::Primary.span(excerpt.span.clone());
            if let Some(hint) = &finding.hint {
                annotation = annotation.label(&**hint);
            }
            group = group.element(
                Snippet::source(&*excerpt.text)
                    .line_start(finding.line)
                    .path(&*finding.path)
                    .annotation(annotation),
            );
        }
        // The renderer counts columns within the excerpt; a cut one would name the wrong place.
        let text = renderer.render(&[group]);
        let place = format!("{}:{}:", finding.path, finding.line);
        let text = match text.find(&place) {
            Some(at) => {
                let rest = &text[at + place.len()..];
                let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                format!("{}{place}{}{}", &text[..at], finding.column, &rest[n_digits..])
            }
            None => text,
        };
        writeln!(out, "{text}\n")?;
    }
    let words: Vec<String> = counts(findings)
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(severity, count)| {
            let plural = if *count == 1 || *severity == Severity::Info { "" } else { "s" };
            format!("{count} {}{plural}", severity.name())
        })
        .collect();
    if words.is_empty() { Ok(()) } else { writeln!(out, "{}", words.join(", ")) }
}
