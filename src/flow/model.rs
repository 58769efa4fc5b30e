//! A document as a flow: steps in document order, blocks, exits and jumps.
//!
//! Built from any document that satisfies the schema, before the semantic checks: an id that names no step gives no
//! target. Lint, graph and simulation use it on valid documents only.

use std::collections::HashMap;

use super::json::Node;
use super::pointer::{join, join_index};

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal),* $(,)?) => {
        /// What a step does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $(#[doc = $doc] $variant),* }

        impl Kind {
            /// All kinds, in the order of the schema.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in a document.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The kind of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

kinds! {
    Say "say" "Sends a message.",
    Media "media" "Sends a file.",
    Ask "ask" "Asks, validates and stores the typed answer.",
    Choice "choice" "A menu.",
    Set "set" "Assigns variables.",
    Branch "branch" "Takes the first case that holds.",
    Switch "switch" "Takes the first case that lists a value.",
    Goto "goto" "Jumps.",
    Call "call" "Runs a subflow and returns.",
    Wait "wait" "Pauses.",
    Action "action" "Calls a handler of the bot.",
    Handoff "handoff" "Passes to a person.",
    Emit "emit" "Reports an event.",
    End "end" "Ends the flow.",
}

/// The members that hold exits, in document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// An option of a `choice`.
    Option,
    /// A case of a `branch` or `switch`.
    Case,
    /// `else` of a `branch`.
    Else,
    /// `default` of a `switch`.
    Default,
    /// No valid answer came.
    OnInvalid,
    /// No answer came.
    Timeout,
    /// The handler failed.
    OnError,
}

impl Exit<'_> {
    /// The pointer of the exit, given the pointer of its step. Made when asked for: most exits are never reported.
    pub fn path(&self, step: &str) -> String {
        match self.slot {
            Slot::Option => join_index(&join(step, "options"), self.index),
            Slot::Case => join_index(&join(step, "cases"), self.index),
            slot => join(step, slot.member()),
        }
    }
}

impl Slot {
    fn member(self) -> &'static str {
        let single = Self::SINGLE.iter().find(|(slot, _)| *slot == self);
        single.map_or(if self == Self::Option { "options" } else { "cases" }, |(_, name)| name)
    }

    /// Members that are one exit, in document order.
    const SINGLE: [(Self, &str); 5] = [
        (Self::Else, "else"),
        (Self::Default, "default"),
        (Self::OnInvalid, "onInvalid"),
        (Self::Timeout, "timeout"),
        (Self::OnError, "onError"),
    ];
}

/// A way out of a step.
#[derive(Clone, Debug)]
pub struct Exit<'d> {
    /// Which one.
    pub slot: Slot,
    /// Position among the options or cases.
    pub index: usize,
    /// The exit itself.
    pub node: &'d Node<'d>,
    /// The id it jumps to.
    pub goto: Option<&'d str>,
    /// The block it holds.
    pub block: Option<usize>,
}

/// A list of steps: the top level or one inside an exit.
#[derive(Clone, Debug)]
pub struct Block {
    /// The step that holds it; none for the top level.
    pub owner: Option<usize>,
    /// Pointer of the array.
    pub path: String,
    /// The top level has depth 1.
    pub depth: usize,
    /// Its own steps, as indices.
    pub steps: Vec<usize>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step<'d> {
    /// The step itself.
    pub node: &'d Node<'d>,
    /// Its id, compared byte for byte.
    pub id: &'d str,
    /// Its kind.
    pub kind: Kind,
    /// Its pointer.
    pub path: String,
    /// The block that it is in.
    pub block: usize,
    /// Its position in the block.
    pub at: usize,
    /// Its exits in document order.
    pub exits: Vec<Exit<'d>>,
}

/// Why an edge is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// The step is done.
    Next,
    /// A valid answer came.
    Answer,
    /// A jump.
    Goto,
    /// The flow ends here.
    End,
    /// An option was chosen.
    Option,
    /// A case held.
    Case,
    /// No case held.
    Else,
    /// No case listed the value.
    Default,
    /// No valid answer came.
    Invalid,
    /// No answer came.
    Timeout,
    /// The handler failed.
    Error,
}

/// A way from one step to another, or out of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The step it leaves.
    pub from: usize,
    /// The step it reaches; none is the end of the flow.
    pub to: Option<usize>,
    /// Why it is taken.
    pub kind: EdgeKind,
    /// The exit it belongs to, as an index into the step's exits.
    pub exit: Option<usize>,
}

/// A document as a flow.
#[derive(Clone, Debug)]
pub struct Flow<'d> {
    /// The document.
    pub root: &'d Node<'d>,
    /// Its id.
    pub id: &'d str,
    /// Declared locales; the first is the default.
    pub locales: Vec<&'d str>,
    /// Steps in document order (pre-order).
    pub steps: Vec<Step<'d>>,
    /// Blocks, each before the blocks inside it; the first is the top level.
    pub blocks: Vec<Block>,
    by_id: HashMap<&'d str, usize>,
    continuations: Vec<Option<usize>>,
}

impl<'d> Flow<'d> {
    /// The flow of a document that satisfies the schema.
    pub fn new(root: &'d Node<'d>) -> Self {
        let locales = root.get("locales").map_or(&[][..], Node::items);
        let mut flow = Self {
            root,
            id: root.str_of("id").unwrap_or_default(),
            locales: locales.iter().filter_map(Node::as_str).collect(),
            steps: Vec::new(),
            blocks: Vec::new(),
            by_id: HashMap::new(),
            continuations: Vec::new(),
        };
        if let Some(steps) = root.get("steps") {
            flow.add_block(steps, None, "/steps".to_owned(), 1);
        }
        for (at, step) in flow.steps.iter().enumerate() {
            flow.by_id.entry(step.id).or_insert(at);
        }
        // A step's owner comes before it, so one pass settles every continuation.
        for step in &flow.steps {
            let block = &flow.blocks[step.block];
            let next = block.steps.get(step.at + 1).copied();
            let continuation = next.or_else(|| flow.continuations[block.owner?]);
            flow.continuations.push(continuation);
        }
        flow
    }

    fn add_block(
        &mut self,
        node: &'d Node<'d>,
        owner: Option<usize>,
        path: String,
        depth: usize,
    ) -> usize {
        let block = self.blocks.len();
        self.blocks.push(Block { owner, path, depth, steps: Vec::new() });
        for (at, node) in node.items().iter().enumerate() {
            let Some(kind) = node.str_of("kind").and_then(Kind::from_name) else { continue };
            let index = self.steps.len();
            let path = join_index(&self.blocks[block].path, at);
            self.blocks[block].steps.push(index);
            let id = node.str_of("id").unwrap_or_default();
            self.steps.push(Step { node, id, kind, path, block, at, exits: Vec::new() });
            let mut exits = Vec::new();
            let list = match kind {
                Kind::Choice => Some((Slot::Option, "options")),
                Kind::Branch | Kind::Switch => Some((Slot::Case, "cases")),
                _ => None,
            };
            if let Some((slot, name)) = list {
                for (at, item) in node.get(name).map_or(&[][..], Node::items).iter().enumerate() {
                    exits.push(self.exit(slot, at, item, index, depth));
                }
            }
            for (slot, name) in Slot::SINGLE {
                if let Some(exit) = node.get(name) {
                    exits.push(self.exit(slot, 0, exit, index, depth));
                }
            }
            self.steps[index].exits = exits;
        }
        block
    }

    fn exit(
        &mut self,
        slot: Slot,
        index: usize,
        node: &'d Node<'d>,
        owner: usize,
        depth: usize,
    ) -> Exit<'d> {
        let mut exit = Exit { slot, index, node, goto: node.str_of("goto"), block: None };
        if let Some(steps) = node.get("steps") {
            let path = join(&exit.path(&self.steps[owner].path), "steps");
            exit.block = Some(self.add_block(steps, Some(owner), path, depth + 1));
        }
        exit
    }

    /// The step of that id; the first one when an id is repeated.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The step where the flow starts.
    pub fn entry(&self) -> Option<usize> {
        match self.root.str_of("entry") {
            Some(id) => self.find(id),
            None => (!self.steps.is_empty()).then_some(0),
        }
    }

    /// The step after `step` when nothing says otherwise; none is the end of the flow.
    pub fn continuation(&self, step: usize) -> Option<usize> {
        self.continuations[step]
    }

    /// Where an exit of `step` leads.
    pub fn target(&self, step: usize, exit: &Exit<'_>) -> Option<usize> {
        match (exit.goto, exit.block) {
            (Some(id), _) => self.find(id),
            (None, Some(block)) => {
                self.blocks[block].steps.first().copied().or_else(|| self.continuation(step))
            }
            // A time-out that says nothing ends the flow; one that says `steps: []` goes on.
            (None, None) if exit.slot == Slot::Timeout => None,
            (None, None) => self.continuation(step),
        }
    }

    /// The edges of a step, in the order of the graph.
    pub fn edges_of(&self, from: usize) -> Vec<Edge> {
        let step = &self.steps[from];
        let continuation = self.continuation(from);
        let edge = |to, kind| Edge { from, to, kind, exit: None };
        let mut edges = Vec::with_capacity(step.exits.len() + 1);
        match step.kind {
            Kind::Choice | Kind::Branch | Kind::Switch => {}
            Kind::Ask => edges.push(edge(continuation, EdgeKind::Answer)),
            Kind::Goto => {
                let to = step.node.str_of("to").and_then(|id| self.find(id));
                edges.push(edge(to, EdgeKind::Goto));
            }
            Kind::End => edges.push(edge(None, EdgeKind::End)),
            Kind::Handoff if !step.flag("resume") => edges.push(edge(None, EdgeKind::End)),
            _ => edges.push(edge(continuation, EdgeKind::Next)),
        }
        for (at, exit) in step.exits.iter().enumerate() {
            let kind = match exit.slot {
                Slot::Option => EdgeKind::Option,
                Slot::Case => EdgeKind::Case,
                Slot::Else => EdgeKind::Else,
                Slot::Default => EdgeKind::Default,
                Slot::OnInvalid => EdgeKind::Invalid,
                Slot::Timeout => EdgeKind::Timeout,
                Slot::OnError => EdgeKind::Error,
            };
            edges.push(Edge { from, to: self.target(from, exit), kind, exit: Some(at) });
        }
        match step.kind {
            Kind::Branch if step.exit(Slot::Else).is_none() => {
                edges.push(edge(continuation, EdgeKind::Else));
            }
            Kind::Switch if step.exit(Slot::Default).is_none() => {
                edges.push(edge(continuation, EdgeKind::Default));
            }
            _ => {}
        }
        edges
    }

    /// The deepest block; the top level counts 1.
    pub fn depth(&self) -> usize {
        self.blocks.iter().map(|block| block.depth).max().unwrap_or(1)
    }

    /// The text shown for the default locale.
    pub fn default_text(&self, text: &'d Node<'d>) -> &'d str {
        match (text.as_str(), self.locales.first()) {
            (Some(text), _) => text,
            (None, Some(locale)) => text.str_of(locale).unwrap_or_default(),
            (None, None) => "",
        }
    }

    /// Names that steps write, with the pointer of each write, in document order.
    pub fn writes(&self) -> Vec<(usize, &'d str, String)> {
        let mut writes = Vec::new();
        self.each_write(|at, name, member, key| {
            let path = join(&self.steps[at].path, member);
            writes.push((at, name, key.map_or(path.clone(), |key| join(&path, key))));
        });
        writes
    }

    /// Visits every write: the step, the name that is written, the member that says so, and the key in it.
    pub fn each_write(&self, mut visit: impl FnMut(usize, &'d str, &'static str, Option<&'d str>)) {
        for (at, step) in self.steps.iter().enumerate() {
            let map = match step.kind {
                Kind::Set => "assign",
                Kind::Call => "save",
                Kind::Ask | Kind::Choice | Kind::Action => {
                    if let Some(name) = step.node.str_of("save") {
                        visit(at, name, "save", None);
                    }
                    continue;
                }
                _ => continue,
            };
            for member in step.members(map) {
                visit(at, &member.name, map, Some(&member.name));
            }
            if let Some(name) = step.node.str_of("outcome") {
                visit(at, name, "outcome", None);
            }
        }
    }

    /// Ids of flows that steps name, with the step and the member, in document order.
    pub fn references(&self) -> Vec<(usize, &'d str, &'static str)> {
        let mut references = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            let member = match step.kind {
                Kind::Call => "flow",
                Kind::Action => "starts",
                _ => continue,
            };
            if let Some(id) = step.node.str_of(member) {
                references.push((at, id, member));
            }
        }
        references
    }
}

impl<'d> Step<'d> {
    /// The first exit of that slot.
    pub fn exit(&self, slot: Slot) -> Option<&Exit<'d>> {
        self.exits.iter().find(|exit| exit.slot == slot)
    }

    /// A boolean member; false when absent.
    pub fn flag(&self, name: &str) -> bool {
        self.node.get(name).and_then(Node::as_bool).unwrap_or(false)
    }

    /// Whether an `action` waits for its handler.
    pub fn is_awaited(&self) -> bool {
        self.kind == Kind::Action && self.node.get("await").and_then(Node::as_bool).unwrap_or(true)
    }

    /// The members of a member that is an object.
    pub fn members(&self, name: &str) -> &'d [super::json::Member<'d>] {
        self.node.get(name).map_or(&[], Node::members)
    }
}
