//! Routing between clusters that are joined in a ring.

mod cluster_ring;
mod legs;

pub(crate) use cluster_ring::CLUSTER_RING;
pub use cluster_ring::{ChannelChoice, ClusterRing};
