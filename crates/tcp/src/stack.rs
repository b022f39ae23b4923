//! Presets: the TCP stacks that standards describe and that the papers used.
//!
//! A preset decides every knob; a scenario then changes what it wants. What a paper does not say is marked
//! *(unconfirmed)* where the value comes from a description of its simulator that has not been checked
//! against a document, and *(chosen)* where nobody says and a value had to be taken.

use celltrain_engine::{
    Time,
    time::{MICROSECOND, MILLISECOND, SECOND},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    congestion::CongestionKind,
    params::{
        CongestionAvoidance, CubicAlpha, CubicArithmetic, FastRetransmitGuard, Halving, HystartVariant,
        NewrenoFullAck, Params, Reductions, RtoArithmetic,
    },
    recovery::RecoveryKind,
    segment::WINDOW_FIELD_MAX,
};

/// A named preset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// The standards' TCP of today without SACK: NewReno (RFC 6582), byte counting (RFC 5681), limited
    /// transmit (RFC 3042), RTO from 1 s (RFC 6298), every second segment acknowledged or after 200 ms, MSS
    /// 1460 B, 64 KiB window, initial window 3 segments (RFC 5681 section 3.1 for this MSS).
    #[default]
    Newreno,
    /// As `newreno` with the recovery of RFC 5681, which the first ACK for new data ends, and no guard
    /// against repeated fast retransmits.
    Reno,
    /// As `newreno` with slow start after each fast retransmit (Jacobson 1988); no limited transmit.
    Tahoe,
    /// As `newreno` with recovery by selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// CUBIC (RFC 9438) with SACK recovery, timestamps, window scaling to 1 MiB, initial window 10 segments
    /// (RFC 6928).
    Cubic,
    /// A current Linux kernel with its defaults: CUBIC in whole segments whose estimate of Reno stays slow, its HyStart, RACK-TLP,
    /// F-RTO, timestamps, initial window 10, byte counting without a limit, a window that decays in idle times, Nagle in Minshall's
    /// variant, a variance term of at least 200 ms in the timeout, segments acknowledged at once while the receive window would grow,
    /// later ACKs after 40 to 200 ms, marks that reduce the window over a round trip and leave two segments, MSS 1448 B beside timestamps, window 4 MiB. (chosen): SRTT and
    /// RTTVAR by RFC 7323 appendix G; no PSH flags, so that the ACK of a full segment at the end of a transfer is delayed; no
    /// compression of duplicate ACKs. Checked against recorded runs of Linux 6.18.
    Linux,
    /// As `linux` with BBRv3 (draft-ietf-ccwg-bbr) in place of CUBIC and HyStart, paced, and without a restart after idle
    /// periods. (chosen): segments leave one by one, where the kernel sends bursts of up to a millisecond.
    LinuxBbr,
    /// As `linux` with Prague (draft-briscoe-iccrg-prague-congestion-control) in place of CUBIC and HyStart, paced: ECT(1),
    /// accurate ECN feedback (RFC 9768). For a bottleneck that marks early, as `dualpi2` does.
    Prague,
    /// TCP of ns-2 2.35 with its defaults: 1000 B of data a packet, window of 20 packets, first slow-start threshold the same,
    /// initial window 2, an ACK for every packet, limited transmit, halving of the window in whole packets, careful against a
    /// second fast retransmit, ticks of 10 ms, RTO from 200 ms to 60 s, initially 3 s. It differs from the RFCs where its keys
    /// say so: `recovery-exit-growth`, `newreno-full-ack`, `newreno-burst`, `limited-transmit-resends`,
    /// `rto-arithmetic`. NewReno; choose its other agents by `recovery`: `tahoe`, `reno`, and `sack-pipe` for `Sack1`. Checked against its packets after losses.
    #[serde(rename = "ns-2")]
    Ns2,
    /// What the standards track says and nothing else: as `sack` with timestamps and window scaling to 1 MiB (RFC 5681, RFC 6675,
    /// RFC 3042, RFC 6298, RFC 7323).
    Rfc,
    /// The `espd` paper's TCP in OPNET 2.4 as far as the paper tells: Reno, RTO from 50 ms, delayed ACK 12.5
    /// ms, exact timers, window 64 KiB, no processing time, MSS 500 B. A hypothesis beyond it: the third
    /// duplicate ACK sends again from the lost segment on (`recovery = "go-back-n"`), because this reproduces
    /// the paper's totals where a correct Reno does not. (chosen): no inflation by further duplicate ACKs; no
    /// guard against repeated fast retransmits; halving as 4.3BSD; MSS*MSS/cwnd per ACK; initial window 1; an
    /// ACK every second segment; initial RTO 1 s.
    #[serde(rename = "opnet-1998")]
    Opnet1998,
    /// TCP of YATS (manual 0.3 and source; `gfr-buffers`): Reno with timestamps and Nagle, MSS 512 B, 64 KiB
    /// window, RTO in whole ticks of 500 ms, 1.5 s to 64 s, initially 3 s, first slow-start threshold half the
    /// receive window, MSS*MSS/cwnd per ACK, 0.3 ms a data packet at either end with up to 10 % more at random, of
    /// which three of a sender may be in the processor (one in service, two that wait), delayed ACK 200 ms; a full
    /// segment moves the window by an MSS and is acknowledged at once; halving as 4.3BSD; no guard against repeated
    /// fast retransmits; the timer runs for exactly the timeout. Left out: the 0.3 ms by which its receiver
    /// delays an ACK; and, as without effect here, growth by pure window updates (there are none, as the
    /// application reads at once) and the close after 13 timeouts (a dead connection).
    Yats,
    /// TCP Reno of the MIT Network Simulator (`virtual-queuing`): 2 KiB packets, window 64 KiB, first timeout
    /// 500 ms, processing 300 us, 10 us more or less. (chosen): MSS 2048 B; RTO from 500 ms to 64 s with
    /// exact timers; every segment acknowledged at once; halving as 4.3BSD; MSS*MSS/cwnd per ACK; initial
    /// window 1.
    Netsim,
    /// OSU's "vanilla" TCP (`abr-vbr` and the UBR+ papers): slow start and congestion avoidance, no fast
    /// retransmit, MSS 512 B, window 16 x 64 KiB with scaling. Ticks of 100 ms and no delayed ACK (unconfirmed).
    /// (chosen): RTO from two ticks to 64 s, initially 3 s; halving as 4.3BSD; MSS*MSS/cwnd per ACK; initial
    /// window 1.
    Osu,
}

impl Stack {
    /// Every preset.
    pub const ALL: &[Self] = &[
        Self::Newreno,
        Self::Reno,
        Self::Tahoe,
        Self::Sack,
        Self::Cubic,
        Self::Linux,
        Self::LinuxBbr,
        Self::Prague,
        Self::Ns2,
        Self::Rfc,
        Self::Opnet1998,
        Self::Yats,
        Self::Netsim,
        Self::Osu,
    ];

    /// The preset's parameters.
    pub(crate) const fn params(self) -> Params {
        match self {
            Self::Newreno => standard(),
            Self::Reno => reno(),
            Self::Tahoe => tahoe(),
            Self::Sack => sack(),
            Self::Cubic => cubic(),
            Self::Linux => linux(),
            Self::LinuxBbr => linux_bbr(),
            Self::Prague => prague(),
            Self::Ns2 => ns2(),
            Self::Rfc => rfc(),
            Self::Opnet1998 => opnet_1998(),
            Self::Yats => yats(),
            Self::Netsim => netsim(),
            Self::Osu => osu(),
        }
    }

    // RFC 5681 §3.1: MUST keep to the bound of IW, of 2 to 4 segments (unless `initial-window` is given; `cubic` takes that of RFC 6928, `linux` 10)
    /// The largest initial window, in segments of `mss` bytes, that the standards allow the presets that follow them.
    pub(crate) fn initial_window_max(self, mss: u32) -> u32 {
        match self {
            Self::Newreno | Self::Reno | Self::Tahoe | Self::Sack | Self::Rfc => match mss {
                0..=1095 => 4,
                1096..=2190 => 3,
                _ => 2,
            },
            Self::Cubic => (14_600 / mss.max(1)).clamp(2, 10),
            _ => u32::MAX,
        }
    }
}

/// What the standards of today say, without SACK.
const fn standard() -> Params {
    const DELAYED_ACK: Time = 200 * MILLISECOND;
    Params {
        mss: 1460,
        receive_window: WINDOW_FIELD_MAX,
        read_rate: None,
        window_scale: None,
        initial_window: 3,
        initial_ssthresh: u64::MAX,
        congestion_control: CongestionKind::Reno,
        recovery: RecoveryKind::NewReno,
        slow_start_limit: 1,
        hystart: false,
        hystart_variant: HystartVariant::Rfc9406,
        congestion_avoidance: CongestionAvoidance::ByteCounting,
        halving: Halving::Flight,
        cubic_fast_convergence: true,
        cubic_alpha: CubicAlpha::One,
        cubic_arithmetic: CubicArithmetic::Exact,
        reductions: Reductions::Standard,
        fast_retransmit_guard: FastRetransmitGuard::Careful,
        newreno_impatient: true,
        newreno_full_ack: NewrenoFullAck::Flight,
        newreno_burst: None,
        recovery_exit_growth: false,
        go_back_n_inflation: false,
        proportional_rate_reduction: false,
        limited_transmit: true,
        limited_transmit_resends: false,
        idle_restart: true,
        idle_decay: false,
        nagle: false,
        nagle_minshall: false,
        fin: false,
        pacing: false,
        timestamps: false,
        sack: false,
        dsack: false,
        f_rto: false,
        ecn: false,
        accurate_ecn: false,
        ecn_control_packets: false,
        ecn_window_min: 1,
        syn_exchange: false,
        ack_every: 2,
        delayed_ack: DELAYED_ACK,
        delayed_ack_max: DELAYED_ACK,
        quick_acks: 0,
        quick_acks_growing: false,
        rto_min: SECOND,
        rto_max: 60 * SECOND,
        rto_initial: SECOND,
        rto_variance_min: 0,
        rto_arithmetic: RtoArithmetic::Exact,
        tick: 0,
        tick_phase: 0,
        timer_on_ticks: true,
        processing_delay: 0,
        processing_spread: 0,
        acks_processed: true,
        send_queue: None,
    }
}

/// A current Linux kernel.
const fn linux() -> Params {
    Params {
        mss: 1448,
        congestion_control: CongestionKind::Cubic,
        cubic_alpha: CubicAlpha::Constant,
        cubic_arithmetic: CubicArithmetic::Segments,
        recovery: RecoveryKind::Rack,
        reductions: Reductions::Linux,
        halving: Halving::Segments,
        fast_retransmit_guard: FastRetransmitGuard::None,
        sack: true,
        dsack: true,
        f_rto: true,
        limited_transmit: false,
        idle_decay: true,
        timestamps: true,
        nagle: true,
        nagle_minshall: true,
        ecn_window_min: 2,
        initial_window: 10,
        slow_start_limit: u32::MAX,
        hystart: true,
        hystart_variant: HystartVariant::Linux,
        receive_window: 4 << 20,
        window_scale: Some(7),
        delayed_ack: 40 * MILLISECOND,
        delayed_ack_max: 200 * MILLISECOND,
        quick_acks: 16,
        quick_acks_growing: true,
        rto_min: 200 * MILLISECOND,
        rto_variance_min: 200 * MILLISECOND,
        rto_max: 120 * SECOND,
        ..standard()
    }
}

/// What the simulators of the nineties took from 4.3BSD Reno.
const fn bsd() -> Params {
    Params {
        initial_window: 1,
        recovery: RecoveryKind::Reno,
        congestion_avoidance: CongestionAvoidance::PerAck,
        halving: Halving::Window,
        fast_retransmit_guard: FastRetransmitGuard::None,
        limited_transmit: false,
        idle_restart: false,
        rto_max: 64 * SECOND,
        ack_every: 1,
        delayed_ack: 0,
        delayed_ack_max: 0,
        ..standard()
    }
}

const fn reno() -> Params {
    Params { recovery: RecoveryKind::Reno, fast_retransmit_guard: FastRetransmitGuard::None, ..standard() }
}

const fn tahoe() -> Params {
    Params { recovery: RecoveryKind::Tahoe, limited_transmit: false, ..standard() }
}

const fn sack() -> Params {
    Params { recovery: RecoveryKind::Sack, sack: true, ..standard() }
}

const fn cubic() -> Params {
    Params { congestion_control: CongestionKind::Cubic, initial_window: 10, ..rfc() }
}

const fn linux_bbr() -> Params {
    Params {
        congestion_control: CongestionKind::Bbr,
        reductions: Reductions::Standard,
        pacing: true,
        hystart: false,
        idle_restart: false,
        ..linux()
    }
}

const fn prague() -> Params {
    Params {
        congestion_control: CongestionKind::Prague,
        reductions: Reductions::Standard,
        ecn: true,
        accurate_ecn: true,
        pacing: true,
        hystart: false,
        ..linux()
    }
}

const fn ns2() -> Params {
    Params {
        mss: 1000,
        receive_window: 20_000,
        initial_ssthresh: 20_000,
        recovery: RecoveryKind::NewReno,
        fast_retransmit_guard: FastRetransmitGuard::Careful,
        newreno_full_ack: NewrenoFullAck::Deflated,
        newreno_burst: Some(2),
        recovery_exit_growth: true,
        initial_window: 2,
        limited_transmit: true,
        limited_transmit_resends: true,
        idle_restart: true,
        tick: 10 * MILLISECOND,
        rto_min: 200 * MILLISECOND,
        rto_max: 60 * SECOND,
        rto_initial: 3 * SECOND,
        rto_arithmetic: RtoArithmetic::ElapsedTicks,
        timer_on_ticks: false,
        ..bsd()
    }
}

const fn rfc() -> Params {
    Params { timestamps: true, receive_window: 1 << 20, window_scale: Some(5), ..sack() }
}

const fn opnet_1998() -> Params {
    Params {
        mss: 500,
        recovery: RecoveryKind::GoBackN,
        rto_min: 50 * MILLISECOND,
        delayed_ack: 12_500 * MICROSECOND,
        delayed_ack_max: 12_500 * MICROSECOND,
        ack_every: 2,
        ..bsd()
    }
}

const fn yats() -> Params {
    Params {
        mss: 512,
        timestamps: true,
        nagle: true,
        tick: 500 * MILLISECOND,
        rto_min: 1_500 * MILLISECOND,
        rto_initial: 3 * SECOND,
        rto_arithmetic: RtoArithmetic::Ticks,
        timer_on_ticks: false,
        delayed_ack: 200 * MILLISECOND,
        delayed_ack_max: 200 * MILLISECOND,
        processing_delay: 315 * MICROSECOND,
        processing_spread: 15 * MICROSECOND,
        acks_processed: false,
        // Two that wait and one in service.
        send_queue: Some(3),
        ..bsd()
    }
}

const fn netsim() -> Params {
    Params {
        mss: 2048,
        rto_min: 500 * MILLISECOND,
        rto_initial: 500 * MILLISECOND,
        processing_delay: 300 * MICROSECOND,
        processing_spread: 10 * MICROSECOND,
        ..bsd()
    }
}

const fn osu() -> Params {
    Params {
        mss: 512,
        recovery: RecoveryKind::TimeoutOnly,
        receive_window: WINDOW_FIELD_MAX << 4,
        window_scale: Some(4),
        tick: 100 * MILLISECOND,
        rto_min: 200 * MILLISECOND,
        rto_initial: 3 * SECOND,
        ..bsd()
    }
}
