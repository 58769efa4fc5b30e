//! What changed between two documents, as they are: no migration, no validity needed.
//!
//! Steps are matched by id, so an edit reads as an edit wherever the step stands, and a move is not a change.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::digest::{canonical, digest};
use super::json::{Json, Member, Node};
use super::pointer::{compare, join, join_index};

/// Members of a step that hold one exit, in document order.
const SINGLE_EXITS: [&str; 5] = ["else", "default", "onInvalid", "timeout", "onError"];
/// Members of a step that hold lists of exits.
const LISTS: [&str; 2] = ["options", "cases"];

/// One changed value.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Pointer within the document, or within the step.
    pub path: String,
    /// The value before; absent when it was added.
    pub before: Option<Value>,
    /// The value after; absent when it was removed.
    pub after: Option<Value>,
    /// Whether the items of a list are the same in another order.
    pub reordered: bool,
}

/// A step that is on one side only.
#[derive(Clone, Debug, PartialEq)]
pub struct Lone {
    /// Its `id` as written.
    pub id: Value,
    /// Its `kind` as written.
    pub kind: Value,
    /// Its pointer on its side.
    pub path: String,
}

/// A step on both sides that was edited or moved.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedStep {
    /// Its `id` as written.
    pub id: Value,
    /// Its `kind` on the right.
    pub kind: Value,
    /// Its pointer on the right.
    pub path: String,
    /// Its pointer on the left, when it is another.
    pub from: Option<String>,
    /// Whether it stands elsewhere: in another block, or in another order among those that stayed.
    pub moved: bool,
    /// Its own changes; those of steps inside it are theirs.
    pub changes: Vec<Change>,
}

/// What changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Whether the digests differ.
    pub changed: bool,
    /// Changes outside steps.
    pub metadata: Vec<Change>,
    /// Steps only on the right, in document order.
    pub added: Vec<Lone>,
    /// Steps only on the left, in document order.
    pub removed: Vec<Lone>,
    /// Steps on both sides that differ, in the order of the right.
    pub changed_steps: Vec<ChangedStep>,
    /// Digest of the left.
    pub before: String,
    /// Digest of the right.
    pub after: String,
}

/// Compares two documents.
pub fn diff(left: &Node<'_>, right: &Node<'_>) -> Diff {
    let (before, after) = (digest(left), digest(right));
    let mut diff = Diff {
        changed: before != after,
        metadata: Vec::new(),
        added: Vec::new(),
        removed: Vec::new(),
        changed_steps: Vec::new(),
        before,
        after,
    };
    if !diff.changed {
        return diff;
    }
    diff.metadata = outside_steps(left, right);
    let (left, right) = (Side::of(left), Side::of(right));
    let (to_right, to_left) = matched(&left, &right);
    let lone = |side: &Side<'_>, at: usize| {
        let Found { node, path, .. } = &side.steps[at];
        Lone { id: member(node, "id"), kind: member(node, "kind"), path: path.clone() }
    };
    diff.removed = (0..left.steps.len())
        .filter(|at| to_right[*at].is_none())
        .map(|at| lone(&left, at))
        .collect();
    diff.added = (0..right.steps.len())
        .filter(|at| to_left[*at].is_none())
        .map(|at| lone(&right, at))
        .collect();
    let moved = moved(&left, &right, &to_left);
    for (at, step) in right.steps.iter().enumerate() {
        let Some(other) = to_left[at].map(|at| &left.steps[at]) else { continue };
        let mut changes = Vec::new();
        own_changes(other.node, step.node, &mut changes);
        if changes.is_empty() && !moved[at] {
            continue;
        }
        changes.sort_by(|a, b| compare(&a.path, &b.path));
        diff.changed_steps.push(ChangedStep {
            id: member(step.node, "id"),
            kind: member(step.node, "kind"),
            path: step.path.clone(),
            from: (step.path != other.path).then(|| other.path.clone()),
            moved: moved[at],
            changes,
        });
    }
    diff
}

fn member(node: &Node<'_>, name: &str) -> Value {
    node.get(name).map_or(Value::Null, Node::to_value)
}

fn outside_steps(left: &Node<'_>, right: &Node<'_>) -> Vec<Change> {
    let is_list = |node: &Node<'_>| node.get("steps").is_none_or(Node::is_array);
    // What stands under `steps` is compared as steps only if it can hold steps.
    let skip = if is_list(left) && is_list(right) { "steps" } else { "" };
    let mut changes = Vec::new();
    compare_members(left, right, "", &mut changes, |name| !skip.is_empty() && name == skip);
    changes.sort_by(|a, b| compare(&a.path, &b.path));
    changes
}

fn compare_members(
    left: &Node<'_>,
    right: &Node<'_>,
    path: &str,
    changes: &mut Vec<Change>,
    is_skipped: impl Fn(&str) -> bool,
) {
    let names = left.members().iter().chain(right.members()).map(|member| &*member.name);
    let mut seen = HashSet::new();
    for name in names.filter(|name| !is_skipped(name)) {
        if seen.insert(name) {
            compare_values(left.get(name), right.get(name), join(path, name), changes);
        }
    }
}

fn compare_values(
    left: Option<&Node<'_>>,
    right: Option<&Node<'_>>,
    path: String,
    changes: &mut Vec<Change>,
) {
    match (left, right) {
        (Some(left), Some(right)) if left.is_object() && right.is_object() => {
            compare_members(left, right, &path, changes, |_| false);
        }
        (Some(left), Some(right)) if left.same(right) => {}
        (before, after) => changes.push(Change {
            path,
            before: before.map(Node::to_value),
            after: after.map(Node::to_value),
            reordered: false,
        }),
    }
}

/// Where a step stands: the owner, the member, and the position in a list of exits.
type Place = Option<(usize, &'static str, usize)>;

struct Found<'n> {
    node: &'n Node<'n>,
    path: String,
    place: Place,
}

/// All steps of a document that need not be valid, in document order.
#[derive(Default)]
struct Side<'n> {
    steps: Vec<Found<'n>>,
}

impl<'n> Side<'n> {
    fn of(root: &'n Node<'n>) -> Self {
        let mut side = Self::default();
        side.add(root.get("steps"), "/steps", None);
        side
    }

    fn add(&mut self, steps: Option<&'n Node<'n>>, path: &str, place: Place) {
        for (at, node) in steps.map_or(&[][..], Node::items).iter().enumerate() {
            if !node.is_object() {
                continue;
            }
            let index = self.steps.len();
            let path = join_index(path, at);
            self.steps.push(Found { node, path: path.clone(), place });
            for list in LISTS {
                let base = join(&path, list);
                let items = node.get(list).map_or(&[][..], Node::items);
                for (item_at, item) in items.iter().enumerate() {
                    let path = join(&join_index(&base, item_at), "steps");
                    self.add(item.get("steps"), &path, Some((index, list, item_at)));
                }
            }
            for exit in SINGLE_EXITS {
                let path = join(&join(&path, exit), "steps");
                let steps = node.get(exit).and_then(|exit| exit.get("steps"));
                self.add(steps, &path, Some((index, exit, 0)));
            }
        }
    }
}

/// Pairs steps by id, repeated ids by occurrence.
fn matched(left: &Side<'_>, right: &Side<'_>) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut open: HashMap<String, std::collections::VecDeque<usize>> = HashMap::new();
    let key = |node: &Node<'_>| node.get("id").map(canonical).unwrap_or_default();
    for (at, step) in left.steps.iter().enumerate() {
        open.entry(key(step.node)).or_default().push_back(at);
    }
    let mut to_right = vec![None; left.steps.len()];
    let mut to_left = vec![None; right.steps.len()];
    for (at, step) in right.steps.iter().enumerate() {
        if let Some(other) =
            open.get_mut(&key(step.node)).and_then(std::collections::VecDeque::pop_front)
        {
            to_left[at] = Some(other);
            to_right[other] = Some(at);
        }
    }
    (to_right, to_left)
}

/// Whether each step of the right was moved.
fn moved(left: &Side<'_>, right: &Side<'_>, to_left: &[Option<usize>]) -> Vec<bool> {
    let mut pairings: HashMap<(usize, &str), HashMap<usize, usize>> = HashMap::new();
    let mut moved = vec![false; right.steps.len()];
    // Steps that stayed in their block, by block, as (left, right) in the order of the right.
    let mut stayed: std::collections::BTreeMap<Place, Vec<(usize, usize)>> =
        std::collections::BTreeMap::new();
    for (at, other) in to_left.iter().enumerate() {
        let Some(other) = *other else { continue };
        let is_same = match (left.steps[other].place, right.steps[at].place) {
            (None, None) => true,
            (Some((left_owner, left_name, left_item)), Some((owner, name, item))) => {
                to_left[owner] == Some(left_owner)
                    && left_name == name
                    && (!LISTS.contains(&name)
                        || pairings
                            .entry((owner, name))
                            .or_insert_with(|| {
                                let left = left.steps[left_owner].node.get(name);
                                let right = right.steps[owner].node.get(name);
                                let pairs = pair(items(left), items(right), name);
                                pairs.into_iter().map(|(left, right)| (right, left)).collect()
                            })
                            .get(&item)
                            == Some(&left_item))
            }
            _ => false,
        };
        if is_same {
            stayed.entry(right.steps[at].place).or_default().push((other, at));
        } else {
            moved[at] = true;
        }
    }
    for steps in stayed.into_values() {
        let order: Vec<usize> = steps.iter().map(|(left, _)| *left).collect();
        for ((_, at), is_kept) in steps.iter().zip(longest_rising(&order)) {
            moved[*at] = !is_kept;
        }
    }
    moved
}

fn items<'n>(node: Option<&'n Node<'n>>) -> &'n [Node<'n>] {
    node.map_or(&[], Node::items)
}

/// Marks the longest rising subsequence; of several, the one that keeps the earliest.
fn longest_rising(order: &[usize]) -> Vec<bool> {
    // `tails[n]` is the greatest start of a rising run of n + 1 that was seen, from the end.
    let mut tails: Vec<usize> = Vec::new();
    let mut lengths = vec![0; order.len()];
    for (at, value) in order.iter().enumerate().rev() {
        let longer = tails.partition_point(|tail| tail > value);
        if longer == tails.len() {
            tails.push(*value);
        } else {
            tails[longer] = *value;
        }
        lengths[at] = longer + 1;
    }
    let mut wanted = tails.len();
    let mut last = None;
    order
        .iter()
        .zip(lengths)
        .map(|(value, length)| {
            let is_kept = length == wanted && last.is_none_or(|last| *value > last);
            if is_kept {
                wanted -= 1;
                last = Some(*value);
            }
            is_kept
        })
        .collect()
}

/// Pairs options by id and cases by what they test, then the rest in order: (left, right) in the order of the left.
fn pair(left: &[Node<'_>], right: &[Node<'_>], list: &str) -> Vec<(usize, usize)> {
    let key = |item: &Node<'_>| {
        let tested = match list {
            "options" => item.get("id"),
            _ => item.get("when").or_else(|| item.get("is")),
        };
        tested.map(canonical)
    };
    let mut open: HashMap<String, std::collections::VecDeque<usize>> = HashMap::new();
    for (at, item) in right.iter().enumerate() {
        if let Some(key) = key(item) {
            open.entry(key).or_default().push_back(at);
        }
    }
    let mut is_paired = vec![false; right.len()];
    let mut partner: Vec<Option<usize>> = left
        .iter()
        .map(|item| {
            let at = open.get_mut(&key(item)?)?.pop_front()?;
            is_paired[at] = true;
            Some(at)
        })
        .collect();
    let mut rest = (0..right.len()).filter(|at| !is_paired[*at]);
    for slot in partner.iter_mut().filter(|slot| slot.is_none()) {
        *slot = rest.next();
    }
    partner.into_iter().enumerate().filter_map(|(left, right)| Some((left, right?))).collect()
}

/// The step's own changes: nested blocks count as `[]`.
fn own_changes(left: &Node<'_>, right: &Node<'_>, changes: &mut Vec<Change>) {
    let (left, right) = (without_blocks(left), without_blocks(right));
    let is_list = |name: &str| {
        LISTS.contains(&name)
            && [&left, &right].iter().all(|node| node.get(name).is_some_and(Node::is_array))
    };
    compare_members(&left, &right, "", changes, is_list);
    for list in LISTS.into_iter().filter(|list| is_list(list)) {
        let path = join("", list);
        let (left, right) = (items(left.get(list)), items(right.get(list)));
        let pairs = pair(left, right, list);
        if pairs.windows(2).any(|pair| pair[0].1 > pair[1].1) {
            changes.push(Change { path: path.clone(), before: None, after: None, reordered: true });
        }
        for (from, to) in &pairs {
            compare_values(Some(&left[*from]), Some(&right[*to]), join_index(&path, *to), changes);
        }
        let from: HashSet<usize> = pairs.iter().map(|(from, _)| *from).collect();
        let to: HashSet<usize> = pairs.iter().map(|(_, to)| *to).collect();
        for (at, item) in left.iter().enumerate() {
            if !from.contains(&at) {
                compare_values(Some(item), None, join_index(&path, at), changes);
            }
        }
        for (at, item) in right.iter().enumerate() {
            if !to.contains(&at) {
                compare_values(None, Some(item), join_index(&path, at), changes);
            }
        }
    }
}

fn without_blocks<'n>(step: &Node<'n>) -> Node<'n> {
    let exit = |exit: &Node<'n>| match &exit.json {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|member| {
                    let is_block = member.name == "steps" && member.value.is_array();
                    let value = if is_block {
                        Json::Array(Vec::new()).into()
                    } else {
                        member.value.clone()
                    };
                    Member { name: member.name.clone(), name_span: member.name_span, value }
                })
                .collect(),
        )
        .into(),
        _ => exit.clone(),
    };
    let members = step.members().iter().map(|member| {
        let value = match &member.value.json {
            Json::Array(items) if LISTS.contains(&&*member.name) => {
                Json::Array(items.iter().map(exit).collect()).into()
            }
            Json::Object(_) if SINGLE_EXITS.contains(&&*member.name) => exit(&member.value),
            _ => member.value.clone(),
        };
        Member { name: member.name.clone(), name_span: member.name_span, value }
    });
    Json::Object(members.collect()).into()
}

impl Change {
    /// `{ path, before?, after? }` or `{ path, reordered }`.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("path".into(), json!(self.path));
        if let Some(before) = &self.before {
            value.insert("before".into(), before.clone());
        }
        if let Some(after) = &self.after {
            value.insert("after".into(), after.clone());
        }
        if self.reordered {
            value.insert("reordered".into(), json!(true));
        }
        Value::Object(value)
    }
}

impl Lone {
    fn to_value(&self) -> Value {
        json!({ "id": self.id, "kind": self.kind, "path": self.path })
    }
}

impl ChangedStep {
    fn to_value(&self) -> Value {
        let mut value = json!({ "id": self.id, "kind": self.kind, "path": self.path });
        if let Some(from) = &self.from {
            value["from"] = json!(from);
        }
        value["moved"] = json!(self.moved);
        value["changes"] = self.changes.iter().map(Change::to_value).collect();
        value
    }
}

impl Diff {
    /// `{ changed, metadata, added, removed, changedSteps, before, after }`.
    pub fn to_value(&self) -> Value {
        json!({
            "changed": self.changed,
            "metadata": self.metadata.iter().map(Change::to_value).collect::<Vec<_>>(),
            "added": self.added.iter().map(Lone::to_value).collect::<Vec<_>>(),
            "removed": self.removed.iter().map(Lone::to_value).collect::<Vec<_>>(),
            "changedSteps": self.changed_steps.iter().map(ChangedStep::to_value).collect::<Vec<_>>(),
            "before": self.before,
            "after": self.after,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::longest_rising;

    #[test]
    fn the_longest_common_order_keeps_the_earliest() {
        for (order, kept) in [
            (&[][..], &[][..]),
            (&[2, 0, 1, 3], &[false, true, true, true]),
            (&[1, 0], &[true, false]),
            (&[1, 2, 0, 3], &[true, true, false, true]),
            (&[3, 2, 1], &[true, false, false]),
        ] {
            assert_eq!(longest_rising(order), kept, "{order:?}");
        }
    }
}
