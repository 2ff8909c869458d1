//! The official Rust SDK as the client, in both eras and over both transports.
