//! The registry of measures: what every column and metric of the results is, defined once.
//!
//! The tables of a run take names and units from here, and so do `celltrain measures`, the reference page and the metadata of
//! files. T is the measured time, from the end of the warm-up to the end of the run.

use serde::Serialize;

/// What a number of the results is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Its name, as in the columns and metrics of the results.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// How formulas write it.
    pub symbol: &'static str,
    /// Its unit; empty for ratios, counts of events and names.
    pub unit: &'static str,
    /// What it is, as a formula or a sentence.
    pub formula: &'static str,
    /// What one value of it is about.
    pub over: Over,
    /// How it adds up over what it is about, and over replications.
    pub aggregation: &'static str,
    /// Who defined it.
    pub source: &'static str,
    /// Which direction is better, where one is.
    pub better: Option<Better>,
    /// Whether it counts events, whose values are whole; what else has no unit is a ratio or a name.
    pub counts: bool,
}

/// What one value of a measure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// A whole run: a metric of the summary.
    Run,
    /// A flow: a column of `flows`.
    Flow,
    /// An output port: a column of `ports`.
    Port,
    /// A flow or port at a time: a metric of `series`.
    Time,
    /// A bin of a distribution: a column of `distributions`.
    Bin,
}

/// Which direction of a measure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More of it.
    More,
    /// Less of it.
    Less,
}

const MEAN: &str = "mean over replications";
const SUM: &str = "sum over flows";
const OURS: &str = "celltrain";
const RFC_5481: &str = "RFC 5481 section 4.2 (PDV); ITU-T I.356 (2-point cell delay variation)";
const TRANSFER: &str = "RFC 7679 (one-way delay); ITU-T I.356 (cell transfer delay)";
const RFC_5166: &str = "RFC 5166 section 2.1";
const MORE: Option<Better> = Some(Better::More);
const LESS: Option<Better> = Some(Better::Less);

/// Whether the unit of an entry is that of counts of events, which is not shown: "3", not "3 events".
const fn counts(unit: &str) -> bool {
    matches!(unit.as_bytes(), b"events")
}

/// An entry: over, name, title, symbol, unit, formula, aggregation, source, direction. Counts of events have the unit "events".
macro_rules! measures {
    ($over:ident: $(($name:literal, $title:literal, $symbol:literal, $unit:literal, $formula:literal, $how:expr, $source:expr, $better:expr)),* $(,)?) => {
        &[$(Measure {
            name: $name, title: $title, symbol: $symbol, unit: if counts($unit) { "" } else { $unit }, formula: $formula,
            over: Over::$over, aggregation: $how, source: $source, better: $better, counts: counts($unit),
        }),*]
    };
}

/// Metrics of the summary, in its order. Which of them a run has depends on its flows.
pub static RUN: &[Measure] = measures![Run:
    ("goodput", "goodput", "G", "bit/s", "8 x payload bytes that arrived for the first time / T, over all flows; of flows without TCP the whole packet, or 48 bytes for each bare cell, of frames that arrived whole", MEAN, RFC_5166, MORE),
    ("goodput_tcp", "goodput of TCP", "G_tcp", "bit/s", "goodput over the flows that use TCP; present if there are other flows too", MEAN, RFC_5166, MORE),
    ("goodput_other", "goodput of other flows", "G_other", "bit/s", "goodput over the flows without TCP; present if there are TCP flows too", MEAN, RFC_5166, MORE),
    ("throughput", "throughput", "X", "bit/s", "8 x payload bytes that arrived, repetitions included / T, over all flows", MEAN, RFC_5166, MORE),
    ("throughput_tcp", "throughput of TCP", "X_tcp", "bit/s", "throughput over the flows that use TCP; present if there are other flows too", MEAN, RFC_5166, MORE),
    ("throughput_other", "throughput of other flows", "X_other", "bit/s", "throughput over the flows without TCP; present if there are TCP flows too", MEAN, RFC_5166, MORE),
    ("fairness_index", "fairness index", "J", "", "(sum g)^2 / (n sum g^2) of the goodputs g of the n comparable flows: those that use TCP, or all where none does; 1 if all are equal, 1/n if one has all; undefined if none has anything", MEAN, "Jain, Chiu and Hawe, DEC-TR-301, 1984", MORE),
    ("frames_delivered", "frames delivered", "N", "frames", "full segments that arrived, all of their bytes for the first time, over all flows; of flows without TCP whole frames", MEAN, "Floyd and Romanow 1995 (effective throughput)", MORE),
    ("efficiency", "efficiency", "e", "", "cells or packets of whole frames that brought something new / those that arrived at destinations in whole frames or in broken ones; a segment that brought nothing new counts as one of the mean length of its VC", MEAN, "Floyd and Romanow 1995; Turner 1996 (goodput as a ratio)", MORE),
    ("cell_loss_ratio", "loss ratio", "CLR", "", "cells discarded by switches / (these + cells that reached hosts), those of acknowledgements included, which the ratios of TCP, of other flows and of categories leave out; packets where links carry packets, of which each counts as much as a cell; what links lose does not count", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("cell_loss_ratio_clp0", "loss ratio of CLP = 0", "CLR_0", "", "cells or packets that switches discarded / (these + those that arrived), of the flows whose host sends with CLP = 0; present if others send with CLP = 1", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("cell_loss_ratio_clp1", "loss ratio of CLP = 1", "CLR_1", "", "cells or packets that switches discarded / (these + those that arrived), of the flows whose host sends with CLP = 1", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("link_loss_ratio", "loss ratio of links", "LLR", "", "cells that links lost / (these + cells discarded by switches + cells that reached hosts); packets where links carry packets; present if a link loses any, in bursts, while it is dark, or as [[loss]] says", MEAN, "RFC 7680; ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean", "mean transfer delay", "E[D]", "s", "mean time from when a frame is handed to the sender's network interface until its last cell, or its packet, reaches the receiver, over the frames that arrived whole; present if measures.delays includes such flows", MEAN, TRANSFER, LESS),
    ("transfer_delay_p50", "median of the transfer delay", "D_50", "s", "the transfer delay that 50 % of the frames did not exceed, within 1.6 %", MEAN, TRANSFER, LESS),
    ("transfer_delay_p95", "95th percentile of the transfer delay", "D_95", "s", "the transfer delay that 95 % of the frames did not exceed, within 1.6 %", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99", "99th percentile of the transfer delay", "D_99", "s", "the transfer delay that 99 % of the frames did not exceed, within 1.6 %", MEAN, TRANSFER, LESS),
    ("transfer_delay_max", "largest transfer delay", "max D", "s", "the longest transfer delay of a frame", MEAN, TRANSFER, LESS),
    ("delay_variation", "delay variation", "PDV", "s", "99th percentile, over all frames, of the transfer delay less the shortest one of the frame's flow; within 1.6 % of what a frame takes beyond the idle path of its flow (propagation, and transmission of a full frame; of the smallest one if it takes less than that), however long that is", MEAN, RFC_5481, LESS),
    ("cell_loss_ratio_tcp", "loss ratio of TCP", "CLR_tcp", "", "cells or packets that switches discarded / (these + those that arrived), of the flows that use TCP; present if there are other flows too", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean_tcp", "mean transfer delay of TCP", "E[D]_tcp", "s", "transfer_delay_mean over the flows that use TCP; present if there are other flows too", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99_tcp", "99th percentile of the transfer delay of TCP", "D_99_tcp", "s", "transfer_delay_p99 over the flows that use TCP; present if there are other flows too", MEAN, TRANSFER, LESS),
    ("delay_variation_tcp", "delay variation of TCP", "PDV_tcp", "s", "delay_variation over the flows that use TCP; present if there are other flows too", MEAN, RFC_5481, LESS),
    ("cell_loss_ratio_other", "loss ratio of other flows", "CLR_other", "", "cells or packets that switches discarded / (these + those that arrived), of the flows without TCP; present if there are TCP flows too", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean_other", "mean transfer delay of other flows", "E[D]_other", "s", "transfer_delay_mean over the flows without TCP; present if there are TCP flows too", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99_other", "99th percentile of the transfer delay of other flows", "D_99_other", "s", "transfer_delay_p99 over the flows without TCP; present if there are TCP flows too", MEAN, TRANSFER, LESS),
    ("delay_variation_other", "delay variation of other flows", "PDV_other", "s", "delay_variation over the flows without TCP; present if there are TCP flows too", MEAN, RFC_5481, LESS),
    ("cell_loss_ratio_cbr", "loss ratio of category CBR", "CLR_cbr", "", "cells or packets that switches discarded / (these + those that arrived), of the flows whose VC is CBR; present if VCs are of several categories", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean_cbr", "mean transfer delay of category CBR", "E[D]_cbr", "s", "transfer_delay_mean over the flows whose VC is CBR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99_cbr", "99th percentile of the transfer delay of category CBR", "D_99_cbr", "s", "transfer_delay_p99 over the flows whose VC is CBR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("delay_variation_cbr", "delay variation of category CBR", "PDV_cbr", "s", "delay_variation over the flows whose VC is CBR; present if VCs are of several categories", MEAN, RFC_5481, LESS),
    ("cell_loss_ratio_vbr", "loss ratio of category VBR", "CLR_vbr", "", "cells or packets that switches discarded / (these + those that arrived), of the flows whose VC is VBR; present if VCs are of several categories", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean_vbr", "mean transfer delay of category VBR", "E[D]_vbr", "s", "transfer_delay_mean over the flows whose VC is VBR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99_vbr", "99th percentile of the transfer delay of category VBR", "D_99_vbr", "s", "transfer_delay_p99 over the flows whose VC is VBR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("delay_variation_vbr", "delay variation of category VBR", "PDV_vbr", "s", "delay_variation over the flows whose VC is VBR; present if VCs are of several categories", MEAN, RFC_5481, LESS),
    ("cell_loss_ratio_abr", "loss ratio of category ABR", "CLR_abr", "", "cells or packets that switches discarded / (these + those that arrived), of the flows whose VC is ABR; present if VCs are of several categories", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean_abr", "mean transfer delay of category ABR", "E[D]_abr", "s", "transfer_delay_mean over the flows whose VC is ABR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99_abr", "99th percentile of the transfer delay of category ABR", "D_99_abr", "s", "transfer_delay_p99 over the flows whose VC is ABR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("delay_variation_abr", "delay variation of category ABR", "PDV_abr", "s", "delay_variation over the flows whose VC is ABR; present if VCs are of several categories", MEAN, RFC_5481, LESS),
    ("cell_loss_ratio_gfr", "loss ratio of category GFR", "CLR_gfr", "", "cells or packets that switches discarded / (these + those that arrived), of the flows whose VC is GFR; present if VCs are of several categories", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean_gfr", "mean transfer delay of category GFR", "E[D]_gfr", "s", "transfer_delay_mean over the flows whose VC is GFR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99_gfr", "99th percentile of the transfer delay of category GFR", "D_99_gfr", "s", "transfer_delay_p99 over the flows whose VC is GFR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("delay_variation_gfr", "delay variation of category GFR", "PDV_gfr", "s", "delay_variation over the flows whose VC is GFR; present if VCs are of several categories", MEAN, RFC_5481, LESS),
    ("cell_loss_ratio_ubr", "loss ratio of category UBR", "CLR_ubr", "", "cells or packets that switches discarded / (these + those that arrived), of the flows whose VC is UBR; present if VCs are of several categories", MEAN, "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean_ubr", "mean transfer delay of category UBR", "E[D]_ubr", "s", "transfer_delay_mean over the flows whose VC is UBR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("transfer_delay_p99_ubr", "99th percentile of the transfer delay of category UBR", "D_99_ubr", "s", "transfer_delay_p99 over the flows whose VC is UBR; present if VCs are of several categories", MEAN, TRANSFER, LESS),
    ("delay_variation_ubr", "delay variation of category UBR", "PDV_ubr", "s", "delay_variation over the flows whose VC is UBR; present if VCs are of several categories", MEAN, RFC_5481, LESS),
    ("retransmission_ratio", "retransmission ratio", "R", "", "segments sent again / segments sent, over all TCP senders", MEAN, RFC_5166, LESS),
    ("timeouts", "timeouts", "", "events", "expiries of retransmission timers, over all TCP senders", MEAN, "RFC 6298 section 5", LESS),
    ("fast_retransmits", "fast retransmits", "", "events", "losses answered before a timeout, over all TCP senders", MEAN, "RFC 5681 section 3.2", LESS),
    ("utilisation", "utilisation of the bottleneck", "rho", "", "time in which the bottleneck's link was busy / T", MEAN, OURS, MORE),
    ("occupancy_mean", "mean occupancy of the bottleneck", "E[Q]", "cells", "time average of what the bottleneck's buffer held, the cell or packet in service included; packets where its link carries packets", MEAN, OURS, LESS),
    ("occupancy_max", "largest occupancy of the bottleneck", "max Q", "cells", "the most that the bottleneck's buffer held at any time since the end of the warm-up, in the unit of the buffer's size: cells, packets or bytes (B)", MEAN, OURS, LESS),
    ("delay_mean", "mean delay at the bottleneck", "E[W]", "s", "occupancy_mean x T / cells or packets accepted: time from arrival at the bottleneck's buffer to the end of transmission (Little's law)", MEAN, "Little 1961", LESS),
    ("delay_p50", "median delay at the bottleneck", "W_50", "s", "the delay that the last cells of half of the frames, or half of the packets, did not exceed there, within 1.6 %", MEAN, "RFC 7928 section 2.6", LESS),
    ("delay_p95", "95th percentile of the delay at the bottleneck", "W_95", "s", "the delay that the last cells of 95 % of the frames, or 95 % of the packets, did not exceed there, within 1.6 %", MEAN, "RFC 7928 section 2.6", LESS),
    ("delay_p99", "99th percentile of the delay at the bottleneck", "W_99", "s", "the delay that the last cells of 99 % of the frames, or 99 % of the packets, did not exceed there, within 1.6 %", MEAN, "RFC 7928 section 2.6", LESS),
    ("excess", "excess", "E", "bit/s", "sum of max(0, rate - MCR) over the VCs with a guarantee (MCR) that ask for more: that send more in T than MCR and a burst of MBS allow, or carry TCP and lose cells; present if a VC of cells other than ABR has a guarantee", MEAN, "ATM Forum TM 4.1 appendix I.3", MORE),
    ("excess_fairness_equal", "fairness of the excess by equal parts", "J_e", "", "Jain's index, over the VCs that ask for more, of the excess divided by an equal part of the whole", MEAN, "ATM Forum TM 4.1 appendix I.3", MORE),
    ("excess_fairness_weighted", "fairness of the excess by MCR", "J_w", "", "Jain's index, over the VCs that ask for more, of the excess divided by the part of the whole in proportion to MCR", MEAN, "ATM Forum TM 4.1 appendix I.3", MORE),
    ("synchronisation_index", "synchronisation index", "S", "", "(Var sum w - sum Var w) / ((sum sd w)^2 - sum Var w) of the congestion windows w at the sample times from the end of the warm-up on: 1 if all move together, 0 if they are unrelated, or if shares that drift apart outweigh losses in common; nothing if fewer than two of them vary; traced runs have it", MEAN, OURS, None),
    ("flows_completed", "flows completed", "", "events", "short flows and finite transfers that began in the measured part and ended in it; there, as the measures that follow, if a flow carries short flows or is a finite transfer", MEAN, OURS, None),
    ("flows_unfinished", "flows unfinished", "", "events", "short flows and finite transfers that began in the measured part and had not ended when the run did", MEAN, OURS, LESS),
    ("flows_turned_away", "flows turned away", "", "events", "short flows that arrived in the measured part when as many as may be were under way", MEAN, OURS, LESS),
    ("fct_mean", "mean flow completion time", "E[F]", "s", "mean time from the arrival of a short flow, or the start of a finite transfer, until its last byte reached the receiver, over those completed", MEAN, "Dukkipati and McKeown 2006", LESS),
    ("fct_p50", "median flow completion time", "F_50", "s", "the completion time that half of the flows did not exceed", MEAN, "Dukkipati and McKeown 2006", LESS),
    ("fct_p95", "95th percentile of the flow completion time", "F_95", "s", "the completion time that 95 % of the flows did not exceed", MEAN, "Dukkipati and McKeown 2006", LESS),
    ("fct_p99", "99th percentile of the flow completion time", "F_99", "s", "the completion time that 99 % of the flows did not exceed", MEAN, "Dukkipati and McKeown 2006", LESS),
    ("fct_max", "largest flow completion time", "max F", "s", "the completion time of the flow that took longest, over those completed; of transfers that begin together, the time until the last one ended", MEAN, OURS, LESS),
    ("slowdown_mean", "mean slowdown", "E[S]", "", "mean of completion time / time in an empty network, in which each link begins with a packet, or a cell, when it has come whole and the one before has left; where packets are sprayed that of the fastest way, of whose links the first and the last alone count for all packets; TCP's round trips are not in it", MEAN, "Alizadeh et al. 2013 (normalised FCT)", LESS),
    ("slowdown_p50", "median slowdown", "S_50", "", "the slowdown that half of the flows did not exceed", MEAN, "Alizadeh et al. 2013 (normalised FCT)", LESS),
    ("slowdown_p95", "95th percentile of the slowdown", "S_95", "", "the slowdown that 95 % of the flows did not exceed", MEAN, "Alizadeh et al. 2013 (normalised FCT)", LESS),
    ("slowdown_p99", "99th percentile of the slowdown", "S_99", "", "the slowdown that 99 % of the flows did not exceed", MEAN, "Alizadeh et al. 2013 (normalised FCT)", LESS),
    ("fct_p50_tiny", "median completion time of tiny flows", "", "s", "fct_p50 over the flows of up to 10 kB", MEAN, OURS, LESS),
    ("fct_p99_tiny", "99th percentile of the completion time of tiny flows", "", "s", "fct_p99 over the flows of up to 10 kB", MEAN, OURS, LESS),
    ("slowdown_mean_tiny", "mean slowdown of tiny flows", "", "", "slowdown_mean over the flows of up to 10 kB", MEAN, OURS, LESS),
    ("slowdown_p50_tiny", "median slowdown of tiny flows", "", "", "slowdown_p50 over the flows of up to 10 kB", MEAN, OURS, LESS),
    ("slowdown_p99_tiny", "99th percentile of the slowdown of tiny flows", "", "", "slowdown_p99 over the flows of up to 10 kB", MEAN, OURS, LESS),
    ("fct_p50_small", "median completion time of small flows", "", "s", "fct_p50 over the flows of above 10 kB, up to 100 kB", MEAN, OURS, LESS),
    ("fct_p99_small", "99th percentile of the completion time of small flows", "", "s", "fct_p99 over the flows of above 10 kB, up to 100 kB", MEAN, OURS, LESS),
    ("slowdown_mean_small", "mean slowdown of small flows", "", "", "slowdown_mean over the flows of above 10 kB, up to 100 kB", MEAN, OURS, LESS),
    ("slowdown_p50_small", "median slowdown of small flows", "", "", "slowdown_p50 over the flows of above 10 kB, up to 100 kB", MEAN, OURS, LESS),
    ("slowdown_p99_small", "99th percentile of the slowdown of small flows", "", "", "slowdown_p99 over the flows of above 10 kB, up to 100 kB", MEAN, OURS, LESS),
    ("fct_p50_medium", "median completion time of medium flows", "", "s", "fct_p50 over the flows of above 100 kB, up to 1 MB", MEAN, OURS, LESS),
    ("fct_p99_medium", "99th percentile of the completion time of medium flows", "", "s", "fct_p99 over the flows of above 100 kB, up to 1 MB", MEAN, OURS, LESS),
    ("slowdown_mean_medium", "mean slowdown of medium flows", "", "", "slowdown_mean over the flows of above 100 kB, up to 1 MB", MEAN, OURS, LESS),
    ("slowdown_p50_medium", "median slowdown of medium flows", "", "", "slowdown_p50 over the flows of above 100 kB, up to 1 MB", MEAN, OURS, LESS),
    ("slowdown_p99_medium", "99th percentile of the slowdown of medium flows", "", "", "slowdown_p99 over the flows of above 100 kB, up to 1 MB", MEAN, OURS, LESS),
    ("fct_p50_large", "median completion time of large flows", "", "s", "fct_p50 over the flows of above 1 MB", MEAN, OURS, LESS),
    ("fct_p99_large", "99th percentile of the completion time of large flows", "", "s", "fct_p99 over the flows of above 1 MB", MEAN, OURS, LESS),
    ("slowdown_mean_large", "mean slowdown of large flows", "", "", "slowdown_mean over the flows of above 1 MB", MEAN, OURS, LESS),
    ("slowdown_p50_large", "median slowdown of large flows", "", "", "slowdown_p50 over the flows of above 1 MB", MEAN, OURS, LESS),
    ("slowdown_p99_large", "99th percentile of the slowdown of large flows", "", "", "slowdown_p99 over the flows of above 1 MB", MEAN, OURS, LESS),
    ("requests_completed", "requests completed", "", "events", "requests whose answers were complete at the client within T; present, as the measures below, if flows are of kind request-response", MEAN, OURS, MORE),
    ("requests_unfinished", "requests unfinished", "", "events", "requests whose answers were not complete at the client when the run ended, whenever they were written; a client has one at a time", MEAN, OURS, LESS),
    ("request_age_max", "age of the oldest unfinished request", "", "s", "time from when the client wrote the oldest of requests_unfinished until the end of the run; 0 if there are none", MEAN, OURS, LESS),
    ("request_rate", "rate of completed requests", "", "1/s", "requests_completed / T", MEAN, OURS, MORE),
    ("response_time_mean", "mean response time", "E[R_resp]", "s", "mean time from when a client writes a request until it has read the last byte of the answer, over the answers that it has read within T; the first of a connection has the handshake in it, if there is one", MEAN, OURS, LESS),
    ("response_time_p50", "median of the response time", "R_resp_50", "s", "the response time that 50 % of the requests did not exceed, within 1.6 %", MEAN, OURS, LESS),
    ("response_time_p95", "95th percentile of the response time", "R_resp_95", "s", "the response time that 95 % of the requests did not exceed, within 1.6 %", MEAN, OURS, LESS),
    ("response_time_p99", "99th percentile of the response time", "R_resp_99", "s", "the response time that 99 % of the requests did not exceed, within 1.6 %", MEAN, OURS, LESS),
    ("response_time_max", "longest response time", "max R_resp", "s", "the longest response time of a request", MEAN, OURS, LESS),
];

/// Columns of `flows`, in their order.
pub static FLOW: &[Measure] = measures![Flow:
    ("flow", "flow", "", "", "name of the flow", "-", OURS, None),
    ("group", "group", "", "", "number of the group of flows in the scenario", "-", OURS, None),
    ("group_name", "name of the group", "", "", "name of the [[group]]; group N where number N has no name, and no group of flows that are in none", "-", OURS, None),
    ("kind", "kind", "", "", "tcp, or other for flows without TCP", "-", OURS, None),
    ("source", "source", "", "", "name of the sending host", "-", OURS, None),
    ("destination", "destination", "", "", "name of the receiving host", "-", OURS, None),
    ("round_trip", "round trip", "RTT_0", "s", "delay of all links and switches there and back, without queues and transmission, where packets are sprayed of one of the ways; nothing for flows of which nothing comes back, as of those without TCP", "-", OURS, None),
    ("goodput", "goodput", "g", "bit/s", "8 x payload bytes that arrived for the first time / T; without TCP the whole packet, or 48 bytes for each bare cell, of frames that arrived whole", SUM, RFC_5166, MORE),
    ("throughput", "throughput", "x", "bit/s", "8 x payload bytes that arrived, repetitions included / T", SUM, RFC_5166, MORE),
    ("frames_delivered", "frames delivered", "", "frames", "full segments that arrived, all of their bytes for the first time; or whole frames without TCP", SUM, OURS, MORE),
    ("bytes_delivered", "bytes delivered", "", "B", "payload bytes of TCP that arrived for the first time", SUM, OURS, MORE),
    ("segments_sent", "segments sent", "", "segments", "segments with data or a FIN, repetitions included", SUM, OURS, None),
    ("segments_retransmitted", "segments sent again", "", "segments", "segments with data or a FIN that had been sent before", SUM, OURS, LESS),
    ("timeouts", "timeouts", "", "events", "expiries of the retransmission timer", SUM, "RFC 6298 section 5", LESS),
    ("fast_retransmits", "fast retransmits", "", "events", "losses answered before a timeout", SUM, "RFC 5681 section 3.2", LESS),
    ("duplicates_received", "duplicates received", "", "segments", "segments without a new byte; outdated ones are apart", SUM, OURS, LESS),
    ("outdated_received", "outdated received", "", "segments", "segments with data that the receiver refused because their timestamps were older, by more than a tick, than that of one already accepted", SUM, "RFC 7323 section 5.3 (PAWS)", LESS),
    ("acks_sent", "ACKs sent", "", "segments", "acknowledgements that the receiver sent", SUM, OURS, None),
    ("clp", "CLP", "", "", "cell loss priority of the cells as the host sends them: 0 or 1", "-", "ITU-T I.361", None),
    ("cells_sent", "traffic sent", "", "cells", "cells that the host's network interface took from the flow, behind the shaper or ABR source if it has one, forward RM cells included; packets where the link carries packets; flows that share a VC count with the first of them", SUM, OURS, None),
    ("cells_discarded", "traffic discarded", "", "cells", "cells of the flow that switches discarded; packets where links carry packets; flows that share a VC count with the first of them", SUM, OURS, LESS),
    ("frames_eligible", "eligible frames", "", "frames", "frames that the policer of the VC found eligible for its guarantee", SUM, "ATM Forum TM 4.1 section 4.5.5.2 (F-GCRA)", None),
    ("frames_tagged", "frames tagged", "", "frames", "frames that the policer tagged (CLP = 1)", SUM, "ATM Forum TM 4.1 section 5.8", None),
    ("cells_tagged", "cells tagged", "", "cells", "cells that the policer of the VC tagged: the host sent them with CLP = 0, and they went on with CLP = 1", SUM, "ATM Forum TM 4.1 section 5.8", None),
    ("cells_dropped_at_source", "cells dropped at the source", "", "cells", "cells that found no room in the queue of the ABR source, or whose frame found none", SUM, OURS, LESS),
    ("source_queue_max", "largest source queue", "", "cells", "most cells that waited at the ABR source since the end of the warm-up", "largest over flows", OURS, LESS),
    ("cells_useful", "traffic in whole frames", "", "cells", "cells that arrived in whole frames; packets where links carry packets; flows that share a VC count with the first of them", SUM, OURS, MORE),
    ("cells_useless", "traffic in broken frames", "", "cells", "cells that arrived in broken frames; packets where links carry packets; those of frames that have not ended yet and lack a cell before the last that arrived too; counted when the frame breaks; flows that share a VC count with the first of them", SUM, OURS, LESS),
    ("mcr", "minimum cell rate", "m", "bit/s", "MCR of the VC's contract, 424 bits per cell; nothing without a guarantee; of flows that share a VC the first has it", SUM, "ATM Forum TM 4.1", None),
    ("limited_by_application", "limited by the application", "", "", "share of T in which there was nothing to send, or less than the windows allowed; nothing where flows come one after the other", "mean over flows", "RFC 4898 (SndLim)", None),
    ("limited_by_handshake", "limited by the handshake", "", "", "share of T in which the connection was being opened; nothing where flows come one after the other", "mean over flows", "RFC 4898 (SndLim)", None),
    ("limited_by_receive_window", "limited by the receive window", "", "", "share of T in which the receiver's window was full; nothing where flows come one after the other", "mean over flows", "RFC 4898 (SndLim)", None),
    ("limited_by_congestion_window", "limited by the congestion window", "", "", "share of T in which the congestion window was full, or the pace that follows from it or from congestion control held segments back; nothing where flows come one after the other", "mean over flows", "RFC 4898 (SndLim)", None),
    ("limited_by_recovery", "limited by the recovery", "", "", "share of T in which a loss was repaired that had shown without a timeout; nothing where flows come one after the other", "mean over flows", "RFC 4898 (SndLim)", None),
    ("limited_by_timeout", "limited by the timeout", "", "", "share of T in which nothing was sent or received before the retransmission timer expired; a wait that goes on at the end of the run counts for what had limited before; nothing where flows come one after the other", "mean over flows", "RFC 4898 (SndLim)", None),
    ("excess", "excess", "e", "bit/s", "max(0, rate of useful cells - MCR), 424 bits per cell, where a VC with a guarantee (MCR) asks for more: it sends more in T than MCR and a burst of MBS allow, or carries TCP and loses cells", SUM, "ATM Forum TM 4.1 appendix I.3", MORE),
    ("excess_of_equal_part", "excess over its equal part", "", "", "excess / (sum of all / number of VCs that ask)", "-", "ATM Forum TM 4.1 appendix I.3", None),
    ("excess_of_weighted_part", "excess over its part by MCR", "", "", "excess / (sum of all x MCR / sum of the MCRs of the VCs that ask)", "-", "ATM Forum TM 4.1 appendix I.3", None),
    ("category", "service category", "", "", "service category of the flow's VC: cbr, vbr, abr, gfr or ubr", "-", "ATM Forum TM 4.1 section 2", None),
    ("circuit", "VC", "", "", "the VC of the flow, by the name of the first flow that it carries", "-", OURS, None),
    ("cell_loss_ratio", "loss ratio", "clr", "", "cells_discarded / (these + cells or packets that reached the host, those of frames that are not complete yet and forward RM cells too); flows that share a VC count with the first of them", "-", "ITU-T I.356 section 6.3", LESS),
    ("transfer_delay_mean", "mean transfer delay", "E[d]", "s", "mean time from when a frame is handed to the sender's network interface until its last cell, or its packet, reaches the receiver, over the frames that arrived whole; nothing where measures.delays leaves the flow out; flows that share a VC count with the first of them", "-", TRANSFER, LESS),
    ("transfer_delay_p50", "median of the transfer delay", "d_50", "s", "the transfer delay that 50 % of the frames did not exceed, within 1.6 %", "-", TRANSFER, LESS),
    ("transfer_delay_p95", "95th percentile of the transfer delay", "d_95", "s", "the transfer delay that 95 % of the frames did not exceed, within 1.6 %", "-", TRANSFER, LESS),
    ("transfer_delay_p99", "99th percentile of the transfer delay", "d_99", "s", "the transfer delay that 99 % of the frames did not exceed, within 1.6 %", "-", TRANSFER, LESS),
    ("transfer_delay_max", "largest transfer delay", "max d", "s", "the longest transfer delay of a frame", "-", TRANSFER, LESS),
    ("delay_variation", "delay variation", "pdv", "s", "99th percentile of the transfer delay less the shortest one of the flow; within 1.6 % of what a frame takes beyond the idle path (propagation, and transmission of a full frame; of the smallest one if it takes less than that), however long that is", "-", RFC_5481, LESS),
    ("requests_completed", "requests completed", "", "events", "requests whose answers were complete at the client within T", SUM, OURS, MORE),
    ("requests_unfinished", "unfinished requests", "", "events", "requests whose answers were not complete at the client when the run ended, whenever they were written; a client has one at a time", SUM, OURS, LESS),
    ("response_time_mean", "mean response time", "E[r_resp]", "s", "mean time from when a client writes a request until it has read the last byte of the answer, over the answers that it has read within T; the first of a connection has the handshake in it, if there is one; nothing for flows of other kinds", "-", OURS, LESS),
    ("response_time_p50", "median of the response time", "r_resp_50", "s", "the response time that 50 % of the requests did not exceed, within 1.6 %", "-", OURS, LESS),
    ("response_time_p95", "95th percentile of the response time", "r_resp_95", "s", "the response time that 95 % of the requests did not exceed, within 1.6 %", "-", OURS, LESS),
    ("response_time_p99", "99th percentile of the response time", "r_resp_99", "s", "the response time that 99 % of the requests did not exceed, within 1.6 %", "-", OURS, LESS),
    ("response_time_max", "longest response time", "max r_resp", "s", "the longest response time of a request", "-", OURS, LESS),
    ("completion_time", "completion time", "F_i", "s", "time from the start of a finite transfer until its last byte reached the receiver, wherever in the run it began; NaN for other flows, and where bytes are missing when the run ends", "-", "Dukkipati and McKeown 2006", LESS),
    ("flows_completed", "transfers completed", "", "events", "short flows and finite transfers that began in the measured part and ended", SUM, OURS, None),
    ("flows_unfinished", "unfinished transfers", "", "events", "short flows and finite transfers that began in the measured part and had not ended when the run did", SUM, OURS, LESS),
    ("flows_turned_away", "transfers turned away", "", "events", "short flows that arrived in the measured part when as many as may be were under way", SUM, OURS, LESS),
    ("fct_mean", "mean flow completion time", "E[f]", "s", "mean completion time of these transfers, over those that ended; nothing where none did", "-", "Dukkipati and McKeown 2006", LESS),
    ("fct_p50", "median flow completion time", "f_50", "s", "the completion time that half of them did not exceed", "-", "Dukkipati and McKeown 2006", LESS),
    ("fct_p95", "95th percentile of the flow completion time", "f_95", "s", "the completion time that 95 % of them did not exceed", "-", "Dukkipati and McKeown 2006", LESS),
    ("fct_p99", "99th percentile of the flow completion time", "f_99", "s", "the completion time that 99 % of them did not exceed", "-", "Dukkipati and McKeown 2006", LESS),
    ("fct_max", "largest flow completion time", "max f", "s", "the completion time of the one that took longest", "-", OURS, LESS),
];

/// Columns of `ports`, in their order. Counts are of packets where the port's link carries packets: `counted` says so.
pub static PORT: &[Measure] = measures![Port:
    ("port", "port", "", "", "name of the output port: node > next node", "-", OURS, None),
    ("switch", "of a switch", "", "", "1 for the port of a switch, 0 for that of a host", "-", OURS, None),
    ("counted", "counted", "", "", "what the counts of the port are of: cells or packets", "-", OURS, None),
    ("buffer_unit", "unit of the buffer", "", "", "what the size of the buffer and the largest occupancy are in: cells, packets or B", "-", OURS, None),
    ("cells_arrived", "arrived", "", "cells", "accepted or discarded on arrival", SUM_PORTS, OURS, None),
    ("cells_forwarded", "forwarded", "", "cells", "handed to the link", SUM_PORTS, OURS, None),
    ("cells_discarded", "discarded", "", "cells", "discarded for any reason", SUM_PORTS, OURS, LESS),
    ("cells_accepted_clp1", "accepted of CLP = 1", "", "cells", "accepted with CLP = 1", SUM_PORTS, OURS, None),
    ("cells_discarded_clp1", "discarded of CLP = 1", "", "cells", "discarded with CLP = 1", SUM_PORTS, OURS, None),
    ("discarded_buffer_full", "discarded: buffer full", "", "cells", "found no space", SUM_PORTS, OURS, LESS),
    ("discarded_frame_refused", "discarded: frame refused", "", "cells", "first cells of frames that the policy refused, and what followed; packets that it refused", SUM_PORTS, OURS, LESS),
    ("discarded_frame_broken", "discarded: frame broken", "", "cells", "rest of frames that had lost a cell", SUM_PORTS, OURS, LESS),
    ("discarded_vc_captured", "discarded: VC captured", "", "cells", "of VCs that a policy had chosen to lose frames", SUM_PORTS, OURS, LESS),
    ("discarded_pushed_out", "discarded: pushed out", "", "cells", "accepted, then removed for others", SUM_PORTS, OURS, LESS),
    ("discarded_non_conforming", "discarded: non-conforming", "", "cells", "beyond the VC's contract", SUM_PORTS, OURS, LESS),
    ("discarded_at_head", "discarded: at the head", "", "cells", "accepted, then dropped at the head of the queue by the policy", SUM_PORTS, OURS, LESS),
    ("lost_random", "lost at random", "", "cells", "lost on the link behind the port, at random; counted when they would have come to its other end by the shortest delay that it ever has", SUM_PORTS, OURS, LESS),
    ("lost_scripted", "lost by script", "", "cells", "lost on the link behind the port, as the scenario says; counted as those at random", SUM_PORTS, OURS, LESS),
    ("lost_burst", "lost in bursts", "", "cells", "lost on the link behind the port by its Gilbert-Elliott chain; counted as those at random", SUM_PORTS, "Gilbert 1960; Elliott 1963", LESS),
    ("lost_dark", "lost in the dark", "", "cells", "lost on the link behind the port, which was dark when they entered it; counted as those at random", SUM_PORTS, OURS, LESS),
    ("held_back", "held back", "", "cells", "packets that the link behind the port held back, so that others could overtake them; counted as those lost at random", SUM_PORTS, OURS, None),
    ("pauses", "pauses", "", "events", "pauses that the switch behind the link asked for", SUM_PORTS, "IEEE 802.1Qbb", LESS),
    ("paused", "time paused", "", "s", "time from the arrival of each pause to that of its end: also while the port still sends the unit that the pause found in transmission, and while it has nothing to send", SUM_PORTS, "IEEE 802.1Qbb", LESS),
    ("locked", "locked", "", "", "1 if the port waits for the end of a pause at the end of the run that can never come, else 0", SUM_PORTS, OURS, LESS),
    ("frames_marked", "frames marked", "", "frames", "frames that got a congestion mark at the port; each port that marks a frame counts it", SUM_PORTS, "RFC 3168", None),
    ("utilisation", "utilisation", "rho", "", "time in which the link was busy / T", "-", OURS, None),
    ("occupancy_mean", "mean occupancy", "E[Q]", "cells", "time average of what the buffer held, the cell or packet in service included", "-", OURS, LESS),
    ("occupancy_max", "largest occupancy", "max Q", "cells", "the most that the buffer held since the end of the warm-up, in the unit of the buffer's size: cells, packets or bytes (B)", "-", OURS, LESS),
    ("abr_queue_max", "largest ABR queue", "", "cells", "most cells of ABR VCs in the buffer since the end of the warm-up, at a port that data of ABR cross: data, RM cells and acknowledgements, that in transmission included", "-", OURS, LESS),
    ("delay_mean", "mean delay", "E[W]", "s", "occupancy_mean x T / cells or packets accepted (Little's law)", "-", "Little 1961", LESS),
    ("delay_p50", "median delay", "W_50", "s", "the delay that the last cells of half of the frames, or half of the packets, did not exceed, within 1.6 %", "-", OURS, LESS),
    ("delay_p95", "95th percentile of the delay", "W_95", "s", "the delay that the last cells of 95 % of the frames, or 95 % of the packets, did not exceed, within 1.6 %", "-", OURS, LESS),
    ("delay_p99", "99th percentile of the delay", "W_99", "s", "the delay that the last cells of 99 % of the frames, or 99 % of the packets, did not exceed, within 1.6 %", "-", OURS, LESS),
];

const SUM_PORTS: &str = "sum over ports";

/// Metrics of `series`: values at the sample times of a traced run.
pub static TIME: &[Measure] = measures![Time:
    ("cwnd", "congestion window", "w", "B", "congestion window of a TCP sender", "-", "RFC 5681", None),
    ("delivered", "delivered", "", "B", "bytes of TCP that arrived for the first time since the start", "-", OURS, None),
    ("sampled_delay_mean", "mean transfer delay per sample period", "E[D]", "s", "mean transfer delay of the frames of the flow that arrived whole since the last sample; periods without any have no value; flows whose delays are measured (measures.delays) have it, short flows do not", "-", TRANSFER, None),
    ("sampled_delay_max", "longest transfer delay per sample period", "max D", "s", "longest transfer delay of the frames of the flow that arrived whole since the last sample; as sampled_delay_mean", "-", TRANSFER, None),
    ("sent", "sent", "", "B", "sequence number of a segment when it is sent for the first time; runs that record events have it", "-", OURS, None),
    ("retransmitted", "sent again", "", "B", "sequence number of a segment when it is sent again; runs that record events have it", "-", OURS, None),
    ("acknowledged", "acknowledged", "", "B", "acknowledgement number when it arrives at the sender, of ACKs for new data; runs that record events have it", "-", OURS, None),
    ("rtt", "round-trip time", "R", "s", "a sample of the round-trip time; runs that record events have it", "-", "RFC 6298 section 3", None),
    ("ssthresh", "slow-start threshold", "", "B", "slow-start threshold of a TCP sender at each ACK that acknowledges new data, loss and timeout; runs that record events have it", "-", "RFC 5681", None),
    ("acr", "allowed cell rate", "ACR", "cells/s", "rate that the network allows an ABR source", "-", "ATM Forum TM 4.1", None),
    ("source_queue", "source queue", "", "cells", "cells that wait at an ABR source", "-", OURS, None),
    ("occupancy", "occupancy", "Q", "cells", "what the buffer of a port holds; packets where its link carries packets", "-", OURS, None),
    ("utilisation", "utilisation", "rho", "", "share of the sample period in which the port's link was busy", "-", OURS, None),
    ("abr_queue", "ABR queue", "", "cells", "cells of ABR VCs that wait at a port", "-", OURS, None),
    ("illegal_occupancy", "occupancy beyond thresholds", "", "cells", "what VCs hold beyond their thresholds at a port, in the unit of the buffer's size", "-", OURS, None),
];

/// Columns of `distributions`, in their order: runs whose scenario sets `measures.distributions` have them.
///
/// Weights of equal bins add up over replications: the sum is the distribution of all of them, exactly.
pub static DISTRIBUTION: &[Measure] = measures![Bin:
    ("over", "over", "", "", "what the distribution is about: a flow, a kind of flows (tcp, other), a service category, the run, or a port", "-", OURS, None),
    ("entity", "entity", "", "", "name of the flow, kind, category or switch port; all for the run", "-", OURS, None),
    ("measure", "measure", "", "", "transfer_delay: of frames that arrived whole; response_time: of requests; flow_completion_time: of short flows and finite transfers that began in the measured part and ended; occupancy: of the port's buffer over time, the cell or packet in service included", "-", OURS, None),
    ("unit", "unit", "", "", "unit of low and high: ps for delays and times; cells or packets for occupancies, as the link carries them", "-", OURS, None),
    ("low", "lowest value", "", "", "the smallest value that falls into the bin, in the unit of the row", "-", OURS, None),
    ("high", "highest value", "x", "", "the largest value that falls into the bin, in the unit of the row; not above low x 65 / 64, and equal to it below 128", "-", OURS, None),
    ("weight", "weight", "", "", "frames whose delay, transfers whose completion time, or picoseconds for which the occupancy, fell into the bin", "sum over replications", OURS, None),
    ("weight_unit", "unit of the weight", "", "", "unit of the weight: frames, transfers or ps", "-", OURS, None),
    ("share_above", "share above", "P(Q > x)", "", "share of the weight of the distribution in higher bins: P(D > high) of the frames or transfers, P(Q > high) of the time; it is exact", "-", "complementary distribution function", None),
];

/// Every measure.
pub fn all() -> impl Iterator<Item = &'static Measure> {
    [RUN, FLOW, PORT, TIME, DISTRIBUTION].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_measure_is_defined_once_for_what_it_is_about() {
        let names: BTreeSet<_> = all().map(|measure| (measure.over as u8, measure.name)).collect();
        assert_eq!(names.len(), all().count());
        for measure in all() {
            let said = [measure.title, measure.formula, measure.aggregation, measure.source];
            assert!(said.iter().all(|text| !text.trim().is_empty()), "{measure:?}");
            assert!(
                measure.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{measure:?}"
            );
        }
    }
}
