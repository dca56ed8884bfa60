//! The memory directory: store, history, snapshot.
