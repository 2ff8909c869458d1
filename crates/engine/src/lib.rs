//! A run as a pure state machine
