//! Requests by output: where outputs choose first, and take the inputs that ask for them by turns, the first that could cross is found without a
//! look at those behind it. A switch of 64 ports under load has some 50 requests for each packet that crosses.

use super::examine::Examined;
use super::state::QueueId;
use super::{Microarchitecture, Routers, Surroundings};
use crate::time::Time;

/// The most ports of a router whose outputs take inputs by turns, and the most VOQs of an input.
const PORTS_MAX: usize = u64::BITS as usize;

impl<M: Microarchitecture> Routers<M> {
    /// Whether routers can be asked to collect requests by output. Where messages are traced they do not, as each is told of the allocations that it
    /// loses. A constant, so that those that cannot do not carry the code.
    pub(super) const MAY_COLLECT_BY_OUTPUT: bool = !M::BASIC && !M::TRACES;

    /// Offers to each output of a router, whose first port is `first`, the first packet by turns of inputs that could cross to it. Those before it are put
    /// to sleep; those behind it are not looked at, and stay awake.
    #[inline(never)]
    pub(super) fn collect_by_output(&mut self, first: u32, ports: u64, now: Time, around: &mut Surroundings<'_>) {
        // By input the outputs that are asked for, and by output the inputs that ask.
        let mut asked = [0; PORTS_MAX];
        let mut left = ports;
        while left != 0 {
            let port = left.trailing_zeros();
            left &= left - 1;
            let input = &self.inputs[(first + port) as usize];
            let voqs = if input.connection.busy_until > now { 0 } else { input.awake_voqs };
            asked[port as usize] = voqs;
            if voqs == 0 {
                self.deactivate(first + port);
            }
        }
        transpose(&mut asked[..self.shape.ports.next_power_of_two()]);
        let next_allocation = self.rules.allocation_time(now + 1);
        for output in 0..self.shape.ports as u8 {
            let inputs = asked[usize::from(output)];
            if inputs == 0 {
                continue;
            }
            let connection = &self.outputs[first as usize + usize::from(output)].connection;
            let (busy_until, after) = (connection.busy_until, u32::from(connection.last) + 1);
            if busy_until > next_allocation {
                self.sleep_until_free(first, inputs, output, around);
            } else if busy_until <= now {
                let later = inputs & u64::MAX.checked_shl(after).unwrap_or(0);
                self.offer_first(first, [later, inputs & !later], output, now, around);
            }
        }
    }

    /// Offers an output the first packet that could cross to it, of inputs that ask in this order.
    #[inline]
    fn offer_first(&mut self, first: u32, inputs: [u64; 2], output: u8, now: Time, around: &mut Surroundings<'_>) {
        for mut left in inputs {
            while left != 0 {
                let input = first + left.trailing_zeros();
                left &= left - 1;
                for id in self.in_turn(self.queue_id(input, output, 0)) {
                    if let Examined::Ready(request) = self.examine(id, now, around) {
                        return self.offer(request, around);
                    }
                }
            }
        }
    }

    /// Puts all heads to sleep that some inputs have for an output, until the crossbar is done with what crosses to it.
    fn sleep_until_free(&mut self, first: u32, inputs: u64, output: u8, around: &mut Surroundings<'_>) {
        let mut left = inputs;
        while left != 0 {
            let index = first + left.trailing_zeros();
            left &= left - 1;
            let id = QueueId { index, port: (index - first) as u8, voq: output, vc: 0 };
            let heads = self.heads_mut(id);
            heads.asleep |= std::mem::take(&mut heads.awake);
            let input = &mut self.inputs[index as usize];
            input.awake_voqs &= !(1 << output);
            if input.awake_voqs == 0 {
                self.deactivate(index);
            }
        }
        let index = first + u32::from(output);
        let port = &mut self.outputs[index as usize];
        port.waiters |= inputs;
        port.connection.announce_free(index, 0, around);
    }
}

/// Exchanges the rows and the columns of a square matrix of bits, whose size is a power of two: first those of its halves, then within them.
fn transpose(rows: &mut [u64]) {
    let mut size = rows.len() / 2;
    // The columns of the lower halves.
    let mut low = (1 << size) - 1;
    while size > 0 {
        for pair in rows.chunks_exact_mut(2 * size) {
            let (upper, lower) = pair.split_at_mut(size);
            for (above, below) in upper.iter_mut().zip(lower) {
                let exchanged = (*above >> size ^ *below) & low;
                *above ^= exchanged << size;
                *below ^= exchanged;
            }
        }
        size /= 2;
        low ^= low << size;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_transposed_has_rows_for_columns(rows in prop::collection::vec(any::<u64>(), PORTS_MAX), size in 0u32..=6) {
            let size = 1usize << size;
            let rows: Vec<u64> = rows[..size].iter().map(|row| row & (u64::MAX >> (PORTS_MAX - size))).collect();
            let mut columns = rows.clone();
            transpose(&mut columns);
            for (row, bits) in rows.iter().enumerate() {
                for (column, other) in columns.iter().enumerate() {
                    prop_assert_eq!(bits >> column & 1, other >> row & 1, "row {}, column {}", row, column);
                }
            }
        }
    }
}
