//! Scenario files, good and bad.

mod bad;
mod good;
