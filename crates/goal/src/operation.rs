//! What a rank does.

use serde::{Deserialize, Serialize};

/// One thing that a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Operation {
    /// What it is.
    pub kind: Kind,
    /// The processor of the rank that it takes. Operations of one processor exclude each other.
    pub cpu: u8,
    /// The adapter of the rank that it uses; 0 for calculations.
    pub nic: u8,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Sends a message.
    Send {
        /// The rank that it goes to, which may be the own one.
        to: u32,
        /// Its bytes.
        size: u64,
        /// What a receive must name to get it; none suits all receives.
        tag: Option<u32>,
    },
    /// Receives a message.
    Receive {
        /// The rank that it comes from; none is any.
        from: Option<u32>,
        /// Its bytes.
        size: u64,
        /// The tag that it must have; none is any.
        tag: Option<u32>,
    },
    /// Computes.
    Calc {
        /// For how long.
        nanoseconds: u64,
    },
}
