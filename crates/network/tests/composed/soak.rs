//! `make soak`: fresh scenarios for as long as told.
//!
//! Scenarios run in processes of their own, so that one that never ends, or takes the process with it, is a failure like any
//! other.

#![allow(clippy::print_stdout, reason = "a command talks to its user")]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    time::Duration,
};

use celltrain_network::scenario::Scenario;

use crate::{
    generate::case,
    invariants::{Outcome, look_for},
    schema::Schema,
    shrink::shrunk,
};

/// What a worker is told: seed, its first scenario, the distance to the next.
const WORK: &str = "CELLTRAIN_SOAK_WORK";
/// Kinds of failures that have been printed in full, by lines.
const SHOWN: &str = "CELLTRAIN_SOAK_SHOWN";
/// The kinds of failures that are looked for alone, by what they begin with, such as `equal`.
const ASKED: &str = "KIND";
/// How long a scenario may take, in seconds, before its process is ended: a hundred times as long as any should.
const PATIENCE: u64 = 180;
/// How many failures of a kind are shrunk and printed in full.
const IN_FULL: u64 = 1;
/// What a worker's lines begin with: of other lines its parent takes no notice.
const MARK: &str = "@soak ";

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: expected a whole number, found \"{text}\"")))
}

/// A seed that nobody chose: from the keys that the operating system gives each process's hash tables.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one("celltrain") >> 24
}

/// Looks at scenarios one after the other, and says what comes of them on standard output.
#[test]
#[ignore = "the worker of `make soak`"]
fn worker() {
    let Ok(work) = std::env::var(WORK) else { return };
    let mut numbers = work.split(' ').map(|number| number.parse::<u64>().expect("a number"));
    let mut next = || numbers.next().expect("three numbers");
    let (seed, first, step) = (next(), next(), next());
    let schema = Schema::new();
    let shown = std::env::var(SHOWN).unwrap_or_default();
    let asked = std::env::var(ASKED).unwrap_or_default();
    let mut in_full: BTreeMap<String, u64> = shown.lines().map(|kind| (kind.to_owned(), IN_FULL)).collect();
    for index in (0..).map(|number| first + number * step) {
        say(&format!("begin {index}"));
        let made = case(&schema, seed, index, true);
        match look_for(&made.text, &asked) {
            Outcome::Refused => say("refused"),
            Outcome::Ran { hops, failures, busy } => {
                busy.iter().for_each(|fact| say(&format!("busy {fact}")));
                for failure in failures {
                    say(&format!("failed {}", failure.kind));
                    let shown = in_full.entry(failure.kind.clone()).or_default();
                    *shown += 1;
                    if *shown > IN_FULL {
                        continue;
                    }
                    let (small, now) = shrunk(&made.text, &failure.kind, &|| say("alive"));
                    let detail = now.unwrap_or(failure.clone()).detail;
                    let block = block(seed, index, &failure.kind, &detail, &small);
                    block.lines().for_each(|line| say(&format!("print {line}")));
                }
                say(&format!("ran {hops}"));
            }
        }
        if made.redrawn {
            say("redrawn");
        }
    }
}

fn say(line: &str) {
    // Straight to the file: the test harness keeps what is printed.
    let mut out = std::io::stdout().lock();
    writeln!(out, "{MARK}{line}").and_then(|()| out.flush()).unwrap_or_else(|_| std::process::exit(0));
}

/// A failure as it is printed.
fn block(seed: u64, index: u64, kind: &str, detail: &str, text: &str) -> String {
    format!("FAILED {kind}\n  seed {seed}, scenario {index}\n  {}\n{text}\n", detail.replace('\n', "\n  "))
}

/// A process that looks at scenarios, and where it is.
struct Worker {
    child: Child,
    lines: Receiver<String>,
    index: u64,
    waited: u64,
}

impl Worker {
    /// A worker that does not print failures of the kinds in `shown` again.
    fn start(seed: u64, first: u64, step: u64, shown: &BTreeMap<String, u64>) -> Self {
        let shown: Vec<_> = shown.keys().map(String::as_str).collect();
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--ignored", "--exact", "soak::worker", "--nocapture"])
            .env(WORK, format!("{seed} {first} {step}"))
            .env(SHOWN, shown.join("\n"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("another process of this program");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::sync_channel(10_000);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, line)) = line.split_once(MARK)
                    && sender.send(line.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        Self { child, lines, index: first, waited: 0 }
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What has come of all scenarios so far.
#[derive(Default)]
struct Tally {
    scenarios: u64,
    refused: u64,
    redrawn: u64,
    hops: u64,
    failed: u64,
    kinds: BTreeMap<String, u64>,
    /// In how many scenarios what is registered had something to do.
    busy: BTreeMap<String, u64>,
}

impl Tally {
    fn hear(&mut self, worker: &mut Worker, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "begin" => worker.index = rest.parse().expect("a number"),
            "refused" => {
                self.scenarios += 1;
                self.refused += 1;
            }
            "redrawn" => self.redrawn += 1,
            "ran" => {
                self.scenarios += 1;
                self.hops += rest.parse::<u64>().expect("a number");
            }
            "failed" => self.fail(rest),
            "busy" => *self.busy.entry(rest.to_owned()).or_default() += 1,
            "alive" => {}
            "print" => println!("{rest}"),
            _ => unreachable!("a worker says \"{line}\""),
        }
    }

    fn fail(&mut self, kind: &str) {
        let count = self.kinds.entry(kind.to_owned()).or_default();
        *count += 1;
        self.failed += 1;
    }
}

/// Runs until the time or the scenarios are used up: `SECONDS`, `SCENARIOS`, `SEED` and `JOBS` in the environment.
#[test]
#[ignore = "as long as told: `make soak`"]
fn soak() {
    let seed = environment("SEED").unwrap_or_else(fresh_seed);
    let jobs = environment("JOBS").unwrap_or(1).max(1);
    let scenarios = environment("SCENARIOS");
    let most_seconds = environment("SECONDS").unwrap_or(if scenarios.is_some() { u64::MAX } else { 60 });
    println!("seed {seed}");
    let schema = Schema::new();
    let mut tally = Tally::default();
    let mut workers: Vec<_> = (0..jobs).map(|first| Worker::start(seed, first, jobs, &tally.kinds)).collect();
    let ticks = ticks();
    let (mut passed, most) = (0, scenarios.unwrap_or(u64::MAX));
    while passed < most_seconds && tally.scenarios < most {
        let is_tick = ticks.recv_timeout(Duration::from_millis(20)).is_ok();
        passed += u64::from(is_tick);
        for worker in &mut workers {
            let stopped = attend(worker, &mut tally, is_tick);
            if let Some(why) = stopped {
                tally.scenarios += 1;
                tally.fail(why);
                println!(
                    "{}",
                    block(seed, worker.index, why, "", &case(&schema, seed, worker.index, true).text)
                );
                worker.end();
                *worker = Worker::start(seed, worker.index + jobs, jobs, &tally.kinds);
            }
        }
    }
    workers.iter_mut().for_each(Worker::end);
    let Tally { scenarios, refused, redrawn, hops, failed, kinds, busy } = tally;
    let busy: Vec<_> = busy.iter().map(|(fact, count)| format!("{fact} {count}")).collect();
    println!("scenarios in which {}", busy.join(", "));
    println!(
        "{scenarios} scenarios (seed {seed}), {refused} refused, {redrawn} repaired, {hops} cell-hops, {failed} failures"
    );
    for (kind, count) in &kinds {
        println!("{count:>7}  {kind}");
    }
    if failed > 0 {
        std::process::exit(1);
    }
}

/// Takes notice of what a worker says; why it has to be replaced, if it has.
fn attend(worker: &mut Worker, tally: &mut Tally, is_tick: bool) -> Option<&'static str> {
    let mut silent = true;
    loop {
        match worker.lines.recv_timeout(Duration::ZERO) {
            Ok(line) => {
                tally.hear(worker, &line);
                silent = false;
            }
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return Some("the process ended"),
        }
    }
    worker.waited = if silent { worker.waited + u64::from(is_tick) } else { 0 };
    (worker.waited > PATIENCE).then_some("does not end")
}

/// One message a second.
fn ticks() -> Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        while sender.send(()).is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    receiver
}

/// Looks at the scenario in `FILE`, from the side of `KIND` if that is given, and prints what does not hold, with every panic:
/// `FILE=… cargo test -p celltrain-network --test composed -- --ignored --exact soak::one --nocapture`.
#[test]
#[ignore = "for a file of one's own"]
fn one() {
    crate::panics::print();
    let file = std::env::var("FILE").expect("FILE names a scenario");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    match look_for(&text, &std::env::var(ASKED).unwrap_or_default()) {
        Outcome::Refused => println!("refused"),
        Outcome::Ran { hops, failures, .. } => {
            failures.iter().for_each(|failure| println!("FAILED {}\n  {}", failure.kind, failure.detail));
            println!("{hops} cell-hops, {} failures", failures.len());
        }
    }
}

/// Writes the first `SCENARIOS` scenarios of `SEED` that are accepted into `FOLDER`, for what is made of their results:
/// `make soak-experiments`.
#[test]
#[ignore = "for `make soak-experiments`"]
fn write() {
    let folder = std::env::var("FOLDER").expect("FOLDER names a folder");
    let seed = environment("SEED").unwrap_or_else(fresh_seed);
    let schema = Schema::new();
    let accepted = |text: &str| {
        Scenario::from_toml(text, "", &[])
            .and_then(|scenario| scenario.graph())
            .is_ok()
            .then(|| text.to_owned())
    };
    let texts = (0..).filter_map(|index| Some((index, accepted(&case(&schema, seed, index, true).text)?)));
    for (index, text) in texts.take(environment("SCENARIOS").unwrap_or(100) as usize) {
        let file = std::path::Path::new(&folder).join(format!("{seed}-{index}.toml"));
        std::fs::write(&file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}
