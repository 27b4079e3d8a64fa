//! Ctrl-C.

use crate::output::tell_line;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C asks to stop, and the second one stops at once.
pub fn listen() {
    // It fails only when it was called before, or where there are no signals.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell_line!("stopping; press Ctrl-C again to stop at once");
    });
}

/// Whether somebody has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
