//! The state of a simulation as bytes: a heading, and the regions with the mail that they have yet to read, each after its
//! length.
//!
//! **The invariant it keeps:** what ranks write region by region is what one process writes, and whoever reads it takes the
//! regions that it holds.

use std::ops::Range;

use crate::inbox::Buffers;
use crate::simulation::Simulation;
use crate::snapshot::{Snapshot, SnapshotError, StateSource, read_value, take_value, write_value};
use crate::{NEVER, Outbox, Region, Tick};

/// First word of a snapshot; the last digit is the version of its format.
const MAGIC: u64 = 0x7461_696c_6261_6b03;

/// States of regions are shown in pieces of about so many bytes.
const PIECE_BYTES: usize = 1 << 24;

/// What stands before a region: the length of its state.
const LENGTH_BYTES: usize = size_of::<u64>();

impl<R: Region + Snapshot> Simulation<R> {
    /// Appends what stands before the regions: when the first mail arrives of all that has not been received, and in how many
    /// buffers it is.
    pub(crate) fn save_heading(
        &self,
        (mail_earliest, with_mail): (Tick, Buffers),
        bytes: &mut Vec<u8>,
    ) -> Result<(), SnapshotError> {
        write_value(&(MAGIC, self.channels.regions() as u64, self.now, mail_earliest, with_mail.count_ones()), bytes)
    }

    /// The buffers with mail that a region has yet to read which is held here.
    pub(crate) fn buffers_with_mail(&self) -> Buffers {
        let mut with_mail: Buffers = 0;
        for to in self.held() {
            self.inboxes.show(&self.channels, to, |buffer, _, _| with_mail |= 1 << buffer);
        }
        with_mail
    }

    /// Appends a region with its mail, after their length in bytes: who holds other regions passes over it.
    pub(crate) fn save_region(&self, to: usize, with_mail: Buffers, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
        let start = bytes.len() + LENGTH_BYTES;
        bytes.resize(start, 0);
        self.shards[to - self.first].region.save(bytes)?;
        // Buffers by rank among those with mail that somebody has yet to read: their numbers say how often there was a window, and
        // which of them count as unread says how threads shared them.
        let mut mail = Vec::new();
        self.inboxes.show(&self.channels, to, |buffer, from, number| {
            let rank = (with_mail & ((1 << buffer) - 1)).count_ones();
            mail.push((rank, from as u32, self.outboxes[buffer][from].numbered(number)));
        });
        write_value(&mail, bytes)?;
        let length = ((bytes.len() - start) as u64).to_le_bytes();
        bytes[start - LENGTH_BYTES..start].copy_from_slice(&length);
        Ok(())
    }

    /// Shows `take` what [`Snapshot::save`] writes in pieces of some regions each.
    ///
    /// # Errors
    /// When a region cannot be written.
    pub fn show_state(&self, take: &mut dyn FnMut(&[u8])) -> Result<(), SnapshotError> {
        let with_mail = self.buffers_with_mail();
        let mut heading = Vec::new();
        self.save_heading((self.mail_earliest, with_mail), &mut heading)?;
        take(&heading);
        let mut regions = self.held();
        while let Some(piece) = self.save_piece(&mut regions, with_mail)? {
            take(&piece);
        }
        Ok(())
    }

    /// The next of some regions, as many as have about so many bytes; none if none is left.
    pub(crate) fn save_piece(
        &self,
        regions: &mut Range<usize>,
        with_mail: Buffers,
    ) -> Result<Option<Vec<u8>>, SnapshotError> {
        let mut bytes = Vec::new();
        while bytes.len() < PIECE_BYTES
            && let Some(region) = regions.next()
        {
            self.save_region(region, with_mail, &mut bytes)?;
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }

    fn load_region(&mut self, to: usize, bytes: &mut &[u8]) -> Result<(), SnapshotError> {
        let shard = &mut self.shards[to - self.first];
        shard.region.load(bytes)?;
        shard.events_dealt = shard.region.events();
        let mail: Vec<(u32, u32, R::Mail)> = read_value(bytes)?;
        mail.into_iter().try_for_each(|(rank, from, mail)| self.send_again(rank as usize, from, to as u32, mail))
    }
}

/// What stands before the regions takes no more bytes: five numbers.
const HEADING_BYTES_MAX: usize = 64;

impl<R: Region + Snapshot> Snapshot for Simulation<R> {
    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
        self.show_state(&mut |piece| bytes.extend_from_slice(piece))
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError> {
        self.load_from(bytes)
    }
}

impl<R: Region + Snapshot> Simulation<R> {
    /// The same as [`Snapshot::load`]. Of the state of all regions the part of a rank reads what is about its own, and passes over the others.
    ///
    /// # Errors
    /// When there is no such state; `self` is then not to be used.
    pub fn load_from(&mut self, source: &mut dyn StateSource) -> Result<(), SnapshotError> {
        let (magic, regions, now, mail_earliest, with_mail): (u64, u64, Tick, Tick, u32) =
            take_value(source, HEADING_BYTES_MAX)?;
        let expect = |what, found, expected| {
            if found == expected { Ok(()) } else { Err(SnapshotError::Mismatch { what, found, expected }) }
        };
        expect("as its format", magic, MAGIC)?;
        expect("regions", regions, self.channels.regions() as u64)?;
        self.inboxes.clear();
        self.outboxes.iter_mut().flatten().for_each(|outbox| *outbox = Outbox::new());
        if with_mail as usize > self.outboxes.len() {
            return Err(SnapshotError::Damaged(format!("there are no {with_mail} buffers of mail")));
        }
        // Those of all ranks, whether there is mail for this one or not: all go on with the same buffer.
        self.unread = (1 << with_mail) - 1;
        let cut = || SnapshotError::Damaged("it ends before its last region".to_owned());
        for to in 0..self.channels.regions() {
            let length = source.peek(LENGTH_BYTES)?.first_chunk().copied().ok_or_else(cut)?;
            let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| cut())?;
            source.skip(LENGTH_BYTES)?;
            if self.held().contains(&to) {
                let mut region = source.peek(length)?;
                if region.len() < length {
                    return Err(cut());
                }
                self.load_region(to, &mut region)?;
                expect("bytes too many", region.len() as u64, 0)?;
            }
            source.skip(length).map_err(|_| cut())?;
        }
        for (buffer, outboxes) in self.outboxes.iter().enumerate() {
            for (from, outbox) in outboxes.iter().enumerate() {
                self.inboxes.deliver(&self.channels, from, buffer, outbox);
            }
        }
        self.buffer = with_mail.saturating_sub(1) as usize;
        (self.now, self.mail_earliest, self.changed, self.observe_at) = (now, mail_earliest, true, now);
        Ok(())
    }
}

impl<R: Region> Simulation<R> {
    /// Puts mail that had been sent before the snapshot into the outbox that it comes from.
    fn send_again(&mut self, buffer: usize, from: u32, to: u32, mail: R::Mail) -> Result<(), SnapshotError> {
        let outbox = self.outboxes.get_mut(buffer).and_then(|outboxes| outboxes.get_mut(from as usize));
        let receiver = (from as usize) < self.channels.regions();
        let receiver = receiver.then(|| self.channels.position(from, to)).flatten();
        let (Some(outbox), Some(receiver)) = (outbox, receiver) else {
            return Err(SnapshotError::Damaged(format!("region {from} cannot have sent region {to} anything")));
        };
        if outbox.receivers().is_empty() {
            outbox.open(self.channels.receivers(from as usize).len(), 0);
        }
        *outbox.mail(receiver, NEVER) = mail;
        Ok(())
    }
}
