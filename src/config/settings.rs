//! Every setting there is: its key, what it takes, and where else it may come from. The only list of them.

use crate::tools;

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder; in a file it is relative to the file's own folder.
    Folder,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Switch,
    /// A whole number from the first to the second.
    Number(usize, usize),
    /// A list of texts.
    List,
    /// An IP address and a port.
    Address,
    /// An `http://` or `https://` URL without query and fragment.
    Url,
}

impl Kind {
    /// What it takes, in words that follow "must be".
    pub fn wanted(self) -> String {
        match self {
            Self::Folder => "the path of a folder".to_owned(),
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Switch => "true or false".to_owned(),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::List => "a list of texts".to_owned(),
            Self::Address => "an address with a port, like 127.0.0.1:6060".to_owned(),
            Self::Url => "an http:// or https:// URL without ? and #".to_owned(),
        }
    }
}

/// What holds when nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// Nothing.
    Unset,
    /// This text.
    Text(&'static str),
    /// This.
    Switch(bool),
    /// This number.
    Number(usize),
    /// The empty list.
    Empty,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Table and name in `botmesh-docs.toml`, joined by a point.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What holds when nothing is said.
    pub default: Default,
    /// Environment variables that set it, the first that is not empty wins.
    pub variables: &'static [&'static str],
}

const fn setting(key: &'static str, kind: Kind, default: Default) -> Setting {
    Setting { key, kind, default, variables: &[] }
}

/// Longer replies are refused or cut by every client that we know.
const MOST_REPLY_BYTES: usize = 1_048_576;

/// All settings, table by table.
pub const SETTINGS: &[Setting] = &[
    Setting {
        variables: &["BOTMESH_DOCS_DIR", "BOTWA_DOCS_DIR"],
        ..setting("docs.dir", Kind::Folder, Default::Unset)
    },
    setting("docs.index", Kind::Folder, Default::Unset),
    setting("docs.include", Kind::List, Default::Empty),
    setting("docs.exclude", Kind::List, Default::Empty),
    setting("docs.anchors", Kind::Choice(&["auto", "github", "vitepress"]), Default::Text("auto")),
    setting("docs.watch", Kind::Choice(&["auto", "poll", "off"]), Default::Text("auto")),
    setting("http.addr", Kind::Address, Default::Text("127.0.0.1:6060")),
    setting("http.public_url", Kind::Url, Default::Unset),
    setting("http.allowed_hosts", Kind::List, Default::Empty),
    setting("mcp.include", Kind::List, Default::Empty),
    setting("mcp.exclude", Kind::List, Default::Empty),
    setting("mcp.server_card", Kind::Switch, Default::Switch(true)),
    setting(
        "mcp.max_output_bytes",
        Kind::Number(tools::MIN_REPLY_BYTES, MOST_REPLY_BYTES),
        Default::Number(tools::MAX_REPLY_BYTES),
    ),
    setting("flows.dir", Kind::Folder, Default::Unset),
    Setting {
        variables: &[crate::state::FOLDER_VARIABLE],
        ..setting("state.dir", Kind::Folder, Default::Unset)
    },
];

/// The setting of a key.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
