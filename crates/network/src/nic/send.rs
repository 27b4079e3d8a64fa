//! Sending: messages are offered, cut into packets, and put on the link to the router.

use tailback_protocol::PacketKind;
use tailback_routing::Header;

use super::lanes::Waiting;
use crate::event::{Event, EventKind, credited};
use crate::observer::Offer;
use crate::packet::{NONE, Packet};
use crate::region::NetworkRegion;
use crate::router::{Microarchitecture, Place};
use tailback_hardware::TICKS_MAX;

use crate::time::Time;
use crate::{Observer, fabric::Fabric};
use tailback_hardware::InjectionVc;

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Takes the messages that are due at a node.
    pub(crate) fn offer_messages(&mut self, node: u32, now: Time) {
        let (first, last) = self.nodes.nodes[node as usize].processes;
        let cycle = u64::from(now / self.fabric.spec.ticks_per_cycle);
        for process in first..last {
            let process = &mut self.nodes.processes[process as usize];
            if process.next_cycle() != Some(cycle) {
                continue;
            }
            let traffic = process.traffic;
            let request =
                process.fire(&self.fabric.workload.traffics[usize::from(traffic)], self.node_ids[node as usize]);
            self.offer_message(node, traffic, request.destination, request.flits, now);
        }
        self.schedule_messages(node);
        self.make_ready(node);
    }

    fn offer_message(&mut self, node: u32, traffic: u16, destination: u32, flits: u32, now: Time) {
        let record = &mut self.nodes.nodes[node as usize];
        let lost = self.fabric.spec.nic.queue_limit.is_some_and(|limit| record.waiting >= limit);
        self.observer.message_offered(&Offer {
            tick: now.into(),
            node: self.node_ids[node as usize],
            traffic,
            flits,
            lost,
        });
        if lost {
            return;
        }
        record.waiting += 1;
        self.nodes.flits_offered += u64::from(flits);
        let serial = record.next_message;
        record.next_message = serial.wrapping_add(1);
        let lane = source_lane(&self.fabric, self.nodes.sources.lanes_per_node(), destination);
        self.nodes.sources.push(node, lane, Waiting::new(now, destination, flits, serial, traffic));
    }

    /// Schedules the next message of a node.
    pub(crate) fn schedule_messages(&mut self, node: u32) {
        let (first, last) = self.nodes.nodes[node as usize].processes;
        let processes = &self.nodes.processes[first as usize..last as usize];
        if let Some(cycle) = processes.iter().filter_map(tailback_workload::Process::next_cycle).min() {
            let tick = cycle.saturating_mul(self.fabric.spec.ticks_per_cycle.into());
            if tick <= TICKS_MAX {
                self.wheel.schedule(tick, Event::at_node(EventKind::Message, node, 0));
            }
        }
    }

    /// The link to the router is free.
    pub(crate) fn node_link_free(&mut self, node: u32) {
        self.nodes.nodes[node as usize].link_scheduled = false;
        self.make_ready(node);
    }

    /// The router has room again.
    pub(crate) fn receive_node_credit(&mut self, node: u32, payload: u32) {
        let (vc, flits) = credited(payload);
        self.nodes.free[node as usize * self.fabric.shape.vcs + usize::from(vc)] += flits;
        self.make_ready(node);
    }

    pub(super) fn make_ready(&mut self, node: u32) {
        let record = &mut self.nodes.nodes[node as usize];
        if !record.ready {
            record.ready = true;
            self.nodes.ready.push(node);
        }
    }

    /// Lets each node send that may be able to.
    pub(crate) fn inject_all(&mut self, now: Time) {
        let mut ready = std::mem::take(&mut self.nodes.ready);
        for node in ready.drain(..) {
            self.nodes.nodes[node as usize].ready = false;
            self.inject(node, now);
        }
        self.nodes.ready = ready;
    }

    fn inject(&mut self, node: u32, now: Time) {
        if self.fabric.rules.link_time(now) != now || self.nodes.nodes[node as usize].link_free_at > now {
            self.wait_for_link(node, now);
            return;
        }
        if self.inject_control(node, now) || self.inject_data(node, now) {
            self.wait_for_link(node, now);
        }
    }

    /// Schedules the next attempt for when the link is free, if anything waits. What cannot be sent for lack of credits
    /// is tried again when they come.
    fn wait_for_link(&mut self, node: u32, now: Time) {
        let record = &mut self.nodes.nodes[node as usize];
        if !record.link_scheduled && (record.waiting > 0 || record.control_head != NONE) {
            record.link_scheduled = true;
            let tick = self.fabric.rules.link_time(record.link_free_at.max(now + 1));
            self.wheel.schedule(tick.into(), Event::at_node(EventKind::NodeLink, node, 0));
        }
    }

    /// Sends a control packet, if one waits and there is room for it.
    fn inject_control(&mut self, node: u32, now: Time) -> bool {
        let packet = self.nodes.nodes[node as usize].control_head;
        if packet == NONE {
            return false;
        }
        let (class, flits) = (self.pool[packet].class, self.pool[packet].flits);
        let Some(vc) = self.next_channel_with_room(node, class, flits) else { return false };
        self.nodes.nodes[node as usize].control_head = self.pool[packet].next;
        self.launch(node, packet, vc, now);
        true
    }

    /// Sends a packet of a waiting message, if there is room for one.
    fn inject_data(&mut self, node: u32, now: Time) -> bool {
        let lanes = self.nodes.sources.lanes_per_node();
        let last = usize::from(self.nodes.nodes[node as usize].last_lane);
        for step in 1..=lanes {
            let lane = if last + step < lanes { last + step } else { last + step - lanes };
            let Some(flits) = self.next_packet_flits(node, lane) else { continue };
            let Some(vc) = self.channel_for(node, lane, flits) else { continue };
            self.nodes.nodes[node as usize].last_lane = lane as u8;
            let packet = self.cut_packet(node, lane, flits, now);
            self.launch(node, packet, vc, now);
            return true;
        }
        false
    }

    fn next_packet_flits(&mut self, node: u32, lane: usize) -> Option<u16> {
        let most = u32::from(self.fabric.spec.packet_flits_max);
        self.nodes.sources.front(node, lane).map(|message| message.flits_left.min(most) as u16)
    }

    /// The virtual channel for the next packet of a lane, if it has room.
    fn channel_for(&mut self, node: u32, lane: usize, flits: u16) -> Option<u8> {
        let class = &self.fabric.spec.classes[0];
        let (first, count) = (class.first_vc[0], class.vcs[0]);
        let vc = match self.fabric.spec.nic.vc_choice {
            InjectionVc::RoundRobin => return self.next_channel_with_room(node, 0, flits),
            InjectionVc::ByDestination => first + lane as u8,
            InjectionVc::Random => {
                let message = self.nodes.sources.front(node, lane)?;
                let stream = &mut self.nodes.streams[node as usize];
                *message.drawn_vc.get_or_insert_with(|| first + stream.below(count.into()) as u8)
            }
        };
        self.has_room(node, vc, flits).then_some(vc)
    }

    /// The first virtual channel of a class with room, after the one that was served last.
    fn next_channel_with_room(&mut self, node: u32, class: u8, flits: u16) -> Option<u8> {
        let class = &self.fabric.spec.classes[usize::from(class)];
        let (first, end) = (class.first_vc[0], class.first_vc[0] + class.vcs[0]);
        let last = self.nodes.nodes[node as usize].last_vc;
        let after = (last + 1).clamp(first, end);
        let vc = (after..end).chain(first..after).find(|&vc| self.has_room(node, vc, flits))?;
        self.nodes.nodes[node as usize].last_vc = vc;
        Some(vc)
    }

    #[inline]
    fn has_room(&self, node: u32, vc: u8, flits: u16) -> bool {
        self.nodes.free[node as usize * self.fabric.shape.vcs + usize::from(vc)] >= flits
    }

    /// Makes the next packet of a lane.
    fn cut_packet(&mut self, node: u32, lane: usize, flits: u16, now: Time) -> u32 {
        let message = self.nodes.sources.front(node, lane).expect("a message waits");
        let packet = Packet {
            created: message.created,
            injected: now,
            head_at: now,
            tail_lag: 0,
            next: NONE,
            source: self.node_ids[node as usize],
            destination: message.destination,
            message: message.serial,
            header: Header::new(self.fabric.topology.locator(message.destination)),
            flits,
            index: message.index,
            traffic: message.traffic,
            class: 0,
            vc: 0,
            vcs: 1,
            hops: 0,
            last: message.flits_left == u32::from(flits),
            kind: PacketKind::Data,
        };
        if packet.last {
            self.nodes.nodes[node as usize].waiting -= 1;
        }
        self.nodes.sources.advance(node, lane, flits);
        self.pool.insert(packet)
    }

    /// Puts a packet on the link to the router.
    fn launch(&mut self, node: u32, packet: u32, vc: u8, now: Time) {
        let spec = &self.fabric.spec;
        let record = &mut self.pool[packet];
        let flits = record.flits;
        let flit_ticks = if spec.nic.side_by_side { spec.ticks_per_cycle } else { spec.injection.flit_ticks.into() };
        let tail_lag = u32::from(flits - 1) * flit_ticks;
        (record.vc, record.injected) = (vc, now);
        (record.head_at, record.tail_lag) = (now + spec.injection.latency, tail_lag);
        let arrival = record.head_at;
        let busy = Time::from(flits) * Time::from(spec.injection.flit_ticks);
        self.nodes.nodes[node as usize].link_free_at = now + busy.max(spec.ticks_per_cycle);
        self.nodes.free[node as usize * self.fabric.shape.vcs + usize::from(vc)] -= flits;
        let Place { router, port } = self.attachments[node as usize];
        self.wheel.schedule(arrival.into(), Event::at_port(EventKind::Arrival, router, port, packet));
    }
}

/// The lane of messages to `destination`: with a lane per channel, equal consecutive shares of all nodes.
fn source_lane(fabric: &Fabric, lanes: usize, destination: u32) -> usize {
    if lanes == 1 {
        return 0;
    }
    (u64::from(destination) * lanes as u64 / u64::from(fabric.topology.nodes())) as usize
}
