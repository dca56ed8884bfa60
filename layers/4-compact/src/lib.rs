//! Layer 4: summary, boundary, restoration.
