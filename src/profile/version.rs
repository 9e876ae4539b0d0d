//! Versions as agents print them.

/// A version of dotted numbers, without zeros at its end; what follows a `-` or `+` is ignored, so that `2.1.0-beta.3` reads
/// as 2.1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(Vec<u64>);

impl Version {
    /// Reads a version; `None` when it does not begin with a number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let core = text.trim().trim_start_matches('v').split(['-', '+', ' ']).next()?;
        let mut parts = core.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
        while parts.pop_if(|last| *last == 0).is_some() {}
        Some(Self(parts))
    }
}

/// Whether a text is a version by whose numbers a profile can be chosen.
pub fn is_version(text: &str) -> bool {
    Version::parse(text).is_some_and(|version| !version.0.is_empty())
}

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
