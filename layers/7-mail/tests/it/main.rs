//! The inbox under every interleaving, and the order of letters.

mod interleaving;
mod order;
