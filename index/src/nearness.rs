//! How near a query's words stand in a section: in its heading, side by side, within a dozen words.

use crate::query::Plan;
use crate::record::SectionRecord;

/// Words within which terms count as near: about a sentence.
const NEAR_WORDS: usize = 12;

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
pub(crate) struct Matcher<'a> {
    plan: &'a Plan,
    /// For each word of the query the slot of the word that it is or repeats.
    slots: Vec<usize>,
    /// Whether a slot's word counts: function words do not while others remain.
    counted: Vec<bool>,
    n_counted: usize,
    /// For each language the stems that match, with their slots, and a filter of their low bits.
    wanted: Vec<(u64, Vec<(u32, usize)>)>,
    /// (position, slot) of the words found, ascending.
    found: Vec<(usize, usize)>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let mut slots: Vec<usize> = Vec::new();
        let mut counted = Vec::new();
        for (i, word) in plan.words.iter().enumerate() {
            let same = plan.words[..i].iter().position(|other| other.text == word.text);
            slots.push(same.map_or(counted.len(), |same| slots[same]));
            if same.is_none() {
                counted.push(!word.ignored);
            }
        }
        let wanted = plan
            .stems
            .iter()
            .map(|words| {
                let mut stems: Vec<(u32, usize)> = words
                    .iter()
                    .zip(&slots)
                    .flat_map(|(stems, slot)| stems.iter().map(|stem| (*stem, *slot)))
                    .collect();
                stems.sort_unstable();
                stems.dedup();
                (stems.iter().fold(0, |filter, (stem, _)| filter | bit(*stem)), stems)
            })
            .collect();
        let n_counted = counted.iter().filter(|counted| **counted).count();
        Self { plan, slots, counted, n_counted, wanted, found: Vec::new() }
    }

    /// Measures one section. No phrase runs from its heading into its text.
    pub(crate) fn nearness(&mut self, record: &SectionRecord, lang: usize) -> Nearness {
        let mut nearness = Nearness::default();
        let (heading, text) = record.heading_and_text_stems();
        let mut pairs = vec![false; self.slots.len().saturating_sub(1)];
        self.find(heading, lang);
        let mut best = 0;
        if !self.found.is_empty() {
            let mut present = vec![false; self.counted.len()];
            self.found.iter().for_each(|(_, slot)| present[*slot] = true);
            let n = present.iter().zip(&self.counted).filter(|(present, counted)| **present && **counted).count();
            nearness.heading_share = n as f64 / self.n_counted as f64;
            nearness.is_heading = n == self.n_counted
                && heading.iter().all(|stem| self.wanted[lang].1.iter().any(|(wanted, _)| wanted == stem));
            self.note_pairs(heading, lang, &mut pairs);
            best = self.best_window().0;
        }
        if pairs.is_empty() {
            return nearness;
        }
        self.find(text, lang);
        self.note_pairs(text, lang, &mut pairs);
        let (in_text, window) = self.best_window();
        nearness.window = window;
        nearness.pairs = pairs.iter().filter(|found| **found).count() as f64 / pairs.len() as f64;
        if self.n_counted > 1 {
            nearness.near = best.max(in_text).saturating_sub(1) as f64 / (self.n_counted - 1) as f64;
        }
        nearness
    }

    /// The best window of the text alone, for a snippet.
    pub(crate) fn window(&mut self, record: &SectionRecord, lang: usize) -> Option<(usize, usize)> {
        self.find(record.heading_and_text_stems().1, lang);
        self.best_window().1
    }

    fn find(&mut self, stems: &[u32], lang: usize) {
        self.found.clear();
        let (filter, wanted) = &self.wanted[lang];
        for (at, &stem) in stems.iter().enumerate() {
            if filter & bit(stem) != 0 {
                let matching = wanted.iter().filter(|(wanted, _)| *wanted == stem);
                self.found.extend(matching.map(|(_, slot)| (at, *slot)));
            }
        }
    }

    /// Marks the neighbours of the query that are neighbours in `stems`.
    fn note_pairs(&self, stems: &[u32], lang: usize, pairs: &mut [bool]) {
        for (i, pair) in pairs.iter_mut().enumerate().filter(|(_, found)| !**found) {
            let next = &self.plan.stems[lang][i + 1];
            *pair = self.found.iter().any(|&(at, slot)| {
                slot == self.slots[i] && stems.get(at + 1).is_some_and(|stem| next.contains(stem))
            });
        }
    }

    /// Most distinct counted words within a window, and the first such window.
    fn best_window(&self) -> (usize, Option<(usize, usize)>) {
        let mut best = 0;
        let mut window = None;
        let mut present = vec![0u32; self.counted.len()];
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
                window = Some((self.found[start].0, at));
            }
        }
        (best, window)
    }
}

/// The bit of a stem's hash in a filter of 64.
fn bit(stem: u32) -> u64 {
    1 << (stem & 63)
}
