//! What networks take for granted of the declarations of a protocol.

use crate::{Direction, KindDeclaration, PathUse, Protocol};

/// What networks take for granted of kinds and classes.
pub(super) fn check_declarations(protocol: &dyn Protocol) -> Result<(), String> {
    let (kinds, classes) = (protocol.kinds(), protocol.classes());
    if kinds.first().map(|kind| kind.with_payload(0)) != Some(KindDeclaration::DATA) {
        return Err("the first kind is not lossless data of the first class".to_owned());
    }
    let hooks = protocol.hooks();
    if hooks.unacknowledged && !hooks.copies {
        return Err("lossless data is not acknowledged, and no copies are kept that could be forgotten".to_owned());
    }
    for kind in &kinds {
        let class = classes.get(usize::from(kind.class)).ok_or_else(|| format!("{kind:?} has no class"))?;
        let lossy = kind.direction == Direction::LossyData;
        let path_fits = match kind.path {
            PathUse::None => true,
            PathUse::Records => kind.direction == Direction::Request,
            PathUse::Follows => kind.direction == Direction::Feedback,
        };
        if !path_fits {
            return Err(format!("{kind:?}: the paths of requests are recorded, and feedback takes them"));
        }
        if class.queueing_timeout.is_some() && !lossy {
            return Err(format!("{kind:?} is in a class whose packets expire"));
        }
        if !kind.direction.carries_data() && (kind.flits == 0 || kind.class == 0) {
            return Err(format!("{kind:?} has no size, or no class of its own"));
        }
        let shares = |other: &&KindDeclaration| other.class == kind.class && other.direction.carries_data();
        if lossy && kinds.iter().filter(shares).any(|other| other.direction == Direction::Data) {
            return Err(format!("{kind:?} shares a class with lossless data"));
        }
    }
    Ok(())
}
