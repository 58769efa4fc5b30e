//! What the target of a link names in a tree, by the rules of the site that shows it.

use std::path::{Component, Path};

use botmesh_index::anchor::Dialect;
use botmesh_index::lookup::percent_decoded;

use super::Site;

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Out of the tree, or nowhere that can be looked up here.
    Elsewhere,
    /// A page of the tree, and the fragment after `#`, decoded.
    Page { path: String, fragment: Option<String> },
    /// A file of the tree that is no page.
    File,
    /// Nothing: the path below the root that should be there.
    Nothing { path: String },
}

/// What `VitePress` takes for a file to be handed out, and not for a page.
const ASSETS: &str = "aac avi bmp css csv gif gz ico jpeg jpg js json mjs mov mp3 mp4 ogg pdf png svg tar toml ts txt \
     wasm wav webm webp woff woff2 xml yaml yml zip";

/// File names that a folder is shown by, best first.
const INDEX_NAMES: [&str; 3] = ["index.md", "README.md", "_index.md"];

impl Site<'_> {
    /// What `target` names on the page at `from`.
    pub(super) fn target(&self, from: &str, target: &str) -> Target {
        let target = target.trim();
        // Braces are filled in by the site when it is built.
        if has_scheme(target) || target.starts_with("//") || target.contains("{{") {
            return Target::Elsewhere;
        }
        let (rest, fragment) = match target.split_once('#') {
            Some((rest, fragment)) => (rest, Some(percent_decoded(fragment))),
            None => (target, None),
        };
        let path = percent_decoded(rest.split('?').next().unwrap_or_default());
        if path.is_empty() {
            return Target::Page { path: from.to_owned(), fragment };
        }
        let found = match path.strip_prefix('/') {
            Some(absolute) => self.absolute(absolute),
            None => self.relative(from, &path),
        };
        match found {
            Some(Found::Page(path)) => Target::Page { path, fragment },
            Some(Found::File) => Target::File,
            None if path.starts_with('/') && !self.knows_absolute(&path) => Target::Elsewhere,
            None => {
                let base = if path.starts_with('/') { "" } else { folder_of(from) };
                match normal(base, path.trim_start_matches('/')) {
                    Some(path) => Target::Nothing { path },
                    // Above the root there is what we do not look at.
                    None => Target::Elsewhere,
                }
            }
        }
    }

    fn absolute(&self, path: &str) -> Option<Found> {
        let below_name = path.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('/'));
        let lang = self.default_lang;
        [Some(path), below_name]
            .into_iter()
            .flatten()
            .flat_map(|path| [path.to_owned(), format!("{lang}/{path}")])
            .find_map(|path| self.at(&normal("", &path)?))
            .or_else(|| self.is_file(&format!("public/{path}")).then_some(Found::File))
    }

    fn relative(&self, from: &str, path: &str) -> Option<Found> {
        let found = normal(folder_of(from), path).and_then(|path| self.at(&path));
        if found.is_some() || self.dialect == Dialect::VitePress {
            return found;
        }
        // Sites that show `guide/x.md` as `guide/x/` count from there.
        let shown = from.rsplit_once('.').map_or(from, |(stem, _)| stem);
        normal(shown, path).and_then(|path| self.at(&path))
    }

    /// The page or file that is shown at a path below the root.
    fn at(&self, path: &str) -> Option<Found> {
        let page =
            |path: String| self.pages.contains_key(path.as_str()).then_some(Found::Page(path));
        let (bare, is_folder) = match path.strip_suffix('/') {
            Some(bare) => (bare, true),
            None => (path, path.is_empty()),
        };
        if is_folder {
            let of_folder = INDEX_NAMES.iter().find_map(|name| page(join(bare, name)));
            if of_folder.is_some() {
                return of_folder;
            }
            return match self.dialect {
                Dialect::VitePress => None,
                Dialect::GitHub => page(format!("{bare}.md"))
                    .or_else(|| self.is_folder(bare).then_some(Found::File)),
            };
        }
        page(path.to_owned())
            .or_else(|| page(format!("{}.md", path.strip_suffix(".html").unwrap_or(path))))
            .or_else(|| match self.dialect {
                Dialect::VitePress => None,
                Dialect::GitHub => INDEX_NAMES.iter().find_map(|name| page(join(path, name))),
            })
            .or_else(|| self.is_handed_out(path).then_some(Found::File))
    }

    fn is_handed_out(&self, path: &str) -> bool {
        match self.dialect {
            Dialect::GitHub => self.is_file(path) || self.is_folder(path),
            Dialect::VitePress => {
                self.is_file(path)
                    || self.is_file(&format!("public/{path}"))
                    || self.is_file(&format!("public/{path}.html"))
            }
        }
    }

    /// Whether a path from the site's root can be looked up: not every tree is the root of its site.
    fn knows_absolute(&self, path: &str) -> bool {
        match self.dialect {
            Dialect::VitePress => true,
            Dialect::GitHub => {
                Path::new(path).extension().is_some_and(|extension| extension == "md")
            }
        }
    }

    /// Whether a target that is not there would be a file that is handed out.
    pub(super) fn is_asset(path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(_, extension)| {
            ASSETS.split_whitespace().any(|asset| asset.eq_ignore_ascii_case(extension))
        })
    }

    fn is_file(&self, path: &str) -> bool {
        self.root.is_some_and(|root| is_below(path) && root.join(path).is_file())
    }

    fn is_folder(&self, path: &str) -> bool {
        self.root.is_some_and(|root| is_below(path) && root.join(path).is_dir())
    }
}

enum Found {
    Page(String),
    File,
}

/// Nothing above the root is looked at, whatever a link says.
fn is_below(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A path below the root, without `.` and `..`; a `/` at its end stays. `None` above the root.
fn normal(base: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let is_folder =
        path.ends_with('/') || path.ends_with("/.") || path.ends_with("..") || path == ".";
    let path = parts.join("/");
    Some(if is_folder && !path.is_empty() { path + "/" } else { path })
}
