//! A server of the protocol.
