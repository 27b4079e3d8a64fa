//! Network interfaces: where messages wait, become packets, and are put together again.
//!
//! What a node sends, it takes from the first of these that has something for which there is room: control packets, by
//! class; lossless packets whose time has come; lossy packets that were dropped; and new messages, from a queue for
//! each destination, where processes and the ranks of programs put them. Whether a packet of a new message may leave,
//! and what has to come again when, the protocol's source says.

mod again;
mod attempts;
mod by_flow;
mod destination_rooms;
mod due;
mod egress;
mod part;
mod pause;
mod programs;
mod receive;
mod resequence;
mod retransmit;
mod send;
mod source;
mod source_queues;
mod state;
mod trace;

pub use by_flow::TABLE_FLOWS_MAX;
pub(crate) use programs::Seats;
pub(crate) use retransmit::RetransmitBuffer;
pub(crate) use state::NodeState;

/// As something is after it was written and read.
#[cfg(test)]
fn written_and_read<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let mut bytes = Vec::new();
    tailback_engine::write_value(value, &mut bytes).expect("it can be written");
    let mut unread = bytes.as_slice();
    tailback_engine::take_value(&mut unread, bytes.len()).expect("it can be read")
}
