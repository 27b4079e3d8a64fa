//! Tests of the kernel with a model that does next to nothing.

mod windows;
