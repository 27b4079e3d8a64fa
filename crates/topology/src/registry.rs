//! The topologies that scenario files can name.

use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};

use crate::{
    Arrangement, Butterfly, ClusterSize, Dragonfly, FatTree, MultiCluster, RADIX_MAX, SingleSwitch, Topology,
    TopologyError,
};

/// A topology of any kind, for those who need to know which kind it is.
#[derive(Clone, Debug)]
pub enum AnyTopology {
    /// A unidirectional butterfly.
    Butterfly(Arc<Butterfly>),
    /// A dragonfly.
    Dragonfly(Arc<Dragonfly>),
    /// A fat tree.
    FatTree(Arc<FatTree>),
    /// Clusters of trees in a ring.
    MultiCluster(Arc<MultiCluster>),
    /// A single switch.
    SingleSwitch(Arc<SingleSwitch>),
}

impl AnyTopology {
    /// The graph, whatever its kind.
    #[must_use]
    pub fn graph(&self) -> Arc<dyn Topology> {
        match self {
            Self::Butterfly(topology) => Arc::clone(topology) as _,
            Self::Dragonfly(topology) => Arc::clone(topology) as _,
            Self::FatTree(topology) => Arc::clone(topology) as _,
            Self::MultiCluster(topology) => Arc::clone(topology) as _,
            Self::SingleSwitch(topology) => Arc::clone(topology) as _,
        }
    }

    /// How many groups of nodes there are, and how many consecutive nodes each has, where nodes fall into groups.
    #[must_use]
    pub fn node_groups(&self) -> Option<(u32, u32)> {
        let (groups, nodes_each) = match self {
            Self::Dragonfly(topology) => (topology.groups(), topology.nodes() / topology.groups()),
            Self::MultiCluster(topology) => (topology.clusters(), topology.nodes_per_cluster()?),
            _ => return None,
        };
        (groups > 1).then_some((groups, nodes_each))
    }
}

/// A kind of topology with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct TopologyModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// What [`Topology::name`] of the result is: several models can make the same kind.
    pub kind: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The names of the kinds of links that the result can have, beside `terminal`.
    pub link_classes: &'static [&'static str],
    /// Builds it.
    pub build: fn(&Values) -> Result<AnyTopology, BuildError>,
}

const fn count(name: &'static str, max: u64, default: Option<&'static str>, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integer { min: 1, max }, default, help }
}

const fn counts(name: &'static str, default: Option<&'static str>, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integers { min: 1, max: RADIX_MAX as u64 }, default, help }
}

/// All topologies.
pub const TOPOLOGIES: &[TopologyModel] = &[
    TopologyModel {
        name: "dragonfly",
        kind: "dragonfly",
        summary: "groups of fully connected routers, joined by global links",
        parameters: &[
            count("p", RADIX_MAX as u64, None, "nodes per router"),
            count("a", RADIX_MAX as u64, None, "routers per group"),
            count("h", RADIX_MAX as u64, None, "global links per router"),
            count("g", 1 << 16, None, "groups, at most a·h + 1; with fewer, groups are joined by several links"),
            Parameter {
                name: "arrangement",
                kind: Kind::Choice(&[
                    Choice { word: "palmtree", help: "consecutive links of a router lead to consecutive groups" },
                    Choice { word: "absolute", help: "links lead to the other groups in order of their numbers" },
                ]),
                default: Some("\"palmtree\""),
                help: "how global links are dealt out to groups",
            },
        ],
        link_classes: &["local", "global"],
        build: |values| {
            let arrangement = match values.text("arrangement") {
                "absolute" => Arrangement::Absolute,
                _ => Arrangement::Palmtree,
            };
            let [p, a, h, g] = ["p", "a", "h", "g"].map(|name| values.integer(name));
            // What a router has most of is what there may be too much of.
            let (_, most) = [(p, "p"), (a, "a"), (h, "h")].into_iter().max().expect("there are three");
            Ok(AnyTopology::Dragonfly(Arc::new(Dragonfly::new(p, a, h, g, arrangement).map_err(|e| blame(&e, most))?)))
        },
    },
    TopologyModel {
        name: "k-ary-n-tree",
        kind: "fat-tree",
        summary: "n levels of switches with k children and k parents, for kⁿ nodes",
        parameters: &[
            count("k", RADIX_MAX as u64 / 2, None, "children and parents of a switch"),
            count("n", FatTree::LEVELS_MAX as u64, None, "levels of switches"),
        ],
        link_classes: TREE_LINKS,
        build: |values| tree(FatTree::k_ary_n_tree(values.integer("k"), values.integer("n")), "k"),
    },
    TopologyModel {
        name: "two-level-tree",
        kind: "fat-tree",
        summary: "leaf switches with nodes, each joined to each spine switch",
        parameters: &[
            count("nodes_per_leaf", RADIX_MAX as u64, None, "nodes of a leaf switch"),
            count("leaves", RADIX_MAX as u64, None, "leaf switches"),
            count("spines", RADIX_MAX as u64, None, "spine switches"),
            count("parallel", RADIX_MAX as u64, Some("1"), "links between a leaf and a spine"),
        ],
        link_classes: &["level1"],
        build: |values| {
            let [nodes, leaves, spines, parallel] =
                ["nodes_per_leaf", "leaves", "spines", "parallel"].map(|name| values.integer(name));
            tree(FatTree::two_level(nodes, leaves, spines, parallel), "spines")
        },
    },
    TopologyModel {
        name: "fat-tree",
        kind: "fat-tree",
        summary: "an extended generalised fat tree: children, parents and parallel links per level",
        parameters: &[
            counts("children", None, "children of a switch, from the bottom level to the top"),
            counts("parents", None, "parents of a switch, from the bottom level to the one below the top"),
            counts("parallel", None, "links between a switch and each parent, for the same levels as parents"),
        ],
        link_classes: TREE_LINKS,
        build: |values| {
            let [children, parents, parallel] = ["children", "parents", "parallel"].map(|name| values.integers(name));
            tree(FatTree::new(&children, &parents, &parallel), "children")
        },
    },
    TopologyModel {
        name: "k-ary-n-fly",
        kind: "k-ary-n-fly",
        summary: "a unidirectional butterfly: n stages of k × k switches, for kⁿ nodes that inject into the first and eject behind the last",
        parameters: &[
            count("k", RADIX_MAX as u64, None, "inputs and outputs of a switch"),
            count("n", Butterfly::STAGES_MAX as u64, None, "stages of switches"),
        ],
        link_classes: Butterfly::LINK_CLASSES.split_at(1).1,
        build: |values| {
            let built = Butterfly::new(values.integer("k"), values.integer("n"));
            built.map(|topology| AnyTopology::Butterfly(Arc::new(topology))).map_err(|error| blame(&error, "n"))
        },
    },
    TopologyModel {
        name: "bidirectional-k-ary-n-fly",
        kind: "fat-tree",
        summary: "a butterfly with links in both directions, as papers on multistage networks have it: the k-ary n-tree, up to numbers of nodes",
        parameters: &[
            count("k", RADIX_MAX as u64 / 2, None, "links of a switch on either side"),
            count("n", FatTree::LEVELS_MAX as u64, None, "stages of switches"),
            Parameter {
                name: "half",
                kind: Kind::Flag,
                default: Some("false"),
                help: "half of its nodes and switches, as in the 4-ary 5-fly of 512 hosts: two links lead to each neighbour in the last stage",
            },
        ],
        link_classes: TREE_LINKS,
        build: |values| {
            tree(FatTree::bidirectional_fly(values.integer("k"), values.integer("n"), values.flag("half")), "k")
        },
    },
    TopologyModel {
        name: "multi-cluster",
        kind: "multi-cluster",
        summary: "clusters of leaf and spine routers, joined in a ring by channels that are too few",
        parameters: &[
            count("clusters", MultiCluster::CLUSTERS_MAX as u64, Some("2"), "clusters in the ring"),
            count("nodes_per_leaf", RADIX_MAX as u64, Some("12"), "nodes of a leaf router"),
            count("leaves", RADIX_MAX as u64, Some("12"), "leaf routers of a cluster"),
            count("spines", RADIX_MAX as u64, Some("12"), "spine routers of a cluster"),
            CHANNELS,
            CHANNELS_PER_LEAF,
        ],
        link_classes: CLUSTER_LINKS,
        build: |values| {
            let [clusters, nodes_per_leaf, leaves, spines, channels, per_leaf] =
                ["clusters", "nodes_per_leaf", "leaves", "spines", "channels", "channels_per_leaf"]
                    .map(|name| values.integer(name));
            let size = ClusterSize { nodes_per_leaf, leaves, spines };
            multi_cluster(MultiCluster::equal(clusters, size, channels, per_leaf))
        },
    },
    TopologyModel {
        name: "mixed-clusters",
        kind: "multi-cluster",
        summary: "the same with clusters of different sizes: one number for each, in the order of the ring",
        parameters: &[
            counts("nodes_per_leaf", None, "nodes of a leaf router, by cluster"),
            counts("leaves", None, "leaf routers, by cluster"),
            counts("spines", None, "spine routers, by cluster"),
            Parameter {
                name: "channels",
                kind: Kind::Integers { min: 0, max: RADIX_MAX as u64 },
                default: None,
                help: "channels in each direction between a cluster and the next one, round the ring; one number for two clusters",
            },
            CHANNELS_PER_LEAF,
        ],
        link_classes: CLUSTER_LINKS,
        build: |values| {
            let [nodes, leaves, spines, channels] =
                ["nodes_per_leaf", "leaves", "spines", "channels"].map(|name| values.integers(name));
            for (name, list) in [("leaves", &leaves), ("spines", &spines)] {
                if list.len() != nodes.len() {
                    let message = format!("{} numbers, nodes_per_leaf has {}", list.len(), nodes.len());
                    return Err(BuildError::at(name, message).help("give one number for each cluster"));
                }
            }
            // Round the ring each cluster has a next one; two have each other, once.
            let pairs = if nodes.len() > 2 { nodes.len() } else { nodes.len().saturating_sub(1) };
            if channels.len() != pairs {
                let message = format!(
                    "{} numbers, and {} clusters have {pairs} pairs of neighbours",
                    channels.len(),
                    nodes.len()
                );
                return Err(BuildError::at("channels", message).help("give one number for each pair of neighbours"));
            }
            let sizes = nodes.iter().zip(&leaves).zip(&spines);
            let sizes: Vec<ClusterSize> = sizes
                .map(|((&nodes_per_leaf, &leaves), &spines)| ClusterSize { nodes_per_leaf, leaves, spines })
                .collect();
            multi_cluster(MultiCluster::new(&sizes, &channels, values.integer("channels_per_leaf")))
        },
    },
    TopologyModel {
        name: "single-switch",
        kind: "single-switch",
        summary: "one switch with a node on each port",
        parameters: &[count("nodes", RADIX_MAX as u64, None, "nodes")],
        link_classes: &[],
        build: |values| {
            let topology = SingleSwitch::new(values.integer("nodes")).map_err(|e| blame(&e, "nodes"))?;
            Ok(AnyTopology::SingleSwitch(Arc::new(topology)))
        },
    },
];

const CLUSTER_LINKS: &[&str] = MultiCluster::LINK_CLASSES.split_at(1).1;

const CHANNELS: Parameter = Parameter {
    name: "channels",
    kind: Kind::Integer { min: 0, max: RADIX_MAX as u64 },
    default: Some("4"),
    help: "channels in each direction between neighbours in the ring, each a port more of a leaf router on either side",
};

const CHANNELS_PER_LEAF: Parameter =
    count("channels_per_leaf", RADIX_MAX as u64, Some("1"), "channels that one leaf router may have");

fn multi_cluster(built: Result<MultiCluster, TopologyError>) -> Result<AnyTopology, BuildError> {
    built.map(|topology| AnyTopology::MultiCluster(Arc::new(topology))).map_err(|error| match error {
        TopologyError::ChannelsWithoutLeaf { .. } => BuildError::at("channels", error.to_string())
            .help("use fewer channels or more leaves, or raise channels_per_leaf"),
        TopologyError::ClustersWithoutPath { .. } => {
            BuildError::at("channels", error.to_string()).help("use at least one channel between neighbours")
        }
        _ => blame(&error, "nodes_per_leaf"),
    })
}

const TREE_LINKS: &[&str] = FatTree::LINK_CLASSES.split_at(1).1;

fn tree(built: Result<FatTree, TopologyError>, parameter: &'static str) -> Result<AnyTopology, BuildError> {
    built.map(|topology| AnyTopology::FatTree(Arc::new(topology))).map_err(|error| blame(&error, parameter))
}

/// Points at the parameter that is most likely to be mended.
fn blame(error: &TopologyError, otherwise: &'static str) -> BuildError {
    let message = error.to_string();
    match error {
        TopologyError::TooManyGroups { links, .. } => {
            BuildError::at("g", message).help(format!("use g = {} or fewer, or more links (a, h)", links + 1))
        }
        TopologyError::RadixTooLarge { .. } => {
            BuildError::at(otherwise, message).help("use smaller routers and more of them")
        }
        _ => BuildError::at(otherwise, message),
    }
}

#[cfg(test)]
mod tests {
    use tailback_parameters::Value;

    use super::*;

    #[test]
    fn each_model_names_the_links_of_what_it_builds() {
        for model in TOPOLOGIES {
            let mut values = Values::default();
            for parameter in model.parameters {
                let value = match (parameter.name, parameter.kind) {
                    ("parents" | "parallel", Kind::Integers { .. }) => Value::Integers(vec![2]),
                    ("channels", Kind::Integers { .. }) => Value::Integers(vec![2]),
                    (_, Kind::Integers { .. }) => Value::Integers(vec![2, 2]),
                    (_, Kind::Choice(choices)) => Value::Text(choices[0].word.to_owned()),
                    (_, Kind::Flag) => Value::Flag(true),
                    _ => Value::Integer(2),
                };
                values.set(parameter.name, value);
            }
            let graph = (model.build)(&values).unwrap().graph();
            assert_eq!(graph.name(), model.kind);
            let classes = graph.link_classes();
            assert_eq!(classes[1..], model.link_classes[..classes.len() - 1], "{}", model.name);
        }
    }
}
