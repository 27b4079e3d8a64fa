//! Parameters that were called otherwise in the version before this one.
//!
//! A document may give a parameter under its old name for one version, and gets a note; with the next version the list is
//! emptied. Resolved texts have the new names only, so the name that was used does not show in digests.

use crate::diagnostic::Diagnostic;
use crate::reader::{Reading, TableReader};
use crate::tree::Entry;

/// A parameter that has another name now.
struct Renamed {
    /// The section that its model is chosen in.
    section: &'static str,
    old: &'static str,
    new: &'static str,
}

/// All of them.
const RENAMED: &[Renamed] = &[
    Renamed { section: "protocol", old: "toll", new: "control_overhead" },
    Renamed { section: "protocol", old: "notice", new: "minimum_grant_delay" },
    Renamed { section: "protocol", old: "start", new: "send_at" },
    Renamed { section: "protocol", old: "refusals", new: "nacks" },
];

/// The entry of a parameter, under its name or the one that it had before. An override goes before what it is laid over,
/// whichever names they use; both names in one text contradict each other.
pub(crate) fn take_parameter<'a>(
    table: &mut TableReader<'a>,
    name: &'static str,
    reading: &mut Reading,
) -> Option<&'a Entry> {
    let given = table.take(name);
    let section = table.path.split('.').next();
    let mut known = RENAMED.iter().filter(|renamed| section == Some(renamed.section) && renamed.new == name);
    let Some(renamed) = known.find(|renamed| table.table.get(renamed.old).is_some()) else { return given };
    let before = table.take(renamed.old)?;
    let path = table.path_of(renamed.old);
    match given {
        Some(given) if given.key_span.source == before.key_span.source => {
            let message = format!("`{path}` and `{name}` are the same parameter");
            let help = format!("keep `{name}`: it was called `{}` before", renamed.old);
            reading.blame(Diagnostic::at(before.key_span, message).help(help));
            return Some(given);
        }
        _ => {
            let note = Diagnostic::at(before.key_span, format!("`{path}` is called `{name}` now"));
            reading.notes.push(note.help(format!("write `{name}`: the old name goes with the next version")));
        }
    }
    given.filter(|given| given.key_span.source > before.key_span.source).or(Some(before))
}
