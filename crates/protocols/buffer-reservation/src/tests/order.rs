//! Packets that come out of order.

use tailback_protocol::Routes;

use super::world::{Scheduler, World};
use super::{PACKET, central, distributed};

/// The first two packets of a flow take three packet times longer than the third, so it comes before them. All leave in order, one after the other, and so do their credits: one
/// in a packet time, each for the route that its packet took, 3 packet times after it has left.
fn leave_in_order<S: Scheduler>(mut world: World<S>) {
    world.detour = |route, _| if route == third(0) { 0 } else { 3 * PACKET };
    world.offer(0, 3, 3);
    world.drain();
    assert_eq!(world.most_early, 1, "the third waits for the others");
    let numbers: Vec<_> = world.departures.iter().map(|(_, packet)| packet.number).collect();
    assert_eq!((numbers, world.departure_times()), (vec![0, 1, 2], vec![15, 16, 17]));
    let credits: Vec<_> = world.credits.iter().map(|&(at, route)| (at / PACKET, route)).collect();
    assert_eq!(credits, [(18, third(2)), (19, third(3)), (20, third(0))]);
}

/// The route of the third packet from node 0 to node 3, or one of those after it.
fn third(after: u32) -> u32 {
    (Routes::drawn(4).first(0, 3) + 2 + after) % 4
}

#[test]
fn packets_that_overtake_others_leave_after_them_and_return_credits_of_their_routes() {
    leave_in_order(central::world(4, &[]));
    leave_in_order(distributed::world(4, &[]));
}
