//! What flows that share the slots of their nodes must have in common.

use tailback_workload::{Arrival, SLOTS_LOAD_MIN, Traffic};

use crate::diagnostic::Diagnostic;
use crate::reader::{Reading, TableReader};

/// How long a slot is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot {
    message_flits: u32,
    cycles_per_flit: u32,
}

/// What is known of slots by the flows before.
#[derive(Default)]
pub(super) struct Sharing {
    slot: Option<Slot>,
    /// How many phases they have.
    phases: u64,
    /// How many changes of shares a node remembers: for each flow those of its own and of all before.
    changes: u64,
    /// And all nodes together.
    remembered: u64,
}

/// The most changes of shares that a node may remember, and all nodes together.
const CHANGES_MAX: u64 = 1 << 12;
const REMEMBERED_MAX: u64 = 1 << 24;

/// Whether `flow`, if it is one that shares slots, can: slots are as long as those of the flows `before`, messages not too rare, and changes not too many.
pub(super) fn check_slots(
    flow: &Traffic,
    before: &mut Sharing,
    table: &TableReader<'_>,
    reading: &mut Reading,
) -> Option<()> {
    let Arrival::Slots { cycles_per_flit } = flow.arrival else { return Some(()) };
    let slot = flow.size.fixed().map(|message_flits| Slot { message_flits, cycles_per_flit });
    let phases = before.phases + flow.phases().len() as u64;
    let changes = before.changes + phases;
    let remembered = before.remembered + phases * u64::from(flow.sources.len());
    let (key, message, help) = match (slot, before.slot) {
        (None, _) => {
            ("size", "a slot is as long as a message, and those of this flow differ".to_owned(), "give it one size")
        }
        (Some(slot), Some(before)) if slot != before => {
            let cycles = |slot: Slot| slot.message_flits * slot.cycles_per_flit;
            let message = format!("slots of {} cycles, and {} for the flows before", cycles(slot), cycles(before));
            ("size", message, "flows that share slots have messages of one size, and one line")
        }
        _ if flow.phases().iter().any(|phase| phase.load > 0.0 && phase.load < SLOTS_LOAD_MIN) => {
            let message = format!("with `arrival = \"slots\"` a load is 0, or at least {SLOTS_LOAD_MIN}");
            ("load", message, "take `arrival = \"bernoulli\"` for what is so rare")
        }
        _ if changes > CHANGES_MAX || remembered > REMEMBERED_MAX => {
            let message = format!(
                "flows that share slots make {changes} changes for a node, and {remembered} for all; the limits are {CHANGES_MAX} and {REMEMBERED_MAX}"
            );
            ("arrival", message, "give them fewer phases, or let fewer flows share slots")
        }
        _ => {
            *before = Sharing { slot, phases, changes, remembered };
            return Some(());
        }
    };
    let place = [key, "arrival"].iter().find_map(|key| table.table.get(key)).map(|entry| entry.node.span);
    reading.blame(Diagnostic::at(place.unwrap_or(table.span), message).help(help));
    None
}
