//! Routers.

use serde::{Deserialize, Serialize};
use tailback_random::Stream;

use crate::{Clock, Control, PacketKind, PacketRef};

/// When a switch is asked about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// It has come to an input, and is in no queue yet.
    Arrives,
    /// It is the head of its queue and asks for the crossbar: as often as it does.
    Requests,
    /// It has been granted the crossbar. It can be changed, and not be stopped any more.
    Crosses,
    /// It has waited in input buffers for longer than its class may.
    Expires,
}

/// About which packets a switch is asked, by the ports that they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ports {
    /// Those in the router that their destination is attached to.
    LastHop,
    /// Those that use a link of a class, by its name in the topology: of a packet that arrives the link that it has come by, of one
    /// that crosses the link that it leaves by. Requests and expiry are not watched so, as a head may not have been routed.
    Links(&'static str),
    /// All.
    All,
}

/// A declaration that a switch is to be asked: about packets of a kind, at a moment, at some ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watch {
    /// When.
    pub moment: Moment,
    /// About which kind.
    pub kind: PacketKind,
    /// At which ports.
    pub ports: Ports,
}

impl Watch {
    /// A watch.
    #[must_use]
    pub const fn new(moment: Moment, kind: PacketKind, ports: Ports) -> Self {
        Self { moment, kind, ports }
    }
}

/// Until when a packet in its last router counts as waiting for its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitsUntil {
    /// Until it starts to cross: what output queues hold is not counted.
    Crossing,
    /// Until the link to the node starts to send it.
    Departure,
}

/// What a switch looks at, and does: what is not declared is not counted, and costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchNeeds {
    /// It sends control packets, at once or later.
    pub sends: bool,
    /// It trims packets: [`Fate::Trim`].
    pub trims: bool,
    /// It looks at how full input buffers are: [`View::input`].
    pub input_buffers: bool,
    /// It looks at how full output queues are: [`View::output`].
    pub output_queues: bool,
    /// It looks at what waits for the nodes of its router: [`View::waiting_for_node`].
    pub waiting_for_nodes: Option<WaitsUntil>,
    /// It looks at how much links have sent: [`View::sent`].
    pub flits_sent: bool,
    /// It draws random numbers: [`Here::random`].
    pub random: bool,
}

/// A packet in a router.
#[derive(Debug)]
pub struct Passing<'a> {
    /// Its kind.
    pub kind: PacketKind,
    /// The node that sent it.
    pub source: u32,
    /// The node that it is for.
    pub destination: u32,
    /// What its source calls it.
    pub packet: PacketRef,
    /// Its size.
    pub flits: u16,
    /// What it is marked with.
    pub marks: &'a mut u8,
    /// What it says, if it is a control packet.
    pub control: Option<Control>,
    /// The words that its kind declares as payload.
    pub payload: &'a mut [u64],
}

impl Passing<'_> {
    /// What tells its source that it is dropped.
    #[must_use]
    pub fn nack(&self, kind: PacketKind) -> Control {
        Control::new(kind, self.destination, self.source, self.packet).flits(self.flits.into())
    }
}

/// How full a buffer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Flits in it.
    pub flits: u32,
    /// Flits that it holds at most.
    pub capacity: u32,
}

/// A port of a router, and a virtual channel of it, counted through all traffic classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortVc {
    /// The port.
    pub port: u8,
    /// The virtual channel.
    pub vc: u8,
}

/// What a switch can see of its router.
pub trait View {
    /// An input buffer: of a packet that arrives or is about to leave, itself included.
    fn input(&self, at: PortVc) -> Fill;

    /// The queue of a port between crossbar and link.
    fn output(&self, at: PortVc) -> Fill;

    /// The buffer at the other end of a port's link: flits in it beyond what the link alone would hold if it were never idle.
    /// Empty and without room if the port leads to a node.
    fn downstream(&self, at: PortVc) -> Fill;

    /// Data flits that wait in this router for the node of a port, without those of the packet that is asked about: until when
    /// they wait says [`SwitchNeeds::waiting_for_nodes`].
    fn waiting_for_node(&self, port: u8) -> u32;

    /// Flits that the link of a port has sent since the run began; a packet counts as a whole when its link starts.
    fn sent(&self, port: u8) -> u64;
}

/// Where and when a switch is asked.
pub struct Here<'a> {
    /// The tick.
    pub now: u64,
    /// Where the packet has come in.
    pub input: PortVc,
    /// Where it leaves: the port of its node at the last hop, at other ports only when it crosses.
    pub output: Option<PortVc>,
    /// The router's buffers.
    pub view: &'a dyn View,
    /// What else the switch wants done.
    pub actions: &'a mut Vec<SwitchAction>,
    /// The router's stream of random numbers for its protocol, where [`SwitchNeeds::random`] asks for one.
    pub stream: Option<&'a mut Stream>,
}

impl Here<'_> {
    /// The router's stream of random numbers for its protocol.
    ///
    /// # Panics
    /// If [`SwitchNeeds::random`] does not ask for one.
    pub fn random(&mut self) -> &mut Stream {
        self.stream.as_deref_mut().expect("a switch that draws random numbers declares it")
    }

    /// The port of the node that a packet at its last hop is for.
    ///
    /// # Panics
    /// Elsewhere.
    #[must_use]
    pub fn node_port(&self) -> u8 {
        self.output.expect("at the last hop the port of the node is known").port
    }
}

/// What a switch wants done beside the fate of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchAction {
    /// A control packet is to be sent. Only where [`SwitchNeeds::sends`] says so.
    Send(Control),
    /// All data packets are marked that wait in input buffers of the router for one of the outputs that those in one buffer wait
    /// for. A packet that has just arrived waits like the others, and one that crosses still does. Packets that are not routed
    /// yet, and could leave by several ports, wait for none.
    MarkQueued {
        /// The buffer whose packets name the outputs; they are marked too.
        like: PortVc,
        /// The marks, beside those that the packets have.
        marks: u8,
    },
    /// [`Switch::on_timer`] is to be called at a tick, which lies ahead.
    Timer {
        /// When.
        at: u64,
        /// What the switch knows it by.
        token: u32,
    },
}

/// What happens to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Forward,
    /// It is dropped, and a NACK tells its source. Only lossy data.
    Drop(Control),
    /// Its data is dropped. What is left goes on to the destination as a packet of this kind, whose direction is
    /// [`Direction::Trimmed`](crate::Direction::Trimmed): of the kind's size and class, about the flits that it had, with the
    /// packet's name, marks and hops, and those words of its payload that the kind has. Only lossy data, and only where
    /// [`SwitchNeeds::trims`] says so.
    Trim(PacketKind),
    /// It ends here, and perhaps something is answered at once. Only control packets.
    Absorb(Option<Control>),
}

/// The protocol's part of a router. It is asked only what its [`Watch`]es name.
pub trait Switch: Send {
    /// Asks about a packet at a moment.
    fn ask(&mut self, moment: Moment, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        match moment {
            Moment::Arrives => self.arrives(packet, here),
            Moment::Requests => self.requests(packet, here),
            Moment::Expires => self.expires(packet, here),
            Moment::Crosses => {
                self.crosses(packet, here);
                Fate::Forward
            }
        }
    }

    /// A packet has come to an input.
    fn arrives(&mut self, _packet: &mut Passing<'_>, _here: &mut Here<'_>) -> Fate {
        Fate::Forward
    }

    /// The head of a queue asks for the crossbar.
    fn requests(&mut self, _packet: &mut Passing<'_>, _here: &mut Here<'_>) -> Fate {
        Fate::Forward
    }

    /// A packet leaves its buffer. It can be marked.
    fn crosses(&mut self, _packet: &mut Passing<'_>, _here: &mut Here<'_>) {}

    /// The head of a queue has waited for longer than its class may.
    fn expires(&mut self, _packet: &mut Passing<'_>, _here: &mut Here<'_>) -> Fate {
        Fate::Forward
    }

    /// What it will decide about a packet, and why: for people who trace a message. Asked just before [`Switch::ask`], and only where
    /// somebody traces the packet's message. Of a request for the crossbar it is told only if the packet ends there.
    fn foretell(&self, _moment: Moment, _packet: &Passing<'_>, _here: &Here<'_>, _clock: Clock) -> Option<String> {
        None
    }

    /// A timer is due.
    fn on_timer(&mut self, _token: u32, _now: u64, _actions: &mut Vec<SwitchAction>) {}

    /// Appends what it remembers to `bytes`, if it remembers anything.
    fn save(&self, _bytes: &mut Vec<u8>) {}

    /// Takes from the front of `bytes` what [`Switch::save`] has written. `None` if it is not there.
    fn load(&mut self, _bytes: &mut &[u8]) -> Option<()> {
        Some(())
    }
}
