//! Indexes a tree in ways that must not matter, and compares the digests of all that answers depend on.

use botmesh_index::snapshot::Snapshot;
use botmesh_index::tree::DocsTree;
use botmesh_index::writer::{self, Index};

use super::{Check, Health, IndexError};
use crate::docs::threads;
use crate::tools::count;

/// Commits this often make many small segments.
const PAGES_A_COMMIT: usize = 100;
const WRITING_THREADS: usize = 4;

pub(super) fn check(tree: &DocsTree, paths: &[String]) -> Result<Check, IndexError> {
    let ways: [(&str, Snapshot); 3] = [
        ("one thread", writer::build(tree, 1)?.1),
        ("all threads", writer::build(tree, threads().max(2))?.1),
        ("backwards, in pieces, every page twice", backwards(tree, paths)?),
    ];
    let digests: Vec<(&str, String)> = ways
        .iter()
        .map(|(way, snapshot)| Ok((*way, snapshot.digest()?)))
        .collect::<Result<_, IndexError>>()?;
    let (_, first) = &digests[0];
    Ok(match digests.iter().find(|(_, digest)| digest != first) {
        None => {
            let message =
                format!("{} of indexing give one digest: {first}", count(digests.len(), "way"));
            Check::new("determinism", Health::Fine, message)
        }
        Some((way, digest)) => {
            let message = format!("indexed with {way}: {digest}, with one thread: {first}");
            Check::new("determinism", Health::Fault, message).with_help(
                "a page changed meanwhile, or this is a fault of the program: please report it",
            )
        }
    })
}

/// The last page first, in many commits by several threads, each page put in once too often, then merged in part.
fn backwards(tree: &DocsTree, paths: &[String]) -> Result<Snapshot, IndexError> {
    let mut index = Index::in_memory(WRITING_THREADS)?;
    let put = |index: &Index, path: &String| match tree.read_page(path).0 {
        Some(page) => index.put(&page),
        None => Ok(()),
    };
    let paths: Vec<&String> = paths.iter().rev().collect();
    for (n, pages) in paths.chunks(PAGES_A_COMMIT).enumerate() {
        pages.iter().try_for_each(|path| put(&index, path))?;
        index.commit()?;
        if n == paths.len() / PAGES_A_COMMIT / 2 {
            index.merge()?;
        }
        pages.iter().rev().try_for_each(|path| put(&index, path))?;
    }
    index.commit()
}
