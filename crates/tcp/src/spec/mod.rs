//! The `[tcp]` table of a scenario, and how it becomes [`Params`].

mod check;
#[cfg(test)]
mod documented;
mod resolve;
mod uses;

use std::fmt;

use celltrain_engine::quantity::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    congestion::CongestionKind,
    params::{
        CongestionAvoidance, CubicAlpha, CubicArithmetic, FastRetransmitGuard, Halving, HystartVariant,
        NewrenoFullAck, Reductions, RtoArithmetic,
    },
    recovery::RecoveryKind,
    stack::Stack,
};

pub(crate) use self::uses::Uses;

/// The TCP stack of a scenario: a preset and what differs from it.
///
/// Every key may be left out; the preset then decides. "Standard" is the value of the preset `newreno`; the
/// others are documented at `stack`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StackSpec {
    /// The preset that decides whatever is not said here. Default: `newreno`.
    pub stack: Stack,
    /// Maximum segment size: payload of a full segment, in bytes, without headers and options (RFC 9293
    /// section 3.7.1). Standard: 1460 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Bytes>,
    /// Receive buffer, all of which is advertised if the application reads at once (without `read-rate`). Above 64 KiB it
    /// needs `window-scaling`; 64 KiB itself is advertised as the 65535 B that the field holds (RFC 9293 section
    /// 3.1). Standard: 64 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// Rate at which the receiving application reads, so that the window may close; the sender then probes it (RFC 9293 section
    /// 3.8.6). Standard: it reads at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<BitRate>,
    /// Whether the window field is scaled, by the smallest shift that lets it hold the window (RFC 7323
    /// section 2). Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Initial congestion window in segments, 1 to 10. If it is not given, presets of the standards take fewer where the `mss` is large: 2 above
    /// 2190 B (RFC 5681 section 3.1), `cubic` as many as 14600 B hold, but 2 at least (RFC 6928). Standard: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub initial_window: Option<u32>,
    /// First slow-start threshold. Standard: unlimited (RFC 5681 section 3.1); `ns-2`: its window;
    /// `yats`: half the receive window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Bytes>,
    /// How the congestion window grows. Standard: `reno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<CongestionKind>,
    /// What a loss does. Standard: `newreno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryKind>,
    /// Full segments that one ACK may open the window by in slow start, at least 1 (RFC 5681 section 3.1; L in RFC 3465
    /// section 2.2). By more than one it opens no further than to the slow-start threshold. Standard: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub slow_start_limit: Option<u32>,
    /// Whether the first slow start ends before a loss when round trips grow (HyStart; `hystart-variant` says how). Needs `timestamps`, as it
    /// takes several samples from each round trip. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hystart: Option<bool>,
    /// What ends the first slow start with `hystart`. Standard: `rfc-9406`; `linux`, `linux-bbr` and `prague`: `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hystart_variant: Option<HystartVariant>,
    /// How `congestion-control = "reno"` grows above the slow-start threshold (RFC 5681 section 3.1).
    /// Standard: `byte-counting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_avoidance: Option<CongestionAvoidance>,
    /// What `congestion-control = "reno"` halves at a loss (RFC 5681 section 3.1); `"dctcp"` and `"prague"` do the same. Standard: `flight`; `linux`,
    /// `linux-bbr` and `prague`: `segments`; `ns-2`, `opnet-1998`, `yats`, `netsim` and `osu`: `window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halving: Option<Halving>,
    /// `congestion-control = "cubic"`: a flow that lost before it regained its old window aims lower (RFC
    /// 9438 section 4.7, which advises against it where there is one flow only). Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cubic_fast_convergence: Option<bool>,
    /// `congestion-control = "cubic"`: how fast its estimate of Reno's window grows beyond the window of the last reduction
    /// (RFC 9438 section 4.3). Standard: `one`; `linux`, `linux-bbr` and `prague`: `constant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cubic_alpha: Option<CubicAlpha>,
    /// `congestion-control = "cubic"`: the precision of its windows. Standard: `exact`; `linux`, `linux-bbr` and `prague`:
    /// `segments`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cubic_arithmetic: Option<CubicArithmetic>,
    /// How the window is reduced for a mark, and by a timeout. `linux` needs `recovery = "rack"`, which counts what arrives. Standard:
    /// `standard`; `linux`: `linux`, except with other recoveries and with `congestion-control = "prague"` or `"bbr"`, which keep `standard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reductions: Option<Reductions>,
    /// When three duplicate ACKs do not count, as they may echo an earlier loss (RFC 6582 section 3.2). Not
    /// for `recovery = "sack"`, `"rack"` and `"timeout-only"`. Default: `careful` with `recovery = "newreno"` and
    /// `"tahoe"`, `none` else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_retransmit_guard: Option<FastRetransmitGuard>,
    /// `recovery = "newreno"`: only the first partial ACK restarts the retransmission timer, so that many
    /// holes end in a timeout; otherwise each does ("impatient" and "slow-but-steady" in RFC 3782
    /// section 4).
    /// Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newreno_impatient: Option<bool>,
    /// `recovery = "newreno"`: the window when the recovery is over. Standard: `flight`; `ns-2`: `deflated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newreno_full_ack: Option<NewrenoFullAck>,
    /// `recovery = "newreno"`: how many segments may follow one ACK in recovery, beside the retransmission that a partial ACK
    /// asks for, at least 1. Standard: as many as the window lets; `ns-2`: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub newreno_burst: Option<u32>,
    /// `recovery = "reno"` and `"newreno"`: the ACK that ends a recovery also grows the window, as every ACK does outside of
    /// recovery. Standard: false; `ns-2`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_exit_growth: Option<bool>,
    /// `recovery = "go-back-n"`: the window grows by a segment for each duplicate ACK in recovery, as Reno's.
    /// Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub go_back_n_inflation: Option<bool>,
    /// `recovery = "sack"`: the window falls to its half in proportion to what arrives, so that sending goes on, instead of
    /// at once (RFC 6937, slow-start reduction bound); `recovery = "rack"` always does so. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proportional_rate_reduction: Option<bool>,
    /// A new segment on each of the first two duplicate ACKs (RFC 3042). Not for `recovery = "rack"`, where what is reported
    /// makes room. Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Limited transmit also where the sender has gone back: it then sends again what was sent before. Needs
    /// `limited-transmit`. Standard: false; `ns-2`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit_resends: Option<bool>,
    /// Back to the initial window when nothing was sent for longer than the timeout (RFC 5681 section 4.1).
    /// Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// After an idle time, halve the window once for each timeout that passed, but not below the initial window. Without it, the window
    /// returns to the initial one at once. The threshold rises to three quarters of the old window (RFC 2861 section 3, as Linux has it).
    /// Needs `idle-restart`. Standard: false; `linux` and `prague`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_decay: Option<bool>,
    /// Nagle's algorithm: no small segment while data is unacknowledged (RFC 9293 section 3.7.4). Greedy
    /// sources are not affected. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Minshall's variant of Nagle's algorithm: no small segment while another small one is unacknowledged; full ones do not hold it back
    /// (Internet-Draft draft-minshall-nagle). Needs `nagle`. Standard: false; `linux`, `linux-bbr` and `prague`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle_minshall: Option<bool>,
    /// Whether the end that sends data closes the connection behind the last byte of a finite transfer: a FIN takes a sequence number, is
    /// acknowledged at once, and is sent again like data (RFC 9293 sections 3.6 and 3.10.7.4). Standard: false: a connection ends when
    /// all data is acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fin: Option<bool>,
    /// Whether segments leave one by one, and not as fast as ACKs allow: at twice the window per smoothed round trip while it is below half
    /// of ssthresh, and 1.2 times it later. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// Timestamps in every segment, 12 bytes; every new ACK then gives a round-trip sample (RFC 7323 section
    /// 3). Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Selective acknowledgements from the receiver (RFC 2018). Default: exactly with `recovery = "sack"`, `"rack"` and
    /// `"sack-pipe"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Whether the receiver reports what it receives again in the first block (D-SACK, RFC 2883). Needs `sack`. Default:
    /// exactly with `recovery = "rack"`, which learns from it that a retransmission was not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Whether new data go first after a timeout, so that the ACKs for them tell if it was spurious (F-RTO, RFC 5682 section 3.1). Needs
    /// `recovery = "rack"`. Standard: false; `linux`, `linux-bbr` and `prague`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f_rto: Option<bool>,
    /// Explicit congestion notification (RFC 3168), agreed in SYN and SYN|ACK if these are exchanged. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Whether ACKs count marked packets in three bits of the header, instead of echoing that there was one (AccECN, RFC 9768
    /// without its option). Needs `ecn`, and `recovery = "rack"` or `"sack"`. Standard: false; `prague`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accurate_ecn: Option<bool>,
    /// Whether SYN, SYN|ACK, pure ACKs, window probes, FINs without data and retransmissions are ECN-capable too, so that switches mark them
    /// where they would discard them (RFC 8257 sections 3.6 and 4.1). RFC 3168 forbids it. Needs `ecn`, without `accurate-ecn`, under which
    /// data are ECN-capable whenever they are sent, and the others never. Standard: true under `congestion-control = "dctcp"` with `ecn` and without
    /// `accurate-ecn`, as Linux has it; otherwise false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_control_packets: Option<bool>,
    /// Segments below which congestion marks do not reduce the window, 1 or 2. At 1 a sender whose window is one segment holds back at the next
    /// mark until its retransmission timer expires (RFC 3168 section 6.1.2). Where timeouts are long and round trips short, such a sender
    /// starves beside others. Needs `ecn`. Standard: 1, or 2 with `reductions = "linux"`; `linux`, `linux-bbr` and `prague`: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2))]
    pub ecn_window_min: Option<u32>,
    /// Whether SYN and SYN|ACK open the connection (RFC 9293 section 3.5); otherwise it is open from the
    /// start. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_exchange: Option<bool>,
    /// Full segments after which an ACK goes at once (RFC 5681 section 4.2); where `quick-acks` or `delayed-ack-max` is in force, any part of
    /// the last of them is enough, as Linux does. Standard: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ack_every: Option<u32>,
    /// Longest time that an ACK waits for the next segment (RFC 5681 section 4.2); `"0 s"` acknowledges every
    /// segment at once. Standard: 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// What that time may grow to: it follows the gaps between segments, doubles when it has passed in vain, and stays below the round trip, as
    /// Linux does. Standard: `delayed-ack`, so that the time stands; `linux`, `linux-bbr` and `prague`: 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack_max: Option<Duration>,
    /// Most segments that are acknowledged at once at the start of a connection, after a gap longer than the timeout, and after a segment that
    /// brought nothing new, but no more than half the window; two at a congestion mark. With it, a segment that is not full is
    /// acknowledged at once, unless the application answers what it reads: Linux. Standard: 0; `linux`, `linux-bbr` and `prague`: 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_acks: Option<u32>,
    /// Whether every segment is acknowledged at once that lets the receive window of Linux grow: that begins at 64 KiB and grows by two segments
    /// for each that arrives in order, up to `receive-window`. (The window advertised here is `receive-window` from the start.) Needs
    /// `quick-acks`. Standard: false; `linux`, `linux-bbr` and `prague`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_acks_growing: Option<bool>,
    /// Smallest retransmission timeout (RFC 6298 rule 2.4), 1 us or more. Standard: 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Duration>,
    /// Smallest value of the variance term, so that the timeout is at least this above the smoothed round-trip time: the
    /// 200 ms of Linux. Not for `rto-arithmetic = "ticks"` and `"elapsed-ticks"`. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_variance_min: Option<Duration>,
    /// Largest retransmission timeout (RFC 6298 rule 2.5). Standard: 60 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_max: Option<Duration>,
    /// Retransmission timeout before the first sample (RFC 6298 rule 2.1). Standard: 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_initial: Option<Duration>,
    /// How round-trip measurements become a timeout: `"ticks"` and `"elapsed-ticks"` need a `tick`. Standard: `exact`; `yats`: `ticks`; `ns-2`:
    /// `elapsed-ticks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_arithmetic: Option<RtoArithmetic>,
    /// Tick of the clock that the retransmission timer and round-trip measurements use; `"0 s"` is exact (G
    /// in RFC 6298). Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// How long before the start of the run that clock ticked last; less than `tick`. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_phase: Option<Duration>,
    /// Whether the retransmission timer expires at a tick of that clock, up to a tick early as BSD's does, or after
    /// exactly the timeout. Standard: true; `yats` and `ns-2`: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_on_ticks: Option<bool>,
    /// Mean time that a host spends on each segment sent or received. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_delay: Option<Duration>,
    /// Largest deviation from `processing-delay`, uniformly distributed. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_spread: Option<Duration>,
    /// Whether acknowledgements, too, take that time at the receiver that sends them and at the sender. Standard: true;
    /// `yats`: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks_processed: Option<bool>,
    /// Segments of a sender that may be in the processor or wait for it at a time; the sender makes the next one when one
    /// is done. Needs `processing-delay`. Standard: unlimited; `yats`: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub send_queue: Option<u32>,
}

/// Why a `[tcp]` table cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackError {
    /// The key to change, as scenario files write it.
    pub key: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for StackError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for StackError {}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::MILLISECOND;

    use super::*;
    use crate::params::Params;

    fn resolve(table: &str) -> Result<Params, StackError> {
        toml::from_str::<StackSpec>(table).unwrap_or_else(|error| panic!("{table}: {error}")).resolve()
    }

    #[test]
    fn every_preset_is_possible_and_survives_being_written() {
        for &stack in Stack::ALL {
            let spec = StackSpec { stack, ..StackSpec::default() };
            let params = spec.resolve().unwrap_or_else(|error| panic!("{stack:?}: {error}"));
            let text = toml::to_string(&spec).expect("a stack can be written");
            assert_eq!(toml::from_str::<StackSpec>(&text).expect("and read").resolve(), Ok(params));
        }
    }

    #[test]
    fn keys_change_the_preset() {
        let params = resolve("stack = 'opnet-1998'\nmss = '1500 B'\nrto-min = '20 ms'").unwrap();
        assert_eq!((params.mss, params.rto_min), (1500, 20 * MILLISECOND));
        assert_eq!(params.recovery, RecoveryKind::GoBackN);
        assert_eq!(params.delayed_ack, 12_500_000_000);
        let yats = resolve("stack = 'yats'\nreceive-window = '32 KiB'").unwrap();
        assert_eq!(yats.initial_ssthresh, 16 << 10, "half the window that is used");
    }

    /// RFC 5681 section 3.1: "If SMSS > 2190 bytes: IW = 2 * SMSS bytes and MUST NOT be more than 2 segments". RFC 6928 section 2: "min (10*MSS,
    /// max (2*MSS, 14600))".
    #[test]
    fn the_initial_window_follows_the_segment_size() {
        let window = |table: &str| resolve(table).unwrap().initial_window;
        for (stack, mss, segments) in [
            ("newreno", 536, 3),
            ("newreno", 2190, 3),
            ("newreno", 2191, 2),
            ("rfc", 9140, 2),
            ("cubic", 536, 10),
            ("cubic", 1460, 10),
            ("cubic", 2000, 7),
            ("cubic", 9140, 2),
            // Linux counts packets.
            ("linux", 9140, 10),
        ] {
            assert_eq!(window(&format!("stack = '{stack}'\nmss = '{mss} B'")), segments, "{stack} {mss}");
        }
        assert_eq!(window("mss = '9140 B'\ninitial-window = 4"), 4, "what is given stands");
    }

    #[test]
    fn dependent_values_follow_the_recovery() {
        let params = resolve("recovery = 'sack'").unwrap();
        assert!(params.sack && params.limited_transmit);
        let params = resolve("stack = 'sack'\nrecovery = 'timeout-only'").unwrap();
        assert!(!params.sack && !params.limited_transmit);
        let guard = |table| resolve(table).unwrap().fast_retransmit_guard;
        assert_eq!(guard("recovery = 'reno'"), FastRetransmitGuard::None);
        assert_eq!(guard("stack = 'reno'\nrecovery = 'newreno'"), FastRetransmitGuard::Careful);
        assert_eq!(resolve("delayed-ack = '0 s'").unwrap().ack_every, 1);
        let linux = |rest| resolve(&format!("stack = 'linux'\n{rest}")).unwrap();
        assert_eq!(linux("").delayed_ack_max, 200 * MILLISECOND);
        assert_eq!(
            linux("delayed-ack = '10 ms'").delayed_ack_max,
            10 * MILLISECOND,
            "a time that is given stands"
        );
        assert_eq!(linux("delayed-ack = '0 s'").quick_acks, 0);
        assert!(!linux("nagle = false").nagle_minshall);
        let bbr = resolve("stack = 'linux'\ncongestion-control = 'bbr'").unwrap();
        assert!(bbr.pacing && !bbr.hystart && !bbr.idle_restart);
        assert_eq!(bbr, resolve("stack = 'linux-bbr'").unwrap());
    }

    /// Losses and classic marks halve under Prague as under Reno, by the rule that `halving` chooses.
    #[test]
    fn halving_is_for_all_that_halve() {
        for control in ["reno", "dctcp", "prague"] {
            let table = format!(
                "stack = 'linux'\necn = true\naccurate-ecn = true\ncongestion-control = '{control}'\nhalving = 'window'"
            );
            assert_eq!(resolve(&table).map(|params| params.halving), Ok(Halving::Window), "{control}");
            let complete = toml::from_str::<StackSpec>(&table).unwrap().complete().unwrap();
            assert_eq!(complete.halving, Some(Halving::Window), "{control}: a complete table says it");
        }
    }

    #[test]
    fn refusals_name_every_choice() {
        let message = |table| resolve(table).expect_err(table).message;
        assert!(message("recovery = 'newreno'\nsack = true").contains("sack-pipe"));
        assert!(message("recovery = 'newreno'\ndsack = true").contains("sack-pipe"));
        assert!(message("rto-arithmetic = 'elapsed-ticks'").contains("\"elapsed-ticks\" counts"));
        assert!(message("rto-arithmetic = 'ticks'").contains("\"ticks\" counts"));
    }

    #[test]
    fn windows_fit_the_field() {
        assert_eq!(resolve("receive-window = '64 KiB'").unwrap().receive_window, 65_535);
        let params = resolve("receive-window = '64 KiB'\nwindow-scaling = true").unwrap();
        assert_eq!((params.receive_window, params.window_scale), (65_536, Some(1)));
        assert_eq!(
            resolve("receive-window = '32 KiB'\nwindow-scaling = true").unwrap().window_scale,
            Some(0)
        );
        assert_eq!(resolve("stack = 'osu'").unwrap().window_scale, Some(4), "a factor of 16");
    }

    #[test]
    fn impossible_combinations_say_what_to_do() {
        for (table, key, advice) in [
            ("mss = '0 B'", "mss", "give 1 B"),
            ("mss = '65496 B'", "mss", "65495 B"),
            ("timestamps = true\nmss = '65484 B'", "mss", "65483 B"),
            ("receive-window = '65 KiB'", "receive-window", "window-scaling = true"),
            ("receive-window = '2 GB'\nwindow-scaling = true", "receive-window", "1073725440 B at most"),
            ("receive-window = '1000 B'", "receive-window", "at least the mss"),
            ("initial-ssthresh = '1 KiB'", "initial-ssthresh", "at least 2920 B"),
            ("initial-window = 0", "initial-window", "1 to 10"),
            ("initial-window = 11", "initial-window", "1 to 10"),
            ("recovery = 'rack'\nlimited-transmit = true", "limited-transmit", "leave this out"),
            ("idle-decay = true\nidle-restart = false", "idle-decay", "idle-restart = true"),
            ("recovery = 'rack'\nproportional-rate-reduction = true", "proportional-rate-reduction", "sack"),
            ("dsack = true", "dsack", "rack"),
            ("recovery = 'sack'\nf-rto = true", "f-rto", "rack"),
            ("recovery = 'sack'\nreductions = 'linux'", "reductions", "rack"),
            ("stack = 'linux'\necn = true\necn-window-min = 1", "ecn-window-min", "standard"),
            ("sack = true", "sack", "recovery = \"sack\""),
            ("recovery = 'sack'\nsack = false", "sack", "leave this key out"),
            ("recovery = 'timeout-only'\nlimited-transmit = true", "limited-transmit", "another recovery"),
            ("recovery = 'reno'\nnewreno-impatient = true", "newreno-impatient", "newreno"),
            ("proportional-rate-reduction = true", "proportional-rate-reduction", "sack"),
            ("go-back-n-inflation = true", "go-back-n-inflation", "go-back-n"),
            ("recovery = 'sack'\nfast-retransmit-guard = 'none'", "fast-retransmit-guard", "duplicate ACKs"),
            ("stack = 'cubic'\nhalving = 'window'", "halving", "reno"),
            ("stack = 'cubic'\ncongestion-avoidance = 'per-ack'", "congestion-avoidance", "reno"),
            ("cubic-fast-convergence = false", "cubic-fast-convergence", "cubic"),
            ("cubic-alpha = 'constant'", "cubic-alpha", "cubic"),
            ("cubic-arithmetic = 'segments'", "cubic-arithmetic", "cubic"),
            ("stack = 'linux'\ncubic-alpha = 'one'", "cubic-arithmetic", "cubic-alpha"),
            ("newreno-full-ack = 'deflated'\nrecovery = 'reno'", "newreno-full-ack", "newreno"),
            ("newreno-burst = 0", "newreno-burst", "1 or more"),
            ("newreno-burst = 2\nrecovery = 'reno'", "newreno-burst", "newreno"),
            ("recovery-exit-growth = true\nstack = 'sack'", "recovery-exit-growth", "reno"),
            (
                "limited-transmit-resends = true\nlimited-transmit = false",
                "limited-transmit-resends",
                "limited-transmit",
            ),
            ("congestion-control = 'dctcp'", "congestion-control", "ecn = true"),
            ("congestion-control = 'bbr'", "congestion-control", "recovery = \"rack\""),
            (
                "recovery = 'go-back-n'\ncongestion-control = 'bbr'",
                "congestion-control",
                "recovery = \"rack\"",
            ),
            ("stack = 'linux-bbr'\nrecovery = 'sack'", "congestion-control", "recovery = \"rack\""),
            ("stack = 'linux-bbr'\npacing = false", "pacing", "leave this out"),
            ("stack = 'linux-bbr'\nhystart = true", "hystart", "leave this out"),
            ("stack = 'linux-bbr'\nidle-restart = true", "idle-restart", "leave this out"),
            (
                "stack = 'linux'\ncongestion-control = 'bbr'\nslow-start-limit = 2",
                "slow-start-limit",
                "leave this",
            ),
            ("stack = 'linux-bbr'\nhalving = 'window'", "halving", "reno"),
            ("stack = 'linux-bbr'\nreductions = 'standard'", "reductions", "leave this out"),
            ("stack = 'linux-bbr'\ncubic-alpha = 'one'", "cubic-alpha", "cubic"),
            ("read-rate = '0 bit/s'", "read-rate", "more than 0"),
            ("hystart = true", "hystart", "timestamps = true"),
            ("slow-start-limit = 0", "slow-start-limit", "1 or more"),
            ("stack = 'yats'\nrto-variance-min = '1 s'", "rto-variance-min", "exact"),
            ("rto-min = '999999 ps'", "rto-min", "999.999 ns is less than 1 us"),
            ("rto-min = '2 s'\nrto-max = '1500 ms'", "rto-min", "raise rto-max"),
            ("rto-initial = '61 s'", "rto-initial", "rto-max, 60 s"),
            ("rto-initial = '0 s'", "rto-initial", "positive"),
            ("rto-arithmetic = 'ticks'", "rto-arithmetic", "give a tick"),
            ("stack = 'yats'\ntick = '0 s'", "rto-arithmetic", "exact"),
            ("tick-phase = '1 ms'", "tick-phase", "less than the tick"),
            ("ack-every = 0", "ack-every", "1 or more"),
            ("ack-every = 2\ndelayed-ack = '0 s'", "ack-every", "set delayed-ack"),
            ("ecn = true\necn-window-min = 3", "ecn-window-min", "1 or 2"),
            ("ecn-window-min = 2", "ecn-window-min", "ecn = true"),
            ("hystart-variant = 'linux'", "hystart-variant", "hystart = true"),
            ("nagle-minshall = true", "nagle-minshall", "nagle = true"),
            ("quick-acks-growing = true", "quick-acks-growing", "quick-acks"),
            ("delayed-ack = '0 s'\nquick-acks = 4", "quick-acks", "set delayed-ack"),
            ("delayed-ack = '0 s'\ndelayed-ack-max = '1 s'", "delayed-ack-max", "no ACK is delayed"),
            ("delayed-ack-max = '100 ms'", "delayed-ack-max", "200 ms at least"),
            ("send-queue = 0", "send-queue", "1 or more"),
            ("send-queue = 2", "send-queue", "processing-delay"),
            ("acks-processed = false", "acks-processed", "processing-delay"),
            ("timer-on-ticks = false", "timer-on-ticks", "a tick"),
            ("processing-spread = '1 ms'", "processing-spread", "negative"),
        ] {
            let error = resolve(table).expect_err(table);
            assert_eq!(error.key, key, "{table}");
            assert!(error.message.contains(advice), "{table}: {}", error.message);
        }
    }

    #[test]
    fn unknown_keys_and_missing_units_are_refused() {
        for table in ["mms = '500 B'", "mss = 500", "rto-min = '50'", "stack = 'windows'"] {
            assert!(toml::from_str::<StackSpec>(table).is_err(), "{table}");
        }
    }

    #[test]
    fn schema_describes_every_key() {
        let schema = serde_json::to_value(schemars::schema_for!(StackSpec)).expect("a schema is JSON");
        let properties = schema["properties"].as_object().expect("it has properties");
        assert!(properties.len() > 25);
        for (key, property) in properties {
            assert!(property["description"].is_string(), "{key} is described");
        }
    }
}
