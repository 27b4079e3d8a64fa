//! The messages of flows that end, one by one.

use serde::{Deserialize, Serialize};

use crate::table::{Column, Kind};
use crate::{FlowInput, Record, Table};

/// A message that has arrived, as it is written down where all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ListedCompletion {
    /// When it was created.
    pub created: u64,
    /// The node that sent it.
    pub source: u32,
    /// The node that it was for.
    pub destination: u32,
    /// When its last flit arrived.
    pub completed: u64,
    /// Ticks that it takes in an empty network, on a minimal path.
    pub unloaded: u64,
    /// Its flits.
    pub flits: u32,
}

/// The messages that have arrived of flows that end, with a row for each, in the order in which they were created; none if they are not
/// written down. Times are in link cycles.
///
/// # Panics
/// When the flows are not those of the record.
#[must_use]
pub fn messages_table(record: &Record, flows: &[FlowInput], ticks_per_cycle: u64) -> Option<Table> {
    assert_eq!(flows.len(), record.flows().len(), "each flow of the record is described");
    if !record.plan().messages {
        return None;
    }
    let mut columns = vec![Column::text("flow")];
    columns.extend(["source", "destination", "flits"].map(|name| Column::new(name, Kind::Integer)));
    columns.extend(["created", "completed", "completion", "slowdown"].map(|name| Column::new(name, Kind::Number)));
    let mut table = Table::new(columns);
    let mut messages: Vec<(ListedCompletion, usize)> = Vec::new();
    for (place, flow) in record.flows().iter().enumerate() {
        messages.extend(flow.messages.iter().map(|&message| (message, place)));
    }
    messages.sort_unstable();
    for (message, place) in messages {
        let ListedCompletion { created, source, destination, completed, unloaded, flits } = message;
        let cycles = |ticks: u64| ticks as f64 / ticks_per_cycle as f64;
        let latency = completed - created;
        let mut row = vec![flows[place].name.as_str().into()];
        row.extend([source, destination, flits].map(|number| u64::from(number).into()));
        let slowdown = latency as f64 / unloaded.max(1) as f64;
        row.extend([cycles(created), cycles(completed), cycles(latency), slowdown].map(Into::into));
        table.push(row);
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadCourse, RecordPlan, Window};

    #[test]
    fn messages_stand_in_the_order_of_their_creation_whoever_wrote_them_down() {
        let mut plan = RecordPlan::new(1, Window { from: 0, until: 1000 });
        plan.ending = vec![Some(2)];
        let (name, source_nodes, phases) = ("x".to_owned(), Vec::new(), Vec::new());
        let (offered_load_nominal, course) = (None, LoadCourse::Changes);
        let input = [FlowInput { name, sources: 1, source_nodes, offered_load_nominal, course, phases }];
        assert_eq!(messages_table(&Record::new(plan.clone()), &input, 2), None);
        plan.messages = true;
        let message = |created, source| ListedCompletion {
            created,
            source,
            destination: 9,
            completed: 100,
            unloaded: 40,
            flits: 8,
        };
        let (mut one, mut other) = (Record::new(plan.clone()), Record::new(plan));
        one.list(0, message(20, 1));
        other.list(0, message(0, 2));
        one.merge(&other);
        let mut csv = Vec::new();
        messages_table(&one, &input, 2).expect("they are written down").write_csv(&mut csv).unwrap();
        let expected = "flow,source,destination,flits,created,completed,completion,slowdown\n\
                        x,2,9,8,0.0,50.0,50.0,2.5\nx,1,9,8,10.0,50.0,40.0,2.0\n";
        assert_eq!(String::from_utf8(csv).unwrap(), expected);
    }
}
