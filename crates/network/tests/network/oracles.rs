//! Closed forms and hand-computed numbers.

mod closed_form;
mod exact;
