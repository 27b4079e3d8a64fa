//! Halo exchanges: the ranks form a grid, and each exchanges its faces with its neighbours, iteration by iteration.

use tailback_parameters::{BuildError, Kind, Parameter, Values};

use super::rounds::{fits, message_flits};
use super::{Built, CollectiveModel, NODES, Setting, cycles, vector};
use crate::{Receive, Send, Step, Steps};

pub(super) const HALO_2D: CollectiveModel = CollectiveModel {
    name: "halo-2d",
    summary: "a stencil code on a grid of 2 dimensions: each rank computes, then exchanges a face with each of 4 neighbours",
    example: "collective.halo-2d = { bytes = 256, iterations = 10 }",
    parameters: PARAMETERS,
    build: |values, setting| build(2, values, setting),
};

pub(super) const HALO_3D: CollectiveModel = CollectiveModel {
    name: "halo-3d",
    summary: "a stencil code on a grid of 3 dimensions: each rank computes, then exchanges a face with each of 6 neighbours",
    example: "collective.halo-3d = { bytes = 256, iterations = 10 }",
    parameters: PARAMETERS,
    build: |values, setting| build(3, values, setting),
};

const PARAMETERS: &[Parameter] = &[
    NODES,
    vector("a face, which a rank sends to one neighbour in one iteration"),
    Parameter {
        name: "grid",
        kind: Kind::Integers { min: 1, max: u32::MAX as u64 },
        default: Some("[]"),
        help: "the ranks along each dimension; as near to a square or cube as their number allows, if none are given",
    },
    Parameter {
        name: "periodic",
        kind: Kind::Flag,
        default: Some("true"),
        help: "whether the ranks at one end of a dimension are neighbours of those at the other",
    },
    Parameter {
        name: "iterations",
        kind: Kind::Integer { min: 1, max: 1 << 24 },
        default: Some("1"),
        help: "how many iterations there are",
    },
    Parameter {
        name: "compute",
        kind: Kind::Time,
        default: Some("0"),
        help: "how long a rank computes in an iteration before it sends",
    },
];

/// A halo exchange. Each iteration is a step.
#[derive(Clone, Debug)]
pub(crate) struct Halo {
    /// Ranks along each dimension; those that follow each other differ in the first.
    pub grid: Vec<u32>,
    pub periodic: bool,
    pub iterations: u32,
    pub face_flits: u32,
    pub compute_cycles: u64,
}

/// One of the two ways along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Direction {
    dimension: usize,
    up: bool,
}

fn build(dimensions: usize, values: &Values, setting: &Setting) -> Built {
    let face = values.amount("bytes");
    fits(face, "bytes")?;
    Ok(Box::new(Halo {
        grid: grid(dimensions, &values.integers("grid"), setting.ranks)?,
        periodic: values.flag("periodic"),
        iterations: values.integer("iterations"),
        face_flits: message_flits(face),
        compute_cycles: cycles(values, "compute", setting),
    }))
}

/// The grid that is given, or the one of the least circumference.
fn grid(dimensions: usize, given: &[u32], ranks: u32) -> Result<Vec<u32>, BuildError> {
    if given.is_empty() {
        return Ok(if dimensions == 2 { near_square(ranks).to_vec() } else { near_cube(ranks).to_vec() });
    }
    if given.len() != dimensions {
        let message = format!("the grid has {} numbers, one of {dimensions} dimensions has {dimensions}", given.len());
        return Err(BuildError::at("grid", message).help("give the ranks along each dimension, or leave the grid out"));
    }
    let places: u128 = given.iter().map(|&size| u128::from(size)).product();
    if places != u128::from(ranks) {
        let message = format!("the grid has {places} places, and there are {ranks} ranks");
        return Err(BuildError::at("grid", message).help("make them the same number, or leave the grid out"));
    }
    Ok(given.to_vec())
}

fn near_square(ranks: u32) -> [u32; 2] {
    let side = (1..=ranks.isqrt()).rev().find(|&side| ranks.is_multiple_of(side)).expect("1 divides all");
    [ranks / side, side]
}

fn near_cube(ranks: u32) -> [u32; 3] {
    let sides = (1..).take_while(|&side: &u32| u64::from(side).pow(3) <= u64::from(ranks));
    let with_side = |side: u32| {
        let [long, middle] = near_square(ranks / side);
        [long, middle, side]
    };
    let grids = sides.filter(|&side| ranks.is_multiple_of(side)).map(with_side);
    grids.min_by_key(|grid| grid.iter().map(|&side| u64::from(side)).sum::<u64>()).expect("1 divides all")
}

impl Direction {
    fn reversed(self) -> Self {
        Self { up: !self.up, ..self }
    }

    fn number(self) -> u32 {
        2 * self.dimension as u32 + u32::from(self.up)
    }
}

impl Halo {
    pub(crate) fn directions(&self) -> impl Iterator<Item = Direction> + use<> {
        (0..self.grid.len()).flat_map(|dimension| [false, true].map(|up| Direction { dimension, up }))
    }

    /// The neighbour of a rank in a direction, if it is another rank.
    pub(crate) fn neighbour(&self, rank: u32, direction: Direction) -> Option<u32> {
        let size = self.grid[direction.dimension];
        let stride: u32 = self.grid[..direction.dimension].iter().product();
        let place = rank / stride % size;
        let (end, step) = if direction.up { (size - 1, 1) } else { (0, size - 1) };
        let there = if place != end || (self.periodic && size > 1) {
            (u64::from(place) + u64::from(step)) % u64::from(size)
        } else {
            return None;
        };
        Some(rank - place * stride + there as u32 * stride)
    }

    /// Both neighbours along a dimension of 2 are the same rank, so the direction is part of the tag.
    fn tag(&self, step: u32, direction: Direction) -> u32 {
        step * 2 * self.grid.len() as u32 + direction.number()
    }
}

impl Steps for Halo {
    fn ranks(&self) -> u32 {
        self.grid.iter().product()
    }

    fn steps(&self, _rank: u32) -> u32 {
        self.iterations
    }

    fn step(&self, rank: u32, step: u32, out: &mut Step) {
        out.compute_cycles = self.compute_cycles;
        for direction in self.directions() {
            if let Some(neighbour) = self.neighbour(rank, direction) {
                let tag = self.tag(step, direction);
                out.sends.push(Send { to: neighbour, tag, flits: self.face_flits });
                out.receives.push(Receive { from: neighbour, tag: self.tag(step, direction.reversed()) });
            }
        }
    }

    fn tags(&self) -> u32 {
        self.iterations * 2 * self.grid.len() as u32
    }

    fn phases(&self) -> Vec<String> {
        vec!["halo".to_owned()]
    }

    fn phase(&self, _rank: u32, _step: u32) -> u32 {
        0
    }

    fn messages(&self) -> u64 {
        let ranks = u64::from(self.ranks());
        let along = |&size: &u32| match size {
            1 => 0,
            _ if self.periodic => 2 * ranks,
            size => 2 * (ranks - ranks / u64::from(size)),
        };
        self.grid.iter().map(along).sum::<u64>() * u64::from(self.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_near_to_squares_and_cubes() {
        assert_eq!([1, 2, 12, 13, 64, 72].map(near_square), [[1, 1], [2, 1], [4, 3], [13, 1], [8, 8], [9, 8]]);
        assert_eq!([1, 12, 13, 64, 72].map(near_cube), [[1, 1, 1], [3, 2, 2], [13, 1, 1], [4, 4, 4], [6, 4, 3]]);
        assert_eq!(grid(2, &[2, 6], 12).unwrap(), [2, 6]);
        let error = grid(2, &[2, 5], 12).unwrap_err();
        assert_eq!(error.to_string(), "the grid has 10 places, and there are 12 ranks");
        let error = grid(3, &[2, 6], 12).unwrap_err();
        assert_eq!(error.to_string(), "the grid has 2 numbers, one of 3 dimensions has 3");
    }

    #[test]
    fn neighbours_differ_by_1_in_one_place() {
        let halo = |periodic| Halo { grid: vec![4, 3, 2], periodic, iterations: 1, face_flits: 1, compute_cycles: 0 };
        let all = |rank, periodic| {
            let halo = halo(periodic);
            halo.directions().map(|direction| halo.neighbour(rank, direction)).collect::<Vec<_>>()
        };
        assert_eq!(all(0, false), [None, Some(1), None, Some(4), None, Some(12)]);
        assert_eq!(all(0, true), [3, 1, 8, 4, 12, 12].map(Some), "both ways along a dimension of 2 lead to one rank");
        assert_eq!(all(23, false), [Some(22), None, Some(19), None, Some(11), None]);
    }
}
