//! Packets that are alone in the peers' trees and butterflies.

use tailback_sim::path_types;

use super::curves::CURVES;
use super::measure::{document, resolve};
use crate::scenarios::report_of;

/// In BookSim a packet of 4 flits takes 5 + 4H cycles through H routers whose channels have a latency of 1: 2 until it is in its
/// first router, 3 in each router and 1 behind it, and 3 for the flits after the first.
#[test]
fn packets_that_are_alone_take_what_the_formula_says() {
    let variants =
        [("8-ary 2-tree", &[1, 3][..]), ("4-ary 3-tree", &[1, 3, 5]), ("4-ary 3-fly", &[3]), ("8-ary 2-fly", &[2])];
    for (variant, routers) in variants {
        let curve = CURVES.iter().find(|curve| curve.variant == variant).expect("there is such a curve");
        let document = document(curve).with("traffic.load=0.001").with("measure.cycles=100000");
        let paths = path_types(&resolve(&document));
        let found: Vec<usize> = paths.iter().map(|path| path.links.len() + 1).collect();
        assert_eq!(found, routers, "{variant}");
        for path in paths {
            let cycles = 5 + 4 * (path.links.len() as u64 + 1);
            assert_eq!(path.zero_load.total(), cycles, "{variant}: {path:?}");
            let (source, destination) = path.example;
            let alone = document
                .clone()
                .with(&format!("traffic.from=[{source}]"))
                .with(&format!("traffic.pattern={{ hot-spot = {{ to = [{destination}] }} }}"));
            let latency = report_of(&resolve(&alone), 0).total.latency;
            for measured in [&latency.message, &latency.network] {
                assert_eq!(
                    (measured.min, measured.p50),
                    (Some(cycles as f64), Some(cycles as f64)),
                    "{variant}: {path:?}"
                );
            }
        }
    }
}
