//! Tasks of the project's own: `cargo xtask generate`, `cargo xtask check`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod catalogue;
mod cores;
mod generated;
mod instructions;
mod markdown;
mod project;
mod scenario_page;
mod tcp_conformance;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  generate      write the files that are derived from the code
  check         fail if one of them is not what `generate` would write
  instructions  run a short benchmark, or a SCENARIO given, for callgrind to count (`make instructions`);
                `--store-queues SCENARIO` with ports that store their queues, `--threads N SCENARIO` in up to N threads
  cores SCENARIO THREADS ROUNDS
                time runs on one core and on several, alternately
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate"] => generated::write(),
        ["check"] => generated::check(),
        ["instructions"] => instructions::run(None, false, "1"),
        ["instructions", "--store-queues", scenario] => instructions::run(Some(scenario), true, "1"),
        ["instructions", "--threads", threads, scenario] => instructions::run(Some(scenario), false, threads),
        ["instructions", scenario] => instructions::run(Some(scenario), false, "1"),
        ["cores", scenario, threads, rounds] => cores::run(scenario, threads, rounds),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
