//! Figure files, good and bad; every measure on curves made by hand; verdicts and tables, and how they are told.

mod by_hand;
mod computed;
mod measures;
mod mistakes;
mod sheets;
mod telling;
