//! Runs the segment scripts under `tests/conformance/` at the root of the repository; `README.md` there
//! explains their form.

mod common;

use std::{collections::VecDeque, fs, ops::Range, path::Path};

use celltrain_engine::{Time, time::SECOND};
use celltrain_tcp::{Ecn, Event, Flags, Receiver, SackBlocks, Segment, Sender, SynOptions, Tcp, Timestamps};

/// What a line of a script comes to; an error says what is wrong, without the place.
type Outcome<T = ()> = Result<T, String>;

/// A script while it runs.
struct Run {
    table: String,
    end: Option<Tcp>,
    now: Time,
    /// What the end has sent and the script has not expected yet.
    sent: VecDeque<Segment>,
    /// What happened since the last input.
    events: Vec<Event>,
    /// Window that ACKs advertise unless they say another.
    window: u64,
    mss: u32,
}

impl Run {
    fn line(&mut self, line: &str) -> Outcome {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[0] {
            "tcp" => self.table += &format!("{}\n", line["tcp".len()..].trim()),
            "sender" | "receiver" => self.start(words[0])?,
            "expect" => self.expect(&words[1..])?,
            _ => self.input(&words)?,
        }
        Ok(())
    }

    fn start(&mut self, end: &str) -> Outcome {
        let params = common::params(&self.table);
        self.window = params.receive_window;
        self.mss = params.mss;
        self.end = Some(if end == "sender" {
            let mut sender = Sender::new(&params);
            sender.trace(true);
            Tcp::Sender(Box::new(sender))
        } else {
            Tcp::Receiver(Box::new(Receiver::new(&params)))
        });
        Ok(())
    }

    fn end(&mut self) -> Outcome<&mut Tcp> {
        self.end.as_mut().ok_or_else(|| "say `sender` or `receiver` first".into())
    }

    fn sender(&mut self) -> Outcome<&mut Sender> {
        self.end()?.sender_mut().ok_or_else(|| "this is for a sender".into())
    }

    /// A line `<time> <what happens>`.
    fn input(&mut self, words: &[&str]) -> Outcome {
        self.nothing_left()?;
        let [at, what, rest @ ..] = words else { return Err("expected `<time> <what happens>`".into()) };
        let at = time(at)?;
        if at < self.now {
            return Err("time goes backwards".into());
        }
        self.now = at;
        let timeout = self.end()?.next_timeout();
        match (*what == "timer", timeout) {
            (true, expiry) if expiry != Some(at) => return Err(format!("the timer is at {}", show(expiry))),
            (false, Some(expiry)) if expiry < at => {
                return Err(format!("the timer expired at {}", show(timeout)));
            }
            _ => {}
        }
        self.events.clear();
        match *what {
            "timer" => self.end()?.on_timeout(at),
            "close" => self.sender()?.close(at),
            "offer" => {
                let bytes = number(rest.first().ok_or("offer how many bytes?")?)?;
                self.sender()?.offer(at, bytes);
            }
            _ => {
                let segment = self.segment(what, rest)?;
                self.end()?.on_segment(at, &segment);
            }
        }
        while let Some(segment) = self.end()?.poll_segment(at) {
            self.sent.push_back(segment);
        }
        if let Tcp::Sender(sender) = self.end()? {
            self.events = sender.take_events();
        }
        Ok(())
    }

    /// A segment that arrives: `seg 0..1000 …`, `ack 1000 …`, `syn`, `syn-ack`, with what follows.
    fn segment(&self, what: &str, rest: &[&str]) -> Outcome<Segment> {
        let mut segment = Segment { window: self.window, ..Segment::default() };
        let mut words = rest.iter().copied();
        let mut next = |what: &str| words.next().ok_or_else(|| format!("{what} what?"));
        match what {
            "seg" => {
                let bytes = range(next(what)?)?;
                segment.seq = bytes.start;
                segment.len = (bytes.end - bytes.start) as u32;
            }
            "ack" => {
                segment.ack = number(next(what)?)?;
                segment.flags = Flags::ACK;
            }
            "syn" => segment.flags = Flags::SYN,
            "syn-ack" => segment.flags = Flags::SYN | Flags::ACK,
            _ => return Err(format!("`{what}` cannot happen")),
        }
        if segment.flags.contains(Flags::SYN) {
            segment.syn = Some(SynOptions { mss: self.mss, window_scale: None, sack_permitted: false });
        }
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} what?"));
            match word {
                "window" => segment.window = number(value()?)?,
                "stamp" => segment.timestamps = Some(Timestamps { value: time(value()?)?, echo: 0 }),
                "echo" => segment.timestamps = Some(Timestamps { value: self.now, echo: time(value()?)? }),
                "ce" => segment.ecn = Ecn::Ce,
                "ece" => segment.flags |= Flags::ECE,
                "cwr" => segment.flags |= Flags::CWR,
                "fin" => {
                    // The range ends behind the number of the FIN.
                    segment.flags |= Flags::FIN;
                    segment.len -= 1;
                }
                "ae" => segment.flags |= Flags::AE,
                "sack" => segment.sack = blocks(segment.ack, &mut words)?,
                _ => return Err(format!("a segment has no `{word}`")),
            }
        }
        Ok(segment)
    }

    /// A line `expect …`.
    fn expect(&mut self, words: &[&str]) -> Outcome {
        let [what, rest @ ..] = words else { return Err("expect what?".into()) };
        match (*what, rest) {
            ("nothing", []) => self.nothing_left(),
            ("seg" | "ack" | "syn" | "syn-ack", _) => self.expect_segments(what, rest),
            ("no", ["timer"]) => same("timer", &show(self.end()?.next_timeout()), "off"),
            ("timer", [at]) => same("timer", &show(self.end()?.next_timeout()), &show(Some(time(at)?))),
            ("event", [kind, cause @ ..]) => self.expect_event(kind, cause.first().copied()),
            (name, [value]) => {
                let window = self.sender()?.window();
                let found = match name {
                    "cwnd" => window.cwnd,
                    "ssthresh" => window.ssthresh,
                    "flight" => window.flight,
                    _ => return Err(format!("`{name}` cannot be expected")),
                };
                same(name, &found.to_string(), value)
            }
            _ => Err(format!("`{what}` cannot be expected like this")),
        }
    }

    /// Segments leave in this order; those of one line share the words after the ranges.
    fn expect_segments(&mut self, what: &str, rest: &[&str]) -> Outcome {
        let ranges = rest.iter().take_while(|word| what == "seg" && word.contains("..")).count();
        let (heads, marks) = if what == "seg" { rest.split_at(ranges) } else { rest.split_at(0) };
        let heads: Vec<_> = if what == "seg" { heads.to_vec() } else { vec![""] };
        for head in heads {
            let expected = [&[what, head][..], marks].concat();
            let expected: Vec<_> = expected.into_iter().filter(|word| !word.is_empty()).collect();
            let sent = self.sent.pop_front().ok_or("nothing was sent")?;
            same("sent", &describe(&sent, self.window), &expected.join(" "))?;
        }
        Ok(())
    }

    fn expect_event(&self, kind: &str, cause: Option<&str>) -> Outcome {
        let named = |event: &Event| {
            let event = serde_json::to_value(event).expect("events serialise");
            event["event"] == kind && cause.is_none_or(|cause| event["cause"] == cause)
        };
        if self.events.iter().any(named) {
            return Ok(());
        }
        Err(format!("no such event among {:?}", self.events))
    }

    fn nothing_left(&self) -> Outcome {
        match self.sent.front() {
            None => Ok(()),
            Some(segment) => Err(format!("unexpected: {}", describe(segment, self.window))),
        }
    }
}

/// Writes a segment as scripts do; the usual window goes unsaid.
fn describe(segment: &Segment, usual_window: u64) -> String {
    let syn = segment.flags.contains(Flags::SYN);
    let mut text = match (syn, segment.flags.contains(Flags::ACK)) {
        (true, true) => "syn-ack".to_owned(),
        (true, false) => "syn".to_owned(),
        (false, _) if segment.end() > segment.seq => format!("seg {}..{}", segment.seq, segment.end()),
        (false, _) => format!("ack {}", segment.ack),
    };
    if segment.window != usual_window {
        text += &format!(" window {}", segment.window);
    }
    for (present, word) in [
        (segment.is_fin(), " fin"),
        (segment.retransmission, " again"),
        (segment.ecn == Ecn::Ect0, " ect"),
        (segment.ecn == Ecn::Ect1, " ect1"),
        (segment.flags.contains(Flags::AE), " ae"),
        (segment.flags.contains(Flags::ECE), " ece"),
        (segment.flags.contains(Flags::CWR), " cwr"),
    ] {
        text += if present { word } else { "" };
    }
    if let Some(timestamps) = segment.timestamps {
        text += &match segment.end() - segment.seq {
            0 => format!(" echo {}", seconds(timestamps.echo)),
            _ => format!(" stamp {}", seconds(timestamps.value)),
        };
    }
    if !segment.sack.is_empty() {
        text += " sack";
        text.extend(segment.sack.ranges(segment.ack).map(|block| format!(" {}..{}", block.start, block.end)));
    }
    text
}

fn same(what: &str, found: &str, expected: &str) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: expected `{expected}`, found `{found}`")) }
}

/// A time in seconds, exact to the picosecond.
fn time(text: &str) -> Outcome<Time> {
    format!("{text} s")
        .parse::<celltrain_engine::quantity::Duration>()
        .map(|d| d.0)
        .map_err(|e| e.to_string())
}

/// A time as scripts write it.
fn seconds(time: Time) -> String {
    let fraction = format!("{:012}", time % SECOND);
    let fraction = fraction.trim_end_matches('0');
    format!("{}.{}", time / SECOND, if fraction.is_empty() { "0" } else { fraction })
}

fn show(timer: Option<Time>) -> String {
    timer.map_or("off".into(), seconds)
}

fn number(text: &str) -> Outcome<u64> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

fn range(text: &str) -> Outcome<Range<u64>> {
    let (start, end) = text.split_once("..").ok_or_else(|| format!("`{text}` is not a range of bytes"))?;
    Ok(number(start)?..number(end)?)
}

/// The ranges that follow, as SACK blocks above `ack`.
fn blocks<'a>(
    ack: u64,
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Outcome<SackBlocks> {
    let mut blocks = SackBlocks::default();
    while let Some(word) = words.next_if(|word| word.contains("..")) {
        let block = range(word)?;
        if blocks.is_empty() && block.start < ack {
            blocks.push_duplicate(ack, &block);
        } else {
            blocks.push(ack, block);
        }
    }
    Ok(blocks)
}

fn run(script: &str) -> Outcome {
    let mut run = Run {
        table: String::new(),
        end: None,
        now: 0,
        sent: VecDeque::new(),
        events: Vec::new(),
        window: 0,
        mss: 0,
    };
    let mut expectations = 0;
    for (number, line) in script.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            run.line(line).map_err(|error| format!("line {}: {error}\n    {line}", number + 1))?;
            expectations += usize::from(line.starts_with("expect"));
        }
    }
    run.nothing_left()?;
    if expectations == 0 { Err("the script expects nothing".into()) } else { Ok(()) }
}

#[test]
fn scripts_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the folder is there").map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "seg"));
    paths.sort();
    assert!(!paths.is_empty(), "there are scripts");
    let failures: Vec<_> = paths
        .iter()
        .filter_map(|path| {
            let script = fs::read_to_string(path).expect("a script can be read");
            let name = path.file_name().expect("a file has a name").display();
            run(&script).err().map(|error| format!("{name}, {error}"))
        })
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn runner_notices_what_is_wrong() {
    let prelude = "tcp mss = '1000 B'\ntcp initial-window = 1\nsender\n0.0 offer 5000\n";
    for (rest, error) in [
        ("expect seg 0..999", "expected `seg 0..999`, found `seg 0..1000`"),
        ("expect seg 0..1000\nexpect seg 1000..2000", "nothing was sent"),
        ("0.1 ack 1000", "unexpected: seg 0..1000"),
        ("expect seg 0..1000\nexpect cwnd 7", "expected `7`, found `1000`"),
        ("expect seg 0..1000\n2.0 ack 1000", "the timer expired at 1.0"),
        ("expect seg 0..1000\n0.9 timer", "the timer is at 1.0"),
        ("expect seg 0..1000\nexpect event timeout", "no such event"),
    ] {
        let found = run(&format!("{prelude}{rest}")).expect_err("the script is wrong");
        assert!(found.contains(error), "{found}");
    }
}
