//! Runs the cell scripts under `tests/conformance/abr/` at the root of the repository; `README.md` there explains
//! their form.

use std::{collections::VecDeque, fs, path::Path};

use celltrain_atm::abr::{Choice, Params, Rate, RateCoding, RmCell, Source, Waiting};
use celltrain_engine::{
    Time,
    time::{NEVER, SECOND},
};

/// What a line of a script comes to; an error says what is wrong, without the place.
type Outcome<T = ()> = Result<T, String>;

/// A script while it runs.
#[derive(Default)]
struct Run {
    table: String,
    source: Option<Source>,
    now: Time,
    /// Data cells and BRMs that wait.
    data: u64,
    brms: u64,
    /// What the source has sent and the script has not expected yet.
    sent: VecDeque<(Time, Choice)>,
}

impl Run {
    fn line(&mut self, line: &str) -> Outcome {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[0] {
            "abr" => self.table += &format!("{}\n", line["abr".len()..].trim()),
            "source" => self.start(words.get(1).ok_or("a source on what link?")?)?,
            "expect" => self.expect(&words[1..])?,
            _ => self.input(&words)?,
        }
        Ok(())
    }

    fn start(&mut self, link: &str) -> Outcome {
        let params: Params = toml::from_str(&self.table).map_err(|error| error.to_string())?;
        let source = Source::new(&params, rate(link)?);
        self.source = Some(source.map_err(|error| format!("{}: {}", error.key, error.message))?);
        Ok(())
    }

    fn source(&mut self) -> Outcome<&mut Source> {
        self.source.as_mut().ok_or_else(|| "say `source` first".into())
    }

    fn waiting(&self) -> Waiting {
        Waiting { data: self.data > 0, brm: self.brms > 0 }
    }

    fn next(&mut self) -> Outcome<Time> {
        let (waiting, now) = (self.waiting(), self.now);
        Ok(self.source()?.next_time(waiting).max(now))
    }

    /// Lets the source send what is due before `end`.
    fn send_before(&mut self, end: Time) -> Outcome {
        loop {
            let next = self.next()?;
            if next >= end {
                return Ok(());
            }
            self.now = next;
            let waiting = self.waiting();
            let choice = self.source()?.send(next, waiting);
            match choice {
                Choice::Data => self.data -= 1,
                Choice::Brm => self.brms -= 1,
                Choice::Nothing => {
                    return Err(format!("nothing to send at {}, against next_time", show(next)));
                }
                Choice::Frm(_) | Choice::OutOfRateFrm(_) => {}
            }
            self.sent.push_back((next, choice));
        }
    }

    /// A line `<time> <what happens>`: first all that is due before goes, then what is due because of it.
    fn input(&mut self, words: &[&str]) -> Outcome {
        self.nothing_left()?;
        let [at, what, rest @ ..] = words else { return Err("expected `<time> <what happens>`".into()) };
        let at = time(at)?;
        if at < self.now {
            return Err("time goes backwards".into());
        }
        self.send_before(at)?;
        self.now = at;
        let number =
            || rest.first().map_or(Ok(1), |word| word.parse::<u64>()).map_err(|error| error.to_string());
        match *what {
            "data" => self.data += number()?,
            "turn" => self.brms += number()?,
            "brm" => {
                let rm = answer(rest)?;
                self.source()?.on_brm(&rm);
            }
            "go" => {}
            _ => return Err(format!("`{what}` cannot happen")),
        }
        self.send_before(at + 1)
    }

    /// A line `expect …`.
    fn expect(&mut self, words: &[&str]) -> Outcome {
        match words {
            ["nothing"] => self.nothing_left(),
            ["next", at] => same("next", &show(self.next()?), at),
            ["acr", cells] => same("acr", &self.source()?.acr().cells().to_string(), cells),
            ["frm" | "out-of-rate", at, "ccr", cells] => {
                let expected = format!("{} {at} ccr {cells}", words[0]);
                same("sent", &self.describe_next()?, &expected)
            }
            ["data" | "brm", times @ ..] => times
                .iter()
                .try_for_each(|at| same("sent", &self.describe_next()?, &format!("{} {at}", words[0]))),
            _ => Err("this cannot be expected".into()),
        }
    }

    fn describe_next(&mut self) -> Outcome<String> {
        self.sent.pop_front().map(describe).ok_or_else(|| "nothing was sent".into())
    }

    fn nothing_left(&self) -> Outcome {
        match self.sent.front() {
            None => Ok(()),
            Some(&cell) => Err(format!("unexpected: {}", describe(cell))),
        }
    }
}

/// A BRM that arrives: `er RATE`, `ci`, `ni`, `bn`.
fn answer(words: &[&str]) -> Outcome<RmCell> {
    let forward = RmCell::forward(Rate::of_cells(1e6), Rate::ZERO, Rate::ZERO, RateCoding::Exact);
    let mut rm = if words.contains(&"bn") {
        RmCell::notification(Rate::of_cells(1e6), Rate::ZERO, RateCoding::Exact)
    } else {
        forward.turned()
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "er" => rm.lower_er(rate(words.next().ok_or("er what?")?)?),
            "ci" => rm.set_ci(),
            "ni" => rm.set_ni(),
            "bn" => {}
            _ => return Err(format!("a BRM has no `{word}`")),
        }
    }
    Ok(rm)
}

/// Writes a cell as scripts do.
fn describe((at, choice): (Time, Choice)) -> String {
    let at = show(at);
    match choice {
        Choice::Frm(rm) => format!("frm {at} ccr {}", rm.ccr().cells()),
        Choice::OutOfRateFrm(rm) => format!("out-of-rate {at} ccr {}", rm.ccr().cells()),
        Choice::Brm => format!("brm {at}"),
        Choice::Data => format!("data {at}"),
        Choice::Nothing => "nothing".into(),
    }
}

fn same(what: &str, found: &str, expected: &str) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: expected `{expected}`, found `{found}`")) }
}

fn rate(cells: &str) -> Outcome<Rate> {
    format!("{cells} cells/s").parse()
}

/// A time in seconds, exact to the picosecond.
fn time(text: &str) -> Outcome<Time> {
    let duration = format!("{text} s").parse::<celltrain_engine::quantity::Duration>();
    duration.map(|duration| duration.ps()).map_err(|error| error.to_string())
}

/// A time as scripts write it.
fn show(time: Time) -> String {
    if time == NEVER {
        return "never".into();
    }
    let fraction = format!("{:012}", time % SECOND);
    let fraction = fraction.trim_end_matches('0');
    format!("{}.{}", time / SECOND, if fraction.is_empty() { "0" } else { fraction })
}

fn run(script: &str) -> Outcome {
    let mut run = Run::default();
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/abr");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cells"));
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
    let prelude = "abr nrm = 4\nsource 1000\n0.0 data 9\n";
    for (rest, error) in [
        ("expect frm 0.0 ccr 999", "expected `frm 0.0 ccr 999`, found `frm 0.0 ccr 1000`"),
        ("expect frm 0.0 ccr 1000\nexpect data 0.001", "nothing was sent"),
        ("0.01 go", "unexpected: frm 0.0 ccr 1000"),
        ("expect frm 0.0 ccr 1000\nexpect acr 7", "expected `7`, found `1000`"),
        ("expect frm 0.0 ccr 1000\nexpect next 0.002", "expected `0.002`, found `0.001`"),
        ("expect frm 0.0 ccr 1000\n0.002 go\nexpect brm 0.001", "found `data 0.001`"),
    ] {
        let found = run(&format!("{prelude}{rest}")).expect_err("the script is wrong");
        assert!(found.contains(error), "{found}");
    }
    let found = run("abr mcr = '2000 cells/s'\nsource 1000").expect_err("the parameters are wrong");
    assert!(found.contains("mcr: the minimum (2000 cells/s) is above the peak (1000 cells/s)"), "{found}");
}
