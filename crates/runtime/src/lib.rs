//! Drives the engine with the world: calls, time, cancellation
