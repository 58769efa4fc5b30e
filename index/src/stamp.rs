//! What tells without reading that a file is as it was: a hint, never a proof. Content decides.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A file written so shortly before it was read may be written again without a new time: the coarsest clocks of file
/// systems in use tick every two seconds (FAT).
const SETTLING: Duration = Duration::from_secs(2);

/// Size and times of a file. Equal stamps mean equal content, provided the stamp [had settled](Self::has_settled).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    size: u64,
    /// Nanoseconds since 1970 of the last change of the content.
    mtime: i64,
    /// Nanoseconds since 1970 of the last change of anything, name and times included; 0 where the system has none.
    ctime: i64,
    /// Number of the file in its file system; 0 where the system has none.
    inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let mtime = metadata.modified().map_or(0, nanoseconds);
        let (ctime, inode) = change_time_and_inode(metadata);
        Self { size: metadata.len(), mtime, ctime, inode }
    }

    /// Whether a later write is bound to give another stamp: `now` is when the file was looked at, or before.
    pub(crate) fn has_settled(&self, now: SystemTime) -> bool {
        let last = self.mtime.max(self.ctime);
        last.saturating_add(SETTLING.as_nanos() as i64) < nanoseconds(now)
    }

    /// The number of the file in its file system; 0 where the system has none.
    pub(crate) fn file_number(&self) -> u64 {
        self.inode
    }

    /// Whether two looks met the same file, changed or not.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.inode == other.inode
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(unix)]
fn change_time_and_inode(metadata: &Metadata) -> (i64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    let ctime =
        metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec());
    (ctime, metadata.ino())
}

#[cfg(not(unix))]
fn change_time_and_inode(_: &Metadata) -> (i64, u64) {
    (0, 0)
}
