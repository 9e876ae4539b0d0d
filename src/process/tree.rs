//! Who started whom.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Children by their parent.
#[derive(Debug, Default)]
pub(super) struct Tree {
    children: BTreeMap<u32, Vec<u32>>,
}

impl Tree {
    pub(super) fn add(&mut self, process: u32, parent: u32) {
        self.children.entry(parent).or_default().push(process);
    }

    /// A process and everything under it, nearest first, cut at `limit`.
    pub(super) fn under(&self, root: u32, limit: usize) -> Vec<u32> {
        under(root, limit, |process| self.children.get(&process).cloned().unwrap_or_default())
    }
}

/// A process and everything under it, nearest first, cut at `limit`.
pub(super) fn under(root: u32, limit: usize, mut children: impl FnMut(u32) -> Vec<u32>) -> Vec<u32> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([root]);
    let mut queue = VecDeque::from([root]);
    while let Some(process) = queue.pop_front() {
        found.push(process);
        if found.len() == limit {
            break;
        }
        // A process id may have been used again during the scan, so that the tree may have become a ring.
        queue.extend(children(process).into_iter().filter(|child| seen.insert(*child)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_come_first_and_rings_end() {
        let mut tree = Tree::default();
        for (process, parent) in [(2, 1), (3, 1), (4, 2), (5, 4), (1, 5)] {
            tree.add(process, parent);
        }
        assert_eq!(tree.under(1, 100), [1, 2, 3, 4, 5]);
        assert_eq!(tree.under(1, 2), [1, 2]);
        assert_eq!(tree.under(99, 100), [99]);
    }
}
