//! Panics as values.

use std::{
    any::Any,
    cell::RefCell,
    panic::AssertUnwindSafe,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
    static SILENT: RefCell<bool> = const { RefCell::new(false) };
}

static PRINTED: AtomicBool = AtomicBool::new(false);

/// From now on panics that are caught are printed too, with what `RUST_BACKTRACE` adds.
pub(crate) fn print() {
    PRINTED.store(true, Ordering::Relaxed);
}

/// What `run` answers, or where and with which words it panicked. The panic is not printed, unless [`print`] asked for it.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let silent = SILENT.with_borrow(|silent| *silent);
            if !silent || PRINTED.load(Ordering::Relaxed) {
                usual(info);
            }
            if !silent {
                return;
            }
            let place = info.location().map_or_else(String::new, |place| format!("{place}: "));
            LAST.set(Some(place + &words(info.payload())));
        }));
    });
    let before = SILENT.replace(true);
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(run));
    SILENT.set(before);
    // Of a panic in another thread only the words come here.
    outcome.map_err(|payload| LAST.take().unwrap_or_else(|| words(&*payload)))
}

fn words(payload: &(dyn Any + Send)) -> String {
    let words = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
    words.unwrap_or_else(|| "a panic without words".to_owned())
}
