//! What the system says by signals: Ctrl-C, and that a file becomes too large.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGXFSZ;

use crate::output::tell_line;

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

/// From now on a file that would become larger than this process may write is an error of whoever writes it, as a full disk is.
/// The system would end the process otherwise, without a word.
pub fn outlive_large_files() {
    // It fails only where there are no signals. That there was one says nothing more than the error does.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}
