//! Flow documents in fenced `json flow` blocks. A block that says `lint=RULE` shows that fault on purpose.

use super::facts::Facts;
use crate::flow::block::{check_block, is_flow_block};
use crate::report::Finding;

pub(super) fn flows(facts: &Facts) -> Vec<Finding> {
    let path = facts.page.path.as_str();
    let blocks = facts.code.iter().filter(|block| is_flow_block(&block.info));
    blocks
        .flat_map(|block| {
            let shown: Vec<&str> =
                block.info.split(' ').filter_map(|word| word.strip_prefix("lint=")).collect();
            let located = check_block(&block.text, 1).into_iter();
            located.filter(move |located| !shown.contains(&located.code.as_str())).map(|located| {
                let name = located.identity.clone();
                let finding = Finding::of_flow(path, &block.text, located, block.first_line);
                finding.with_identity(&name)
            })
        })
        .collect()
}
