//! The routing algorithms that scenario files can name: one line each.

use std::sync::Arc;

use tailback_parameters::{BuildError, Parameter, Values};
use tailback_topology::AnyTopology;

use crate::{Routing, destination_tag, direct, dragonfly, fat_tree, multi_cluster};

/// A routing algorithm with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct RoutingModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// The kind of topology it is for.
    pub topology: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Builds it for a topology.
    pub build: Build,
}

/// Builds an algorithm for a topology from the values of its parameters.
pub type Build = fn(&AnyTopology, &Values) -> Result<Arc<dyn Routing>, BuildError>;

/// All routing algorithms.
pub const ROUTINGS: &[RoutingModel] = &[
    direct::DIRECT,
    dragonfly::MINIMAL,
    dragonfly::VALIANT,
    dragonfly::UGAL_LOCAL,
    dragonfly::UGAL_GLOBAL,
    dragonfly::PIGGYBACK,
    dragonfly::PROGRESSIVE,
    dragonfly::PAR62,
    dragonfly::OLM,
    dragonfly::BASE,
    dragonfly::HYBRID,
    dragonfly::ECTN,
    dragonfly::STATISTICAL,
    fat_tree::NEAREST_COMMON_ANCESTOR,
    fat_tree::CLOS,
    multi_cluster::CLUSTER_RING,
    destination_tag::DESTINATION_TAG,
];

/// The algorithm that takes only shortest paths in a topology, if there are others that do not.
#[must_use]
pub fn minimal(topology: &AnyTopology) -> Option<Arc<dyn Routing>> {
    let AnyTopology::Dragonfly(topology) = topology else { return None };
    Some(Arc::new(dragonfly::Minimal::with_default_channels(Arc::clone(topology))))
}

/// The error of an algorithm that meets a topology it is not for.
pub(crate) fn needs(model: &RoutingModel, found: &AnyTopology) -> BuildError {
    let found = found.graph().name();
    let suitable: Vec<_> = ROUTINGS.iter().filter(|m| m.topology == found).map(|m| format!("`{}`", m.name)).collect();
    BuildError::new(format!("`{}` routes in a {}, not in a {found}", model.name, model.topology))
        .help(format!("for a {found} there is {}", suitable.join(", ")))
}
