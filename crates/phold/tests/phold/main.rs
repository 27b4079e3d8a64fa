//! Tests of PHOLD, and by it of the kernel: random models, cut up and run in all ways there are.

mod determinism;
mod population;
mod ranks;
mod sample;
