//! Walks a docs folder: which files are pages. The answer depends on the tree and the rules alone, never on the
//! machine: no global ignore files, no environment.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use ignore::WalkBuilder;

use crate::anchor::Dialect;
use crate::error::{IndexError, Problem, ProblemCode};
use crate::language;
use crate::manifest::Rules;
use crate::page::{MAX_PAGE_BYTES, Page};
use crate::stamp::Stamp;

/// Folders of generated output and internal notes: left out right under the root or a language's folder.
pub const EXCLUDED_FOLDERS: &[&str] = &["api", "dist", "superpowers"];
/// Folders left out at any depth, beside hidden ones.
const EXCLUDED_ANYWHERE: &[&str] = &["node_modules"];

/// A page that is replaced between a look at its name and its opening is looked at again.
const MAX_READS: usize = 5;

/// What belongs to a tree, besides its root.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// Globs of pages to leave out.
    pub exclude: Vec<String>,
    /// Globs of pages to keep although a folder rule leaves them out.
    pub include: Vec<String>,
    /// Language of pages that do not tell theirs.
    pub default_lang: String,
    /// Whose anchors to emit; `None`: `VitePress`'s when the root holds `.vitepress/`, else GitHub's.
    pub anchors: Option<Dialect>,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self { exclude: Vec::new(), include: Vec::new(), default_lang: "en".into(), anchors: None }
    }
}

/// A docs folder with its rules.
#[derive(Clone, Debug)]
pub struct DocsTree {
    root: PathBuf,
    exclude: GlobSet,
    include: GlobSet,
    rules: Rules,
}

/// What a walk found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Paths of the pages below the root, `/` between parts, in byte order.
    pub paths: Vec<String>,
    /// What was left out, in order of path.
    pub problems: Vec<Problem>,
    /// Folders that the walk went into, the root (an empty path) first.
    pub folders: Vec<String>,
}

/// The bytes of a page, with what tells later whether it is still the same.
pub(crate) struct PageFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stamp: Stamp,
}

impl DocsTree {
    /// Opens a docs folder. The root itself may be a link; nothing below it is followed.
    pub fn open(root: &Path, options: &TreeOptions) -> Result<Self, IndexError> {
        let real = fs::canonicalize(root).map_err(|_| IndexError::RootNotFound(root.to_owned()))?;
        if !real.is_dir() {
            return Err(IndexError::RootNotAFolder(root.to_owned()));
        }
        let dialect = options.anchors.unwrap_or_else(|| {
            if real.join(".vitepress").is_dir() { Dialect::VitePress } else { Dialect::GitHub }
        });
        Ok(Self {
            exclude: globs(&options.exclude)?,
            include: globs(&options.include)?,
            rules: Rules::of(options, dialect),
            root: real,
        })
    }

    /// Whose anchors the tree's links use.
    pub fn dialect(&self) -> Dialect {
        self.rules.dialect
    }

    /// Where the root really is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The rules, with the dialect that was found.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Finds the pages. Links are not followed (their targets inside the tree are pages already, those outside are
    /// none of ours), pipes and devices are not opened.
    pub fn scan(&self) -> Scan {
        let mut scan = Scan::default();
        let filter = self.clone();
        let walk = WalkBuilder::new(&self.root)
            .standard_filters(false)
            .follow_links(false)
            .filter_entry(move |entry| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                !is_folder || entry.depth() == 0 || filter.enters(entry.path())
            })
            .build();
        for entry in walk {
            match entry {
                Ok(entry) => self.visit(&entry, &mut scan),
                // A folder that went during the walk.
                Err(error) if is_not_found(&error) => {}
                Err(error) => scan.problems.push(self.walk_problem(&error)),
            }
        }
        self.report_excluded_folders(&mut scan);
        scan.paths.sort_unstable();
        scan.problems.sort_unstable();
        scan
    }

    /// Reads one page. `None` when it is gone or is no page any more; then the problem says why.
    pub fn read_page(&self, path: &str) -> (Option<Page>, Vec<Problem>) {
        match self.read(path) {
            Ok(Some(file)) => {
                let (page, problems) = self.parse(path, &file.bytes);
                (Some(page), problems)
            }
            Ok(None) => (None, Vec::new()),
            Err(problem) => (None, vec![problem]),
        }
    }

    /// What tells whether a page is as it was; `None` when there is no such file.
    pub(crate) fn stamp(&self, path: &str) -> Option<Stamp> {
        fs::symlink_metadata(self.root.join(path)).ok().map(|metadata| Stamp::of(&metadata))
    }

    /// The bytes of a page. `None` when it is gone.
    pub(crate) fn read(&self, path: &str) -> Result<Option<PageFile>, Problem> {
        let problem = |code, message: String| Problem { path: path.to_owned(), code, message };
        let unreadable = |error: &io::Error| problem(ProblemCode::Unreadable, io_reason(error));
        let file = self.root.join(path);
        for _ in 0..MAX_READS {
            let metadata = match fs::symlink_metadata(&file) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(unreadable(&error)),
            };
            if !metadata.is_file() {
                return Err(problem(ProblemCode::NotAFile, "not a regular file".into()));
            }
            if metadata.len() > MAX_PAGE_BYTES {
                let message = format!(
                    "{} MiB is over the limit of {} MiB",
                    metadata.len().div_ceil(1024 * 1024),
                    MAX_PAGE_BYTES / (1024 * 1024)
                );
                return Err(problem(ProblemCode::TooLarge, message));
            }
            let mut bytes = Vec::with_capacity(metadata.len() as usize);
            let opened =
                File::open(&file).and_then(|file| Ok((Stamp::of(&file.metadata()?), file)));
            match opened {
                // A link may have taken the place of the file that was looked at.
                Ok((stamp, _)) if !stamp.is_same_file(&Stamp::of(&metadata)) => {}
                Ok((stamp, file)) => {
                    let read = file.take(MAX_PAGE_BYTES).read_to_end(&mut bytes);
                    return read
                        .map(|_| Some(PageFile { bytes, stamp }))
                        .map_err(|e| unreadable(&e));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&error)),
            }
        }
        Err(problem(ProblemCode::Unreadable, "it is replaced again and again".into()))
    }

    /// Reads a page from its bytes.
    pub(crate) fn parse(&self, path: &str, bytes: &[u8]) -> (Page, Vec<Problem>) {
        Page::read(path, bytes, self.rules.dialect, &self.rules.default_lang)
    }

    fn visit(&self, entry: &ignore::DirEntry, scan: &mut Scan) {
        let Ok(below) = entry.path().strip_prefix(&self.root) else { return };
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            scan.folders.extend(slash_path(below));
        }
        if !has_md_extension(below) || is_hidden(below) {
            return;
        }
        let Some(path) = slash_path(below) else {
            let path = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
            let message = "page skipped: its name is not UTF-8".to_owned();
            scan.problems.push(Problem { path, code: ProblemCode::NameNotUtf8, message });
            return;
        };
        let kind = entry.file_type();
        if kind.is_some_and(|kind| kind.is_dir()) {
            return;
        }
        if self.exclude.is_match(&path) && !self.include.is_match(&path) {
            return;
        }
        if !self.rules.include.is_empty()
            && in_excluded_folder(&path)
            && !self.include.is_match(&path)
        {
            return;
        }
        if kind.is_some_and(|kind| kind.is_file()) {
            scan.paths.push(path);
        } else {
            let message = if kind.is_some_and(|kind| kind.is_symlink()) {
                "page skipped: links are not followed"
            } else {
                "page skipped: not a regular file"
            };
            let message = message.to_owned();
            scan.problems.push(Problem { path, code: ProblemCode::NotAFile, message });
        }
    }

    /// Whether the walk goes into a folder. With `--include` it looks everywhere but into hidden folders, since a
    /// glob may name a page in an excluded one.
    fn enters(&self, folder: &Path) -> bool {
        let name = folder.file_name().map(|name| name.to_string_lossy());
        let Some(name) = name else { return false };
        if name.starts_with('.') || EXCLUDED_ANYWHERE.contains(&name.as_ref()) {
            return false;
        }
        let Ok(below) = folder.strip_prefix(&self.root) else { return false };
        !self.rules.include.is_empty() || !is_excluded_folder(&below.to_string_lossy())
    }

    fn report_excluded_folders(&self, scan: &mut Scan) {
        let top = names_in(&self.root);
        let languages = top.iter().filter(|name| language::is_folder(name));
        let below = languages.flat_map(|lang| {
            names_in(&self.root.join(lang)).into_iter().map(move |name| format!("{lang}/{name}"))
        });
        for path in top.iter().cloned().chain(below).filter(|path| is_excluded_folder(path)) {
            if self.root.join(&path).is_dir()
                && !scan.paths.iter().any(|page| page.starts_with(&path))
            {
                let message = "folder left out: generated output or internal notes".to_owned();
                scan.problems.push(Problem { path, code: ProblemCode::ExcludedFolder, message });
            }
        }
    }

    fn walk_problem(&self, error: &ignore::Error) -> Problem {
        let path = error_path(error)
            .and_then(|path| path.strip_prefix(&self.root).ok())
            .map_or_else(String::new, |path| path.to_string_lossy().into_owned());
        let message = error.io_error().map_or_else(|| "cannot be read".to_owned(), io_reason);
        Problem { path, code: ProblemCode::Unreadable, message }
    }
}

fn is_not_found(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// `api`, `dist` and `superpowers` right under the root or under a language's folder.
fn is_excluded_folder(path: &str) -> bool {
    match path.split_once('/') {
        None => EXCLUDED_FOLDERS.contains(&path),
        Some((lang, name)) => language::is_folder(lang) && EXCLUDED_FOLDERS.contains(&name),
    }
}

fn in_excluded_folder(path: &str) -> bool {
    path.match_indices('/').any(|(at, _)| is_excluded_folder(&path[..at]))
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            error_path(err)
        }
        _ => None,
    }
}

/// What an I/O error says, without the path that the system may add.
fn io_reason(error: &io::Error) -> String {
    error.kind().to_string()
}

fn globs(patterns: &[String]) -> Result<GlobSet, IndexError> {
    let bad = |glob: &str, error: &globset::Error| IndexError::BadGlob {
        glob: glob.to_owned(),
        reason: error.kind().to_string(),
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| bad(pattern, &error))?);
    }
    set.build().map_err(|error| bad(&patterns.join(" "), &error))
}

pub(crate) fn has_md_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn slash_path(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> =
        path.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}
