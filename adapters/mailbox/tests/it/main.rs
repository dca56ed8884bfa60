//! Letters between real processes.

mod crash;
mod full;
mod post;
