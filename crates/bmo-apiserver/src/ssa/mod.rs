//! Field ownership: server-side apply and the managedFields of every write.
//!
//! [`set`] is a set of field paths in the form of `FieldsV1`; [`typed`] walks values along a schema to find, compare,
//! merge and remove fields; [`managed`] keeps an object's `metadata.managedFields` and decides conflicts.

pub mod managed;
pub mod set;
pub mod typed;

#[cfg(test)]
mod tests;
