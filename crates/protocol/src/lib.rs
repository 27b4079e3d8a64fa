//! The seam for congestion control: what the network and a protocol say to each other.
//!
//! A protocol names the traffic classes that it needs and what its packets are. The network gives each class
//! virtual channels of its own and serves classes by priority.
//!
//! **What this crate must never know:** the engine, the network, any concrete protocol but the one that does
//! nothing about congestion.
//!
//! **The invariant it keeps:** a protocol that declares nothing costs nothing: the network looks at the
//! declarations once, when it is built.

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_parameters::{BuildError, Kind, Parameter, Values};

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketKind {
    /// It carries a part of a message.
    Data,
    /// It tells a source that one of its data packets has arrived.
    Acknowledgement,
}

/// A class of traffic: packets that share virtual channels and a priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficClass {
    /// Its name.
    pub name: &'static str,
    /// Classes with a larger number go first wherever packets compete.
    pub priority: u8,
}

/// A congestion control protocol for one network.
pub trait Protocol: Send + Sync + Debug {
    /// Its traffic classes; data packets are of the first.
    fn classes(&self) -> Vec<TrafficClass>;

    /// The class of the acknowledgements that destinations send for data packets, if they send any.
    fn acknowledgement_class(&self) -> Option<u8>;

    /// One line with its parameters, for people.
    fn describe(&self) -> String;
}

/// A protocol with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Builds it.
    pub build: fn(&Values) -> Result<Arc<dyn Protocol>, BuildError>,
}

/// The protocol that does nothing about congestion.
pub const BASELINE: ProtocolModel = ProtocolModel {
    name: "baseline",
    summary: "no congestion control: sources send what they have",
    parameters: &[Parameter {
        name: "acknowledge",
        kind: Kind::Flag,
        default: Some("false"),
        help: "whether destinations acknowledge each data packet by one flit of a class with priority",
    }],
    build: |values| Ok(Arc::new(Baseline { acknowledge: values.flag("acknowledge") })),
};

/// No congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Whether destinations acknowledge each data packet.
    pub acknowledge: bool,
}

impl Protocol for Baseline {
    fn classes(&self) -> Vec<TrafficClass> {
        let data = TrafficClass { name: "data", priority: 0 };
        let control = TrafficClass { name: "control", priority: 1 };
        if self.acknowledge { vec![data, control] } else { vec![data] }
    }

    fn acknowledgement_class(&self) -> Option<u8> {
        self.acknowledge.then_some(1)
    }

    fn describe(&self) -> String {
        let acknowledged = if self.acknowledge { "each data packet is acknowledged" } else { "no acknowledgements" };
        format!("no congestion control, {acknowledged}")
    }
}

#[cfg(test)]
mod tests {
    use tailback_parameters::Value;

    use super::*;

    #[test]
    fn a_baseline_has_a_class_for_acknowledgements_when_it_sends_any() {
        for acknowledge in [false, true] {
            let mut values = Values::default();
            values.set("acknowledge", Value::Flag(acknowledge));
            let protocol = (BASELINE.build)(&values).unwrap();
            let class = protocol.acknowledgement_class();
            assert_eq!(class.is_some(), acknowledge);
            let classes = protocol.classes();
            assert_eq!(
                class.map(|class| classes[usize::from(class)].priority > classes[0].priority),
                acknowledge.then_some(true)
            );
        }
    }
}
