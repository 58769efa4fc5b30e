use super::{Cut, Passage};

fn passage(markdown: &str, first_line: u32) -> Passage {
    let n_lines = super::line_starts(markdown).len() as u32;
    Passage {
        path: "a.md".into(),
        title: "A".into(),
        lang: "en".into(),
        anchor: None,
        lines: (first_line, first_line + n_lines - 1),
        markdown: markdown.into(),
        translations: Vec::new(),
    }
}

fn check(markdown: &str, from: Option<u32>, max_chars: usize, expected: &str, next: Option<u32>) {
    let passage = passage(markdown, 1);
    let cut = passage.cut(from, max_chars, usize::MAX).expect("a line of the passage");
    assert_eq!(
        (cut.markdown, cut.next_line),
        (expected, next),
        "{markdown:?} {from:?} {max_chars}"
    );
}

#[test]
fn cuts_fall_between_blocks() {
    check("uno\n\ndos\n\ntres\n", None, 100, "uno\n\ndos\n\ntres\n", None);
    check("uno\n\ndos\n\ntres\n", None, 12, "uno\n\ndos\n\n", Some(5));
    check("uno\n\ndos\n\ntres\n", Some(5), 12, "tres\n", None);
    check("uno\n\n```\na\n\nb\n```\n", None, 12, "uno\n\n", Some(3));
    check("```\na\n\nb\n```\n", None, 9, "```\na\n\nb\n", Some(5));
    check("una línea larga\ny otra\n", None, 10, "una línea ", Some(2));
    check("una línea larga", None, 6, "una lí", None);
    check("", None, 10, "", None);
}

#[test]
fn all_pieces_joined_are_the_passage() {
    let text = "# Á\r\n\r\nuno dos\rtres\n\n~~~\nx\n\ny\n~~~\n- a\n\n  b\n";
    for max_chars in 8..40 {
        let passage = passage(text, 7);
        let mut joined = String::new();
        let mut from = Some(7);
        while let Some(line) = from {
            let Cut { markdown, next_line, .. } =
                passage.cut(Some(line), max_chars, 60).expect("a line");
            joined.push_str(markdown);
            from = next_line;
        }
        assert_eq!(joined, text, "{max_chars}");
    }
}

#[test]
fn bytes_count_as_well_as_characters() {
    let passage = passage("áéíóú", 1);
    let cut = passage.cut(None, 100, 5).expect("a line");
    assert_eq!((cut.markdown, cut.is_truncated, cut.next_line), ("áé", true, None));
    assert_eq!(passage.cut(Some(2), 100, 100), None);
}
