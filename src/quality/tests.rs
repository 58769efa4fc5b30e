use super::{Found, Judged, Scores, score};

fn judged() -> Judged {
    serde_json::from_str(
        r#"{"query": "route", "relevant": [
            {"path": "en/a.md", "heading": "Routes", "grade": 3, "group": 1},
            {"path": "es/a.md", "heading": "Rutas {#routes}", "grade": 2, "group": 1},
            {"path": "en/b.md", "heading": "B", "preamble": true, "grade": 1, "group": 2}]}"#,
    )
    .expect("a query")
}

fn check(results: &[(&str, &str)], expected: Scores) {
    let found = results
        .iter()
        .map(|(path, heading)| Found { path: (*path).to_owned(), heading: (*heading).to_owned() });
    let seen = score(&judged(), &found.collect::<Vec<_>>());
    for ((name, seen), (_, expected)) in seen.columns().into_iter().zip(expected.columns()) {
        assert!((seen - expected).abs() < 1e-9, "{name}: {seen}, not {expected}: {results:?}");
    }
}

#[test]
fn a_perfect_run_has_it_all() {
    let all = Scores {
        ndcg: 1.0,
        mrr: 1.0,
        s1: 1.0,
        s5: 1.0,
        recall: 1.0,
        ndcg_each: 1.0,
        page_mrr: 1.0,
        page_s5: 1.0,
    };
    // The preamble of the second page is an empty heading.
    let each = (7.0 + 1.0 / 3.0_f64.log2()) / (7.0 + 3.0 / 3.0_f64.log2() + 0.5);
    check(&[("en/a.md", "`Routes`"), ("./en/b.md#x", "")], Scores { ndcg_each: each, ..all });
}

#[test]
fn a_translation_gains_nothing_more_and_a_double_counts_once() {
    let ideal = 7.0 + 1.0 / 3.0_f64.log2();
    let each_ideal = 7.0 + 3.0 / 3.0_f64.log2() + 0.5;
    let base = Scores {
        mrr: 1.0,
        s1: 1.0,
        s5: 1.0,
        recall: 1.0,
        page_mrr: 1.0,
        page_s5: 1.0,
        ..Scores::default()
    };
    check(
        &[("en/a.md", "Routes"), ("es/a.md", "Rutas"), ("en/a.md", "Routes")],
        Scores { ndcg: 7.0 / ideal, ndcg_each: (7.0 + 3.0 / 3.0_f64.log2()) / each_ideal, ..base },
    );
    let wrong_first = (3.0 + 4.0 / 3.0_f64.log2()) / ideal;
    check(
        &[("es/a.md", "Rutas"), ("en/a.md", "Routes")],
        Scores { ndcg: wrong_first, ndcg_each: (3.0 + 7.0 / 3.0_f64.log2()) / each_ideal, ..base },
    );
}

#[test]
fn the_right_page_alone_counts_for_pages() {
    check(
        &[("en/x.md", "X"), ("en/a.md", "Other")],
        Scores { page_mrr: 0.5, page_s5: 1.0, ..Scores::default() },
    );
    check(&[], Scores::default());
}
