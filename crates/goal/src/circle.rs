//! Finds operations that wait for themselves.

use std::ops::Range;

/// An operation that waits, by way of others, for itself. `open` counts what each operation waits for, `waiting` gives the
/// part of `edges` with those that wait for it.
pub fn find(mut open: Vec<u32>, waiting: impl Fn(u32) -> Range<usize>, edges: &[u32]) -> Option<u32> {
    let operations = u32::try_from(open.len()).expect("operations have 32-bit numbers");
    let mut free: Vec<u32> = (0..operations).filter(|&operation| open[operation as usize] == 0).collect();
    let mut freed = free.len();
    while let Some(operation) = free.pop() {
        for &next in &edges[waiting(operation)] {
            let left = &mut open[next as usize];
            *left -= 1;
            if *left == 0 {
                free.push(next);
                freed += 1;
            }
        }
    }
    (freed < open.len()).then(|| on_circle(&open, waiting, edges))
}

/// One that is on a circle itself, and not only behind one. Each operation that is left waits for another that is left,
/// so a walk from one to what it waits for ends in a circle.
fn on_circle(open: &[u32], waiting: impl Fn(u32) -> Range<usize>, edges: &[u32]) -> u32 {
    let left = |operation: u32| open[operation as usize] > 0;
    let mut before = vec![u32::MAX; open.len()];
    for operation in (0..).take(open.len()).filter(|&operation| left(operation)) {
        for &next in &edges[waiting(operation)] {
            before[next as usize] = operation;
        }
    }
    let mut at = (0..).take(open.len()).find(|&operation| left(operation)).expect("some operation is left");
    for _ in 0..open.len() {
        at = before[at as usize];
    }
    at
}
