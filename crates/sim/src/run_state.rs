//! The state of a run as bytes, of one process or of several.

use tailback_engine::{StateSource, take_value, write_value};
use tailback_scenario::PartitionChoice;

use crate::failure::Failure;
use crate::run::{Run, build_network};
use crate::sampler::Sampler;
use crate::state_format;

impl Run<'_> {
    /// Writes the state down, of one process alone.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = self.heading()?;
        self.network.show_state(&mut |piece| bytes.extend_from_slice(piece))?;
        self.write_rest(&mut bytes)?;
        Ok(bytes)
    }

    /// What stands behind the state of the network.
    fn write_rest(&self, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        write_value(&self.suspicious_from, bytes)?;
        if Sampler::is_wanted(self.scenario) {
            write_value(&self.sampler.samples, bytes)?;
        }
        Ok(())
    }

    /// What stands before the state of the network.
    fn heading(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        state_format::write(&mut bytes)?;
        write_value(&self.regions, &mut bytes)?;
        Ok(bytes)
    }

    /// The same of one process or of several: the first one has it then.
    ///
    /// # Errors
    /// When it cannot be written, or a rank is gone.
    pub fn save_together(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let mut bytes = Vec::new();
        self.show_state(&mut |piece| bytes.extend_from_slice(piece))?;
        Ok(self.is_first().then_some(bytes))
    }

    /// Shows `take` the same piece by piece, so that nobody holds all of it.
    ///
    /// # Errors
    /// When it cannot be written, or a rank is gone.
    pub fn show_state(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        let (heading, mut rest) = (self.heading()?, Vec::new());
        self.write_rest(&mut rest)?;
        if self.is_first() {
            take(&heading);
        }
        match &mut self.together {
            Some(together) => self.network.save_together(&mut together.ranks, take)?,
            None => self.network.show_state(take)?,
        }
        if self.is_first() {
            take(&rest);
        }
        Ok(())
    }

    /// Whether this is the process that tells what was found.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.together.as_ref().is_none_or(|together| together.ranks.is_first())
    }

    /// Reads back a state that a run of the same scenario has written. If regions are chosen by what pays off, they stay
    /// those that it was written with, whatever the number of threads is now.
    ///
    /// # Errors
    /// When the bytes hold no such state; the run is then not to be used.
    pub fn load(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        self.load_from(&mut bytes)
    }

    /// The same from wherever the state is. A rank reads its own regions; all ranks have to call it.
    ///
    /// # Errors
    /// When there is no such state, which the first of the ranks tells that finds it; the run is then not to be used.
    pub fn load_from(&mut self, source: &mut dyn StateSource) -> Result<(), Failure> {
        let own = self.load_own(source);
        if let Some(together) = &mut self.together {
            let told = together.ranks.tell([own.is_err().into(), 0, 0, 0])?;
            match told.iter().position(|figures| figures[0] != 0) {
                Some(rank) if rank != together.ranks.rank() => return Err(Failure::Elsewhere),
                _ => {}
            }
        }
        own?;
        self.agree()
    }

    fn load_own(&mut self, source: &mut dyn StateSource) -> Result<(), Failure> {
        state_format::check(source)?;
        let regions = take_value(source, REGIONS_BYTES_MAX)?;
        if regions != self.regions && self.scenario.execution.partition == PartitionChoice::Auto {
            self.regions = regions;
            self.network = build_network(self.scenario, regions, self.traced, self.together.as_mut());
            self.whole = None;
        }
        self.network.load(source)?;
        self.suspicious_from = take_value(source, usize::MAX)?;
        if Sampler::is_wanted(self.scenario) {
            self.sampler.samples = take_value(source, usize::MAX)?;
        }
        Ok(())
    }
}

/// What says which regions there are takes no more bytes.
const REGIONS_BYTES_MAX: usize = 16;
