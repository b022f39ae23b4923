//! Panics as values.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    cell::RefCell,
    panic::AssertUnwindSafe,
    sync::Once,
};

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
    static SILENT: RefCell<bool> = const { RefCell::new(false) };
}

/// What `run` answers, or where and with which words it panicked. The panic is not printed.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !SILENT.with_borrow(|silent| *silent) {
                return usual(info);
            }
            let payload = info.payload();
            let words = payload.downcast_ref::<&str>().copied().map(str::to_owned);
            let words = words.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            let place = info.location().map_or_else(String::new, |place| format!("{place}: "));
            let trace = Backtrace::capture();
            let trace = if trace.status() == BacktraceStatus::Captured {
                format!("\n{trace}")
            } else {
                String::new()
            };
            LAST.set(Some(place + &words + &trace));
        }));
    });
    let before = SILENT.replace(true);
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(run));
    SILENT.set(before);
    outcome.map_err(|_| LAST.take().unwrap_or_else(|| "a panic without words".to_owned()))
}
