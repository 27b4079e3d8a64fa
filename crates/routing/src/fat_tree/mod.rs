//! Routing in fat trees.

mod nearest_common_ancestor;

pub(crate) use nearest_common_ancestor::NEAREST_COMMON_ANCESTOR;
pub use nearest_common_ancestor::{NearestCommonAncestor, UpChoice};
