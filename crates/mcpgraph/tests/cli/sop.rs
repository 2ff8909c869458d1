//! Procedures as an agent walks them, on every transport and in both eras.

mod agent;
mod binding;
mod receipts;
mod walk;
pub(crate) mod watched;
