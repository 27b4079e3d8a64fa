//! Values that are laid over a document.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values laid over a document, in their order. Runs of a sweep share those of its scenario: there may be thousands of runs, and
/// a thousand values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    shared: Arc<Vec<String>>,
    /// Those of one run.
    own: Vec<String>,
}

impl Overrides {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &String> {
        self.shared.iter().chain(&self.own)
    }

    pub(crate) fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// The same, and these behind them.
    pub(crate) fn with(&self, more: impl IntoIterator<Item = String>) -> Self {
        let own = self.own.iter().cloned().chain(more).collect();
        Self { shared: self.shared.clone(), own }
    }

    /// As a list of one's own.
    pub(crate) fn into_vec(self) -> Vec<String> {
        let mut all = Arc::unwrap_or_clone(self.shared);
        all.extend(self.own);
        all
    }
}

impl From<Vec<String>> for Overrides {
    fn from(all: Vec<String>) -> Self {
        Self { shared: Arc::new(all), own: Vec::new() }
    }
}

impl PartialEq for Overrides {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Overrides {}

/// A list, whoever has them.
impl Serialize for Overrides {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'d> Deserialize<'d> for Overrides {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_a_sweep_are_shared_and_written_down_as_if_each_run_had_its_own() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let base = Overrides::from(texts(&["a=1", "b=2"]));
        let run = base.with(texts(&["seed=3"]));
        assert!(Arc::ptr_eq(&base.shared, &run.shared));
        let text = serde_json::to_string(&run).expect("plain data");
        assert_eq!(text, r#"["a=1","b=2","seed=3"]"#);
        let read: Overrides = serde_json::from_str(&text).expect("it is what was written");
        assert_eq!((&read, read.len()), (&run, 3));
        assert_ne!(run, base);
        assert_eq!(run.into_vec(), ["a=1", "b=2", "seed=3"]);
    }
}
