//! The ports that a session is given; they are the kernel's.

pub use everfold_kernel::ports::World;
