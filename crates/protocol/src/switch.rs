//! Routers.

use crate::{Control, PacketKind, PacketRef};

/// A data packet in a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// What it is.
    pub kind: PacketKind,
    /// Who sent it.
    pub source: u32,
    /// Who it is for.
    pub destination: u32,
    /// What its source calls it.
    pub packet: PacketRef,
    /// Its size.
    pub flits: u16,
    /// What it is marked with.
    pub marks: u8,
}

impl Passing {
    /// What tells its source that it is dropped.
    #[must_use]
    pub fn refusal(&self, class: u8) -> Control {
        let flits = self.flits.into();
        Control::new(PacketKind::Refusal, class, self.destination, self.source, self.packet).flits(flits)
    }
}

/// The buffers on both sides of a packet that leaves one: flits in them, and how many they hold at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// In the input buffer of its virtual channel, itself included.
    pub here: u32,
    /// The room of that buffer.
    pub here_max: u32,
    /// In the buffer that it goes to, itself not included, beyond what the link alone would hold if it were never idle; 0
    /// if it leaves for its node.
    pub next: u32,
    /// The room of that buffer.
    pub next_max: u32,
}

/// The machine of a router. It is asked only what [`crate::Hooks`] and the patience of classes name.
pub trait Switch: Send {
    /// The head of a queue has waited for longer than its class has patience: it is dropped, and its source told this.
    fn give_up(&mut self, packet: &Passing, now: u64) -> Control;

    /// A packet of a lossy class is in the router that its destination hangs on, as the `endpoint`th of its nodes, for
    /// which `queued` flits of data wait here without it: at its arrival, and as often as it is head and may leave. It is
    /// dropped if this gives what its source is to be told.
    fn drops(&mut self, _packet: &Passing, _endpoint: u32, _queued: u32, _now: u64) -> Option<Control> {
        None
    }

    /// A reservation has come to the router that its destination hangs on. It goes no further if this gives an answer.
    fn takes(&mut self, _control: &Control, _endpoint: u32, _now: u64) -> Option<Control> {
        None
    }

    /// The marks that a data packet gets as it leaves its buffer.
    fn marks(&mut self, _buffers: &Buffers) -> u8 {
        0
    }

    /// Appends what it remembers to `bytes`, if it remembers anything.
    fn save(&self, _bytes: &mut Vec<u8>) {}

    /// Takes from the front of `bytes` what [`Switch::save`] has written. `None` if it is not there.
    fn load(&mut self, _bytes: &mut &[u8]) -> Option<()> {
        Some(())
    }
}
