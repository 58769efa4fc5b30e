//! How near a query's words stand in a section: in its heading, side by side, within a dozen words.

use std::sync::LazyLock;

use crate::language;
use crate::query::Plan;
use crate::record::SectionRecord;
use crate::scorer::Candidate;
use crate::section_terms::stem_hash;

/// Words within which terms count as near: about a sentence.
const NEAR_WORDS: u32 = 12;

/// What [`Matcher::nearness`] finds. Words match by stem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Nearness {
    /// Share of the query's words that stand in the heading.
    pub(crate) heading_share: f64,
    /// Whether the heading says just the query.
    pub(crate) is_heading: bool,
    /// Share of the query's neighbours that are neighbours here; all of them: the exact phrase.
    pub(crate) pairs: f64,
    /// Share of the other terms that stand within [`NEAR_WORDS`] of one.
    pub(crate) near: f64,
    /// First and last word of the text's best window.
    pub(crate) window: Option<(usize, usize)>,
}

/// Finds the words of one query in sections. Kept between sections for its memory.
pub(crate) struct Matcher {
    /// Each distinct word of the query has a slot. Whether its word counts: function words do not while others remain.
    counted: Vec<bool>,
    /// The bit of the word's term in [`Candidate::words`].
    bits: Vec<u64>,
    n_counted: usize,
    /// For each language, the hashes of the stems that match the query's words, and their slots, ascending by slot.
    wanted: Vec<Vec<Wanted>>,
    /// Which pairs of slots are neighbours in the query: (left, right, index of the pair).
    neighbours: Vec<(usize, usize, usize)>,
    /// (position, slot) of the words found, ascending. Words written as one stand at one position.
    found: Vec<(u32, usize)>,
    pairs: Vec<bool>,
    present: Vec<u32>,
}

/// A stem that stands for the word of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    slot: usize,
    stem: u32,
}

impl Matcher {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut slots: Vec<usize> = Vec::new();
        let (mut counted, mut bits) = (Vec::new(), Vec::new());
        for (i, word) in plan.words.iter().enumerate() {
            let same = plan.words[..i].iter().position(|other| other.text == word.text);
            slots.push(same.map_or(counted.len(), |same| slots[same]));
            if same.is_none() {
                counted.push(!word.ignored);
                bits.push(1 << i);
            }
        }
        let wanted = plan
            .stems
            .iter()
            .map(|words| {
                let of_slot = |(stems, &slot): (&Vec<u32>, &usize)| {
                    stems.iter().map(|&stem| Wanted { slot, stem }).collect::<Vec<_>>()
                };
                let mut stems: Vec<Wanted> = words.iter().zip(&slots).flat_map(of_slot).collect();
                stems.sort_unstable();
                stems.dedup();
                stems
            })
            .collect();
        let n_counted = counted.iter().filter(|counted| **counted).count();
        let neighbours = slots.windows(2).zip(0..).map(|(pair, i)| (pair[0], pair[1], i)).collect();
        let (pairs, present) = (vec![false; slots.len().saturating_sub(1)], vec![0; counted.len()]);
        Self { counted, bits, n_counted, wanted, neighbours, found: Vec::new(), pairs, present }
    }

    /// Measures one section. No phrase runs from its heading into its text.
    pub(crate) fn nearness(&mut self, record: &SectionRecord, found: &Candidate) -> Nearness {
        let mut nearness = Nearness::default();
        let lang = found.lang as usize;
        let heading = &record.heading_stems;
        self.pairs.fill(false);
        self.find_in_heading(heading, lang);
        let mut best = 0;
        if !self.found.is_empty() {
            self.present.fill(0);
            for (_, slot) in &self.found {
                self.present[*slot] = 1;
            }
            let n = self
                .present
                .iter()
                .zip(&self.counted)
                .filter(|(n, counted)| **n > 0 && **counted)
                .count();
            nearness.heading_share = n as f64 / self.n_counted as f64;
            let wanted = &self.wanted[lang];
            nearness.is_heading = n == self.n_counted
                && heading.iter().all(|stem| {
                    wanted.iter().any(|wanted| wanted.stem == *stem)
                        || FUNCTION_STEMS.binary_search(stem).is_ok()
                });
            self.note_pairs();
            best = self.best_window().0;
        }
        if self.pairs.is_empty() {
            return nearness;
        }
        self.find_in_text(record, found);
        let (in_text, window) = self.best_window();
        nearness.window = window;
        self.find_neighbours(record, lang);
        self.note_pairs();
        let n_pairs = self.pairs.iter().filter(|found| **found).count();
        nearness.pairs = n_pairs as f64 / self.pairs.len() as f64;
        if self.n_counted > 1 {
            nearness.near =
                best.max(in_text).saturating_sub(1) as f64 / (self.n_counted - 1) as f64;
        }
        nearness
    }

    /// The best window of the text alone, for a snippet.
    pub(crate) fn window(
        &mut self,
        record: &SectionRecord,
        found: &Candidate,
    ) -> Option<(usize, usize)> {
        self.find_in_text(record, found);
        self.best_window().1
    }

    fn find_in_heading(&mut self, heading: &[u32], lang: usize) {
        self.found.clear();
        for (stem, at) in heading.iter().zip(0..) {
            let matching = self.wanted[lang].iter().filter(|wanted| wanted.stem == *stem);
            self.found.extend(matching.map(|wanted| (at, wanted.slot)));
        }
    }

    /// Finds the counted words whose terms the section holds.
    fn find_in_text(&mut self, record: &SectionRecord, found: &Candidate) {
        self.found.clear();
        for &Wanted { slot, stem } in &self.wanted[found.lang as usize] {
            if self.counted[slot] && found.words & self.bits[slot] != 0 {
                self.found.extend(record.words.positions(stem).iter().map(|at| (*at, slot)));
            }
        }
        self.found.sort_unstable();
    }

    /// Adds the function words that stand where the query has them, beside a word found already.
    fn find_neighbours(&mut self, record: &SectionRecord, lang: usize) {
        let n_counted = self.found.len();
        for &(left, right, _) in &self.neighbours {
            if !self.counted[right] {
                add_beside(&mut self.found, &self.wanted[lang], record, left, right, |at| {
                    at.checked_add(1)
                });
            }
        }
        for &(left, right, _) in self.neighbours.iter().rev() {
            if !self.counted[left] {
                add_beside(&mut self.found, &self.wanted[lang], record, right, left, |at| {
                    at.checked_sub(1)
                });
            }
        }
        if self.found.len() > n_counted {
            self.found.sort_unstable();
        }
    }

    /// Marks the neighbours of the query that were found side by side, or written as one word.
    fn note_pairs(&mut self) {
        for (i, &(at, slot)) in self.found.iter().enumerate() {
            for (_, right) in self.found[i + 1..].iter().take_while(|(next, _)| *next <= at + 1) {
                for (left, _, pair) in self.neighbours.iter().filter(|(_, to, _)| to == right) {
                    self.pairs[*pair] |= *left == slot;
                }
            }
        }
    }

    /// Most distinct counted words within a window, and the first such window.
    fn best_window(&mut self) -> (usize, Option<(usize, usize)>) {
        let mut best = 0;
        let mut window = None;
        let present = &mut self.present;
        present.fill(0);
        let mut distinct = 0;
        let mut start = 0;
        for &(at, slot) in &self.found {
            if self.counted[slot] {
                distinct += usize::from(present[slot] == 0);
                present[slot] += 1;
            }
            while self.found[start].0 + NEAR_WORDS <= at {
                let slot = self.found[start].1;
                if self.counted[slot] {
                    present[slot] -= 1;
                    distinct -= usize::from(present[slot] == 0);
                }
                start += 1;
            }
            if distinct > best {
                best = distinct;
                window = Some((self.found[start].0 as usize, at as usize));
            }
        }
        (best, window)
    }
}

/// Adds the words of `slot` that stand `beside` a word of the slot `by`.
fn add_beside(
    found: &mut Vec<(u32, usize)>,
    wanted: &[Wanted],
    record: &SectionRecord,
    by: usize,
    slot: usize,
    beside: impl Fn(u32) -> Option<u32>,
) {
    for stem in wanted.iter().filter(|wanted| wanted.slot == slot).map(|wanted| wanted.stem) {
        let positions = record.words.positions(stem);
        for i in 0..found.len() {
            let (at, of) = found[i];
            let place = beside(at).filter(|_| of == by);
            found.extend(
                place.filter(|at| positions.binary_search(at).is_ok()).map(|at| (at, slot)),
            );
        }
    }
}

/// Stems of function words: *The exact phrase* says just `exact phrase`.
static FUNCTION_STEMS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let of =
        |lang| language::function_words().map(move |word| stem_hash(language::stem(lang, word)));
    let mut stems: Vec<u32> = of("en").chain(of("es")).collect();
    stems.sort_unstable();
    stems
});
