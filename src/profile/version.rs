//! Versions as agents print them.

use std::cmp::Ordering;

/// A version of dotted numbers; what follows a `-` or `+` is ignored, so that `2.1.0-beta.3` reads as 2.1.0.
#[derive(Clone, Debug)]
pub(super) struct Version(Vec<u64>);

impl Version {
    /// Reads a version; `None` when it does not begin with a number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let core = text.trim().trim_start_matches('v').split(['-', '+', ' ']).next()?;
        core.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>().map(Self)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let longest = self.0.len().max(other.0.len());
        let part = |version: &Self, i: usize| version.0.get(i).copied().unwrap_or(0);
        (0..longest).map(|i| part(self, i).cmp(&part(other, i))).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        let version = |text| Version::parse(text).expect("versions here are well-formed");
        assert!(version("2.1.197") < version("2.1.329") && version("2.0.14") < version("2.1"));
        assert!(version("2.1") == version("2.1.0") && version("v0.169.0") > version("0.58.0"));
        assert!(version("2.1.0-beta.3") == version("2.1.0"));
        assert_eq!(Version::parse("latest"), None);
    }
}
