//! The settings of a run: each value, and where it comes from.
//!
//! A flag beats the environment, which beats the file, which beats the default. The file is data: nothing in it is run,
//! expanded or fetched. [`settings`] lists what there is, [`mod@file`] reads `botmesh-docs.toml`.

mod file;
pub mod settings;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::json;
use settings::{Default, Kind, SETTINGS, Setting};

pub use file::FILE_NAME;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A text, a path, or one of several words.
    Text(String),
    /// On or off.
    Switch(bool),
    /// A number.
    Number(usize),
    /// Texts in their order.
    List(Vec<String>),
}

impl fmt::Display for Value {
    /// As `botmesh-docs.toml` has it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Strings of JSON are strings of TOML, too.
        match self {
            Self::Text(text) => write!(out, "{}", json!(text)),
            Self::Switch(is_on) => write!(out, "{is_on}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::List(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
                write!(out, "[{}]", texts.join(", "))
            }
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flag of the command line.
    Flag,
    /// This environment variable.
    Environment(&'static str),
    /// This line, counted from 1, of the settings file.
    File(usize),
    /// Nobody said anything.
    Default,
}

/// Why settings cannot be used: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("settings cannot be used: {place}: {message}")]
pub struct ConfigError {
    place: String,
    message: String,
    help: Option<String>,
}

impl ConfigError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), help: None }
    }

    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// `None` when nothing is set and there is no default.
    pub value: Option<Value>,
    /// Where it comes from.
    pub source: Source,
}

/// All settings of a run.
#[derive(Clone, Debug)]
pub struct Config {
    values: BTreeMap<&'static str, Set>,
    /// The file as it was named, and the folder that paths in it start from.
    file: Option<(PathBuf, PathBuf)>,
}

/// What flags say, by key. A flag that was not given is not in it.
pub type Flags = Vec<(&'static str, Value)>;

impl Config {
    /// Puts together what flags, environment and file say. The file is `given`, else `botmesh-docs.toml` in the working
    /// folder when it is there. Paths in a file that was not given must stay in its folder.
    ///
    /// # Errors
    /// The file cannot be read, or it, a variable or a flag holds what is no value of a setting.
    pub fn load(given: Option<&Path>, flags: Flags) -> Result<Self, ConfigError> {
        let variable = |name: &str| std::env::var_os(name);
        let file = file::find(given)?;
        let mut values = match &file {
            Some(file) => file.settings()?,
            None => BTreeMap::new(),
        };
        for setting in SETTINGS {
            for name in setting.variables.iter().rev() {
                let Some(text) = variable(name).filter(|text| !text.is_empty()) else { continue };
                let value = text
                    .into_string()
                    .map_err(|_| ConfigError::new(format!("`{name}`"), "the value is not UTF-8"))?;
                let set =
                    Set { value: Some(Value::Text(value)), source: Source::Environment(name) };
                values.insert(setting.key, set);
            }
        }
        for (key, value) in flags {
            values.insert(key, Set { value: Some(value), source: Source::Flag });
        }
        for setting in SETTINGS {
            let set = values.entry(setting.key).or_insert_with(|| default(setting));
            if let Some(value) = &set.value
                && !fits(setting.kind, value)
            {
                let place = match set.source {
                    Source::Environment(name) => format!("`{name}`"),
                    Source::File(line) => place(file.as_ref().map(|file| &*file.path), line),
                    _ => "command line".to_owned(),
                };
                let wanted = setting.kind.wanted();
                let message = format!("`{}` must be {wanted}", setting.key);
                return Err(ConfigError::new(place, message));
            }
        }
        Ok(Self { values, file: file.map(|file| (file.path, file.folder)) })
    }

    /// Every setting with its value, in the order of [`SETTINGS`].
    pub fn all(&self) -> impl Iterator<Item = (&'static Setting, &Set)> {
        SETTINGS.iter().map(|setting| (setting, &self.values[setting.key]))
    }

    /// The settings file, as it was named.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// Where a value comes from.
    pub fn source(&self, key: &str) -> &Source {
        &self.set(key).source
    }

    /// The text of a setting that has one.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.set(key).value {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The folder of a setting; one from a file is counted from the file's own folder.
    pub fn folder(&self, key: &str) -> Option<PathBuf> {
        let text = self.text(key)?;
        Some(match (self.source(key), &self.file) {
            (Source::File(_), Some((_, folder))) => folder.join(text),
            _ => text.into(),
        })
    }

    /// Whether a setting is on.
    pub fn is_on(&self, key: &str) -> bool {
        self.set(key).value == Some(Value::Switch(true))
    }

    /// The number of a setting that has one.
    pub fn number(&self, key: &str) -> Option<usize> {
        match self.set(key).value {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The texts of a setting.
    pub fn list(&self, key: &str) -> &[String] {
        match &self.set(key).value {
            Some(Value::List(texts)) => texts,
            _ => &[],
        }
    }

    fn set(&self, key: &str) -> &Set {
        self.values.get(key).expect("a key of `SETTINGS`")
    }
}

fn default(setting: &Setting) -> Set {
    let value = match setting.default {
        Default::Unset => None,
        Default::Text(text) => Some(Value::Text(text.to_owned())),
        Default::Switch(is_on) => Some(Value::Switch(is_on)),
        Default::Number(number) => Some(Value::Number(number)),
        Default::Empty => Some(Value::List(Vec::new())),
    };
    Set { value, source: Source::Default }
}

/// Whether a value is one that a setting takes.
pub fn fits(kind: Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Folder, Value::Text(text)) => !text.is_empty(),
        (Kind::Address, Value::Text(text)) => text.parse::<SocketAddr>().is_ok(),
        (Kind::Choice(words), Value::Text(word)) => words.contains(&word.as_str()),
        (Kind::Url, Value::Text(text)) => {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            let is_plain = |c: char| c.is_ascii_graphic() && !"?#\"<>\\".contains(c);
            rest.is_some_and(|rest| {
                !rest.is_empty() && !rest.starts_with('/') && rest.chars().all(is_plain)
            })
        }
        (Kind::Number(least, most), Value::Number(number)) => (least..=most).contains(number),
        (Kind::Switch, Value::Switch(_)) | (Kind::List, Value::List(_)) => true,
        _ => false,
    }
}

/// A line of a file, as messages name it.
fn place(file: Option<&Path>, line: usize) -> String {
    let file = file.map(|path| path.display().to_string()).unwrap_or_default();
    format!("`{file}`, line {line}")
}

#[cfg(test)]
mod tests;
