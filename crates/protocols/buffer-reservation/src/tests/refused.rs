//! What does not fit together is refused, with the numbers.

use tailback_protocol::{Protocol, Station};

use super::{station, try_central, try_distributed, try_in_band};

#[test]
fn networks_that_are_no_clos_are_refused() {
    let central = try_central(&[]).unwrap();
    let mut odd = station(8);
    odd.nodes = 60;
    let refused = central.fits(&odd).unwrap_err();
    assert!(refused.message.contains("60 nodes and 8 routes"), "{refused}");
    assert!(refused.help.unwrap().contains("spines"));
    assert!(central.fits(&station(1)).is_err());
    assert!(central.fits(&station(16)).is_ok());
}

/// Two leaves of eight nodes and four spines have as many nodes as the square of four routes, and are no Clos network of four leaves.
#[test]
fn networks_with_other_leaves_and_spines_are_refused() {
    let refused = |station: Station| {
        let [central, distributed] = [
            try_central(&[]).unwrap().fits(&station).unwrap_err(),
            try_distributed(&[]).unwrap().fits(&station).unwrap_err(),
        ];
        assert_eq!(central, distributed);
        assert!(central.help.unwrap().contains("each leaf with as many nodes"));
        central.message
    };
    assert_eq!(
        refused(Station { routers: 6, nodes_per_router: 8, ..station(4) }),
        "a Clos network with 4 routes has 4 spines and 4 leaves of 4 nodes, and here are 6 routers, the first with 8 nodes"
    );
    assert!(refused(Station { routers: 7, ..station(4) }).contains("7 routers"), "there is a spine too few");
    assert!(refused(Station { nodes_per_router: 0, ..station(4) }).contains("0 nodes"), "links lead one way");
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let refused = try_central(&[]).unwrap().fits(&station(32)).unwrap_err();
    assert_eq!(
        refused.message,
        "32 routes with a buffer of 12 packets let 383 packets wait for their order, and 300 may"
    );
    let message = |given: &[(&str, &str)]| try_central(given).unwrap_err().message;
    assert_eq!(message(&[("grant_delay", "0")]), "messages cannot take no time");
    assert_eq!(message(&[("weights", "[1, 2, 3]")]), "there are weights, and arbiters do not go by them");
    let weighted = |weights| message(&[("arbiter", "weighted"), ("weights", weights)]);
    assert!(weighted("[1, 2, 3, 4]").contains("4 numbers"));
    assert!(weighted("[1, 2, 0]").contains("never be served"));
    assert!(weighted("[1, 2, 3, 1, 2, 4]").contains("two weights"));
    let central = try_central(&[("arbiter", "weighted"), ("weights", "[1, 99, 3]")]).unwrap();
    assert!(central.fits(&station(4)).unwrap_err().message.contains("nodes are 0..=15"));
}

#[test]
fn grants_that_could_never_be_made_are_refused() {
    let refused = try_in_band(&[("grant_min", "30"), ("grant", "40"), ("output_buffer", "20")]).unwrap_err();
    assert_eq!(refused.message, "grants are of 30 packets or more, and output_buffer is 20");
    assert_eq!(
        try_in_band(&[("grant_min", "21")]).unwrap_err().message,
        "grants are of 21 packets or more, and grant is 20"
    );
    let mut tree = station(3);
    tree.nodes = 5;
    assert!(try_in_band(&[]).unwrap().fits(&tree).is_ok(), "any network will do");
}

#[test]
fn numbers_are_told_for_the_network_at_hand() {
    let lines = try_central(&[]).unwrap().explain(&station(8));
    assert!(lines.iter().any(|line| line.contains("6.00 packet times")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("data takes 6.88 packet times")), "{lines:#?}");

    let lines = try_in_band(&[]).unwrap().explain(&station(8));
    assert!(lines[0].contains("at most 200 packets") && lines[0].contains("150 of them"), "{lines:#?}");
    assert!(lines[1].contains("0.889 of its link"), "8 flits of 9: {lines:#?}");
    let lines = try_in_band(&[("output_returns", "in-order")]).unwrap().explain(&station(8));
    assert!(lines[0].contains("at most 150 packets") && lines[0].contains("150 of them"), "{lines:#?}");
    let lines = try_in_band(&[("output_returns", "in-order"), ("reorder_buffer", "99")]).unwrap().explain(&station(8));
    assert!(lines[0].contains("at most 99 packets") && lines[0].contains("99 of them"), "{lines:#?}");
}

#[test]
fn costs_are_a_table_for_the_network_at_hand() {
    let after = |lines: Vec<String>| {
        let from = lines.iter().position(|line| line.starts_with("cost with")).expect("there is a table");
        lines[from..].join("\n")
    };
    let table = after(try_central(&[("requests", "128")]).unwrap().explain(&station(64)));
    let expected = "\
cost with N = 4096, M = 64, B = 12, u = 128, K = 16, in millions of transistors
                                                              bits   registers      memory
  central scheduler: counters                            335544320    6710.886    2013.266
  distributed: counters of a switch of the last stage      3407872      68.157      20.447
  distributed: queues of a switch of the others            2359296      47.186      14.156
  messages for each packet: 48 bits, 9.4 %, 4.7 %, 2.3 % of packets of 64, 128 and 256 bytes
  buffers for data in a switch: 49152 packets, 12 at each of 4096 crosspoints";
    assert_eq!(table, expected);
    let distributed = try_distributed(&[("queue", "4"), ("buffer", "2")]).unwrap();
    let table = after(distributed.explain(&station(8)));
    assert!(table.starts_with("cost with N = 64, M = 8, B = 2, u = 32, K = 4,"), "{table}");
    assert!(table.contains("128 packets, 2 at each of 64 crosspoints"), "{table}");
}
