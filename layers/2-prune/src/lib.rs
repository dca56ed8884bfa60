//! Layer 2: stale tool results are cleared, when it pays.
