//! Files that scenarios name.

/// A file that is kept for its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptFile {
    /// Whose token uploaded it.
    pub owner: String,
    /// Of its content, in hexadecimal.
    pub sha256: String,
    pub size: u64,
    /// How people know it.
    pub name: String,
    /// When it was uploaded last: milliseconds since 1970.
    pub uploaded_ms: i64,
}
