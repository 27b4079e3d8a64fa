//! Ctrl-C.

use crate::output::tell_line;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C asks to stop, as does what batch systems send; the second one stops at once.
pub fn listen() {
    listen_with(true);
}

/// The same in one of several processes, of which each may hear of the same Ctrl-C more than once.
pub fn listen_as_one_of_several() {
    listen_with(false);
}

fn listen_with(stops_at_once: bool) {
    // It fails only when it was called before, or where there are no signals.
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            if stops_at_once {
                std::process::exit(130);
            }
        } else if stops_at_once {
            tell_line!("stopping; press Ctrl-C again to stop at once");
        } else {
            tell_line!("stopping");
        }
    });
}

/// Whether somebody has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
