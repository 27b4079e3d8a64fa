//! CRP, put together from its machines.

use tailback_parameters::BuildError;
use tailback_protocol::{
    ClassRouting, Clock, Control, Direction, Hooks, KindDeclaration, Moment, PacketKind, Ports, Protocol,
    QueueingTimeout, Sink, Source, Station, Switch, SwitchNeeds, TrafficClass, Watch,
};
use tailback_reservation::charged;

use crate::destination::{Destination, SlotChoice};
use crate::source::{Asking, Sender};
use crate::switch::Router;
use crate::table::{Grid, Slots, Table};
use crate::{class, kind, words};

/// The Channel Reservation Protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crp {
    /// Cells of a table, and flits of a cell.
    pub cells: u32,
    /// See [`Crp::cells`].
    pub cell: u32,
    /// What is reserved beyond the flits themselves, as a share of them.
    pub overhead: f64,
    /// Ticks that a speculative packet may wait in input buffers, all in all.
    pub timeout: u64,
    /// When, and for how much, sources ask.
    pub asking: Asking,
    /// Which slot a node grants.
    pub slot: SlotChoice,
    /// The class of the links that have tables, beside the ways to nodes.
    pub links: Option<&'static str>,
    /// How control packets are routed. Answers take the paths of requests.
    pub routing: ClassRouting,
}

impl Crp {
    fn grid(&self, station: &Station) -> Grid {
        Grid { cells: self.cells, cell_flits: self.cell, flit_ticks: station.flit_ticks }
    }

    /// Whether its parameters fit each other.
    ///
    /// # Errors
    /// Says which does not, with the numbers.
    pub fn check(&self) -> Result<(), BuildError> {
        let Asking { smallest, largest, .. } = self.asking;
        if smallest > largest {
            let message = format!("the smallest segment has {smallest} flits, the largest {largest}");
            return Err(BuildError::at("smallest", message).help("lower smallest or raise largest"));
        }
        // A segment takes part of one cell and the rest from the next, if there is a next.
        let cells = self.cells.min(2);
        let (reserved, room) = (charged(largest, self.overhead), u64::from(cells) * u64::from(self.cell));
        if reserved > room {
            let cells = if cells == 1 { "one cell" } else { "two cells" };
            let message = format!(
                "a segment of {largest} flits reserves {reserved} with its overhead, and there is room for {room} in {cells} of {}",
                self.cell
            );
            return Err(BuildError::at("largest", message).help("lower largest, or raise cell"));
        }
        Ok(())
    }
}

impl Protocol for Crp {
    fn classes(&self) -> Vec<TrafficClass> {
        let speculative = TrafficClass {
            name: "speculative",
            queueing_timeout: Some(QueueingTimeout::at_inputs(self.timeout)),
            ..TrafficClass::data(0)
        };
        vec![
            TrafficClass::data(1),
            speculative,
            TrafficClass::control("responses", 3, self.routing),
            TrafficClass::control("requests", 2, self.routing),
        ]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        let response = |name, direction| KindDeclaration::control(name, direction, class::RESPONSES);
        let request = KindDeclaration::control(kind::REQUESTS, Direction::Request, class::REQUESTS);
        vec![
            KindDeclaration::DATA,
            KindDeclaration::lossy_data("speculative_data", class::SPECULATIVE),
            response(kind::ACKNOWLEDGEMENTS, Direction::Feedback),
            response(kind::NACKS, Direction::Nack),
            request.with_payload(Slots::WORDS).recording_path(),
            response(kind::GRANTS, Direction::Feedback).on_recorded_path(),
            response(kind::RETRIES, Direction::Feedback).on_recorded_path(),
        ]
    }

    fn hooks(&self) -> Hooks {
        Hooks { copies: true, unacknowledged: true, entropy: true, departures: true, ..Hooks::default() }
    }

    fn watches(&self) -> Vec<Watch> {
        let mut watches = vec![Watch::new(Moment::Expires, kind::SPECULATIVE, Ports::All)];
        if let Some(links) = self.links.map(Ports::Links) {
            watches.extend([
                Watch::new(Moment::Crosses, kind::REQUEST, links),
                Watch::new(Moment::Crosses, PacketKind::DATA, links),
                Watch::new(Moment::Arrives, kind::GRANT, links),
                Watch::new(Moment::Arrives, kind::RETRY, links),
            ]);
        }
        watches
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { sends: true, ..SwitchNeeds::default() }
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(Sender::new(self.asking, self.grid(station), station.packet_flits_max)))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        let grid = self.grid(station);
        Some(Box::new(Destination { grid, overhead: self.overhead, choice: self.slot, table: Table::new(grid) }))
    }

    fn switch(&self, station: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(Router::new(self.grid(station), self.overhead)))
    }

    fn fits(&self, station: &Station) -> Result<(), BuildError> {
        let (packet, largest) = (u32::from(station.packet_flits_max), self.asking.largest);
        if self.cell < packet {
            let message = format!("a cell has {} flits, and packets have up to {packet}", self.cell);
            return Err(BuildError::at("cell", message).help("raise cell, or make packets smaller"));
        }
        if largest < packet {
            let message = format!("the largest segment has {largest} flits, and packets have up to {packet}");
            return Err(BuildError::at("largest", message).help("raise largest, or make packets smaller"));
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let links = self.links.map_or_else(String::new, |links| format!(" and of {links} links"));
        format!("CRP: one request reserves time of nodes{links}, speculative packets meanwhile")
    }

    fn describe_control(&self, control: &Control, station: &Station, clock: Clock) -> String {
        words::describe(control, self.grid(station), clock)
    }

    fn explain(&self, station: &Station) -> Vec<String> {
        let &Self { cells, cell, overhead, .. } = self;
        let Asking { smallest, largest, eager, .. } = self.asking;
        // Segments are whole packets.
        let packet = u32::from(station.packet_flits_max);
        let segment = largest / packet * packet;
        let (last, ahead) = (cells - 1, u64::from(cells) * u64::from(cell));
        let links = self.links.map_or_else(String::new, |links| format!(" and for each of the {links} links"));
        let eagerly = match (self.links, eager) {
            (None, _) | (_, 0) => String::new(),
            (Some(links), 1) => format!("; {links} links reserve the earliest of these as it passes"),
            (Some(links), _) => format!("; {links} links reserve the earliest {eager} of these as it passes"),
        };
        let (whole, single) = (charged(segment, overhead), charged(packet, overhead));
        let room = cells.min(2) * cell;
        vec![
            format!(
                "a table of {cells} slots of {cell} flits for the way to each node{links}: {ahead} flit times ahead"
            ),
            format!(
                "slot 0 begins at flit time 0, slot {last} ends at {ahead}; when the first is over, one is added behind the last"
            ),
            format!("a request is one flit, with a bit for each of {cells} slots in which there is room{eagerly}"),
            format!(
                "a segment has up to {segment} flits, which reserve {whole} of the {room} in {} slots; one packet reserves {single}",
                cells.min(2)
            ),
            format!("messages of less than {smallest} flits reserve nothing: what they take is deducted as they pass"),
        ]
    }
}
