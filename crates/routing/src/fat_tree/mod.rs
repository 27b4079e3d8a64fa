//! Routing in fat trees.

mod clos;
mod nearest_common_ancestor;

pub(crate) use clos::CLOS;
pub use clos::{Clos, Queues as ClosQueues};
pub(crate) use nearest_common_ancestor::NEAREST_COMMON_ANCESTOR;
pub use nearest_common_ancestor::{NearestCommonAncestor, UpChoice};
