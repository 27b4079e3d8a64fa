//! What every call goes through, on whatever port: it is counted, what is sent with it is, and what is answered.

use std::sync::Arc;

use crate::answers::AnswerLayer;
use crate::bodies::BodyLayer;
use crate::calls::CallLayer;
use crate::limits::Limits;
use crate::meters::Meters;

/// The layers, from the outermost on. Clones of them count together.
#[derive(Clone)]
pub(crate) struct Layers {
    pub calls: CallLayer,
    pub bodies: BodyLayer,
    pub answers: AnswerLayer,
}

impl Layers {
    pub(crate) fn new(meters: Arc<Meters>, limits: &Limits) -> Self {
        Self { calls: CallLayer::new(meters), bodies: BodyLayer::new(limits), answers: AnswerLayer::new(limits) }
    }
}
