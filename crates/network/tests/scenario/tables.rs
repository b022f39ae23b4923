//! Parameters of what is not chosen: a fault in them is found before anybody chooses it.

use celltrain_network::scenario::Scenario;

const SCENARIO: &str = "
schema = 1
name = 'tables'
duration = '1 s'
switch.discard.policy = 'tail-drop'
[topology]
kind = 'n-source'
sources = 2
[traffic]
kind = 'greedy'
";

fn set(settings: &[(&str, &str)]) -> Result<(), String> {
    let overrides: Vec<_> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let read = Scenario::from_toml(SCENARIO, "tables.toml", &overrides);
    read.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn a_rule_is_compiled_whichever_policy_is_chosen() {
    for rule in ["foo bar", "occupancy < low || ", "occupancy + 3"] {
        for policy in ["script", "tail-drop", "espd"] {
            let rule = format!("\"{rule}\"");
            let found = set(&[("switch.discard.policy", policy), ("switch.discard.script.rule", &rule)]);
            let message = found.expect_err(policy);
            assert!(message.contains(": switch.discard.script.rule: line 1"), "{policy}: {message}");
        }
    }
    let port =
        "[[port]]\nfrom = 'switch'\nto = 'dest1'\ndiscard = { policy = 'epd', script = { rule = 'high' } }\n";
    let text = format!("{SCENARIO}{port}");
    let message = Scenario::from_toml(&text, "tables.toml", &[]).expect_err("no truth").to_string();
    assert!(message.contains("port.0.discard.script.rule"), "{message}");
}

#[test]
fn parameters_of_what_is_not_chosen_are_checked_as_far_as_they_are_wrong_at_any_port() {
    let wrong = [
        ("switch.discard.red.max-p", "1.5"),
        ("switch.discard.red.typical-frame", "0"),
        ("switch.discard.pie.alpha", "0.0"),
        ("switch.discard.codel.target", "0 ms"),
        ("switch.discard.cobalt.interval", "0 ms"),
        ("switch.discard.fq-codel.interval", "0 ms"),
        ("switch.discard.dualpi2.coupling", "0.0"),
        ("switch.discard.dfba.alpha", "2.0"),
        ("switch.discard.dynamic-threshold.alpha", "0.0"),
        ("switch.discard.espd-original.red-limit", "0"),
        ("switch.discard.virtual-queuing.update-interval", "3"),
        ("switch.discard.improved-virtual-queuing.update-interval", "3"),
        ("switch.scheduler.deficit-round-robin.quantum", "0"),
        ("switch.scheduler.dual-queue.classic-share", "1.0"),
        ("switch.scheduler.flow-queue.ways", "0"),
    ];
    for (key, value) in wrong {
        let message = set(&[(key, value)]).expect_err(key);
        assert!(message.contains(&format!(": {key}: ")), "{message}");
    }
    let allocators = [
        ("erica.target-utilisation", "1.5"),
        ("erica.feedback.delta", "2.0"),
        ("erica-plus.queue-control.a", "0.5"),
        ("erica-plus.interval.cells", "0"),
        ("eprca.averaging", "2.0"),
        ("capc.up", "2.0"),
    ];
    for (key, value) in allocators {
        let key = format!("switch.allocator.{key}");
        let settings =
            [("vc.category", "abr"), ("switch.allocator.algorithm", "efci"), (key.as_str(), value)];
        let message = set(&settings).expect_err(&key);
        // The length of an interval is a table.
        assert!(message.contains(&format!(": {}: ", key.trim_end_matches(".cells"))), "{message}");
    }
}

#[test]
fn levels_that_suit_another_buffer_may_wait_for_it() {
    let settings = [("switch.buffer", "100 cells"), ("switch.discard.epd.threshold", "1500 cells")];
    assert_eq!(set(&settings), Ok(()));
}
