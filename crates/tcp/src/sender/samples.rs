//! Samples for a congestion control that asks for them.

use celltrain_engine::Time;

use super::Sender;
use crate::{congestion::CongestionControl, segment::Segment};

impl Sender {
    /// Takes what an ACK reports as delivered, before anything else reads it.
    #[cold]
    pub(super) fn read_delivery(&mut self, now: Time, segment: &Segment) {
        self.flow.check_app_limited();
        if let Some(delivery) = &mut self.flow.delivery {
            delivery.on_ack(now, segment);
        }
    }

    /// Reports the losses that an ACK has shown, then its mark, then what it has delivered.
    #[cold]
    pub(super) fn report_delivery(&mut self, now: Time, segment: &Segment) {
        self.report_losses(now);
        let marked = self.flow.echoed;
        if marked {
            // Before the sample, so that the model knows of the mark when it takes what this ACK delivers.
            self.on_echo(now);
        }
        let Some(delivery) = &mut self.flow.delivery else { return };
        let echo = segment.timestamps.map(|timestamps| timestamps.echo);
        if let Some(sample) = delivery.sample(now, self.flow.timer.clock, echo, marked) {
            self.congestion.on_sample(now, &mut self.flow, &sample);
        }
    }

    /// Reports what has been taken for lost.
    pub(super) fn report_losses(&mut self, now: Time) {
        let Some(delivery) = &mut self.flow.delivery else { return };
        for lost in delivery.take_losses() {
            self.congestion.on_lost(now, &mut self.flow, &lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::SECOND;

    use super::*;
    use crate::StackSpec;

    /// draft-ietf-ccwg-bbr section 5.4.1: HandleRestartFromIdle looks "before sending a packet" whether "C.inflight == 0 && C.app_limited", also
    /// before a packet that was lost is sent again.
    #[test]
    fn what_goes_again_into_an_empty_network_restarts_from_idle() {
        let spec: StackSpec = toml::from_str("stack = 'linux-bbr'\nsyn-exchange = false").unwrap();
        let mut sender = Sender::new(&spec.resolve().unwrap());
        sender.offer(0, 1448);
        assert!(sender.poll_segment(0).is_some());
        let restarts = |sender: &Sender| format!("{sender:?}").contains("idle_restart: true");
        // The first timer is that of a probe, which does not find the network empty.
        while !restarts(&sender) {
            let now = sender.next_timeout().expect("something is not acknowledged");
            assert!(now < 10 * SECOND, "it was sent again, and is no restart");
            sender.on_timeout(now);
            let empty = sender.flow.delivery.as_ref().is_some_and(|delivery| delivery.inflight() == 0);
            while sender.poll_segment(now).is_some() {}
            assert_eq!(restarts(&sender), empty);
        }
    }
}
