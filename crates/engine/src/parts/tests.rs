//! How parts agree, step by step.

use super::gate::{Gate, Idle, Outcome};
use crate::time::Time;

fn idle(next_event: Time) -> Idle {
    Idle { next_event, sent: 0, received: 0, done: false }
}

/// Where the next event is far off, clocks come to it step by step, one part after the other: each moves behind its report, when the
/// other has moved behind its own.
#[test]
fn a_clock_that_moves_behind_a_report_is_progress() {
    let gate = Gate::new(2);
    for _ in 0..20 {
        assert_eq!(gate.enter(0, idle(1000)), Outcome::Wait);
        gate.note_advance();
        assert_eq!(gate.enter(1, idle(1000)), Outcome::Jump);
    }
}

#[test]
fn jumps_that_lead_nowhere_end() {
    let gate = Gate::new(2);
    let both = |at| {
        assert_eq!(gate.enter(0, idle(at)), Outcome::Wait);
        gate.enter(1, idle(at))
    };
    let outcomes = [10, 10, 10, 20, 20, 20, 20].map(both);
    assert_eq!(outcomes[..6], [Outcome::Jump; 6]);
    assert_eq!(outcomes[6], Outcome::Stuck(20));
}
