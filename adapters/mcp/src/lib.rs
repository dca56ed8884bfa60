//! Servers that speak the Model Context Protocol.
