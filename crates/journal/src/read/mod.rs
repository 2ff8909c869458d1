//! What is read from the file.

mod changes;
mod context;
mod events;
mod list;
mod requests;
pub(crate) mod row;
mod stats;
mod steps;
mod taken_over;
mod whole;

pub(crate) use events::RunReader;
pub(crate) use whole::WholeEvents;

#[cfg(test)]
mod tests;
