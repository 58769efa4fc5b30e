//! `botmesh-docs.toml`: found, read, and checked against the list of settings.

use std::collections::BTreeMap;
use std::fs::File as OpenFile;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::settings::{self, Kind, SETTINGS, Setting};
use super::{ConfigError, Set, Source, Value, place};
use crate::suggest;

/// Name of the file in the working folder.
pub const FILE_NAME: &str = "botmesh-docs.toml";

/// A larger file holds something else than settings.
const MAX_BYTES: u64 = 1024 * 1024;

/// The text of a settings file.
pub(super) struct File {
    /// As it was named.
    pub(super) path: PathBuf,
    /// What paths in it start from.
    pub(super) folder: PathBuf,
    /// Whether the user named it; paths may then lead anywhere.
    is_given: bool,
    text: String,
}

/// The file that was given, or the one in the working folder when it is there.
pub(super) fn find(given: Option<&Path>) -> Result<Option<File>, ConfigError> {
    let path = given.unwrap_or(Path::new(FILE_NAME));
    let fail = |why: String| {
        let error = ConfigError::new(format!("`{}`", path.display()), why);
        error.with_help("name a TOML file with `--config FILE`")
    };
    if given.is_none() && !path.is_file() {
        return Ok(None);
    }
    if !path.is_file() {
        let why = if path.exists() { "it is no file" } else { "no such file" };
        return Err(fail(why.to_owned()));
    }
    let mut text = String::new();
    OpenFile::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| fail(format!("it cannot be read: {}", error.kind())))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(fail(format!("it is larger than {MAX_BYTES} bytes")));
    }
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(Some(File { path: path.to_owned(), folder, is_given: given.is_some(), text }))
}

impl File {
    /// What the file says, by key.
    pub(super) fn settings(&self) -> Result<BTreeMap<&'static str, Set>, ConfigError> {
        let document = DeTable::parse(&self.text).map_err(|error| {
            let place = self.place(error.span().unwrap_or_default());
            ConfigError::new(place, format!("it is no TOML: {}", error.message()))
        })?;
        let mut values = BTreeMap::new();
        for (table, content) in document.get_ref() {
            let name = table.get_ref().as_ref();
            let tables = || SETTINGS.iter().filter_map(|setting| setting.key.split('.').next());
            if !tables().any(|known| known == name) {
                return Err(self.unknown(table.span(), "table", name, &mut tables()));
            }
            let DeValue::Table(members) = content.get_ref() else {
                let message = format!("`{name}` must be a table: write `[{name}]`");
                return Err(ConfigError::new(self.place(table.span()), message));
            };
            for (member, value) in members {
                let key = format!("{name}.{}", member.get_ref());
                let Some(setting) = settings::find(&key) else {
                    let mut keys = SETTINGS.iter().map(|setting| setting.key);
                    return Err(self.unknown(member.span(), "setting", &key, &mut keys));
                };
                let line = self.line(member.span());
                let set =
                    Set { value: Some(self.value(setting, value)?), source: Source::File(line) };
                values.insert(setting.key, set);
            }
        }
        Ok(values)
    }

    fn value(&self, setting: &Setting, value: &Spanned<DeValue<'_>>) -> Result<Value, ConfigError> {
        let wrong = || {
            let message = format!("`{}` must be {}", setting.key, setting.kind.wanted());
            ConfigError::new(self.place(value.span()), message)
        };
        let value_read = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(is_on) => Value::Switch(*is_on),
            DeValue::Integer(number) => {
                let digits = number.as_str().trim_start_matches('+');
                let number = usize::from_str_radix(digits, number.radix());
                Value::Number(number.map_err(|_| wrong())?)
            }
            DeValue::Array(items) => {
                let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
                    DeValue::String(text) => Ok(text.to_string()),
                    _ => Err(wrong()),
                };
                Value::List(items.iter().map(text).collect::<Result<_, _>>()?)
            }
            _ => return Err(wrong()),
        };
        if !super::fits(setting.kind, &value_read) {
            return Err(wrong());
        }
        if let (Kind::Folder, Value::Text(path)) = (setting.kind, &value_read)
            && !self.is_given
            && !self.stays_inside(Path::new(path))
        {
            let message = format!("`{}` leads out of the file's folder", setting.key);
            let error = ConfigError::new(self.place(value.span()), message);
            return Err(error.with_help(format!(
                "name the file yourself to allow it: `--config {}`",
                self.path.display()
            )));
        }
        Ok(value_read)
    }

    /// Whether a path stays below the file's folder, links included.
    fn stays_inside(&self, path: &Path) -> bool {
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !path.components().all(is_plain) {
            return false;
        }
        let base = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        // The nearest part that is there decides: a folder that will be made is made below it.
        let there =
            path.ancestors().map(|part| base.join(part)).find_map(|part| part.canonicalize().ok());
        match (base.canonicalize(), there) {
            (Ok(base), Some(there)) => there.starts_with(base),
            _ => false,
        }
    }

    fn unknown(
        &self,
        span: Range<usize>,
        what: &str,
        given: &str,
        known: &mut dyn Iterator<Item = &'static str>,
    ) -> ConfigError {
        const MAX_SHOWN_CHARS: usize = 80;
        let shown: String = given.escape_debug().take(MAX_SHOWN_CHARS).collect();
        let known: Vec<&str> = known.collect();
        let error = ConfigError::new(self.place(span), format!("unknown {what} `{shown}`"));
        error.with_help(match suggest::nearest(given, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`botmesh-docs config --show` lists all settings".to_owned(),
        })
    }

    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn place(&self, span: Range<usize>) -> String {
        place(Some(&self.path), self.line(span))
    }
}
