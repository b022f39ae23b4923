//! Panics as exceptions: what the core says when it finds itself wrong.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    env,
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook},
    sync::{Mutex, Once, PoisonError},
    thread,
};

use celltrain_engine::parts;
use pyo3::{create_exception, exceptions::PyException, prelude::*};

create_exception!(
    _core,
    Panic,
    PyException,
    "The core found itself wrong: what it says, and the place in its source."
);

thread_local! {
    /// Whether this thread is inside [`caught`].
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    /// Where its last panic was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Where the last panic was in a thread of a run in parts: the thread that [`caught`] watches goes on with it.
static PLACE_IN_PART: Mutex<String> = Mutex::new(String::new());

/// Calls `work`; a panic becomes a [`Panic`] and prints nothing, unless `RUST_BACKTRACE` asks for a trace.
pub(crate) fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| note(info, &previous)));
    });
    let was_watched = WATCHED.replace(true);
    // What `work` leaves behind half done is dropped: nothing of it is looked at again.
    let result = catch_unwind(AssertUnwindSafe(work));
    WATCHED.set(was_watched);
    result.unwrap_or_else(|payload| {
        let place = Some(PLACE.take()).filter(|place| !place.is_empty());
        let place =
            place.unwrap_or_else(|| PLACE_IN_PART.lock().unwrap_or_else(PoisonError::into_inner).clone());
        Err(Panic::new_err((message(&*payload), place)))
    })
}

/// The panic hook of all threads.
fn note(info: &PanicHookInfo<'_>, previous: &dyn Fn(&PanicHookInfo<'_>)) {
    let in_part = thread::current().name() == Some(parts::THREAD);
    let place =
        || info.location().map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
    if WATCHED.get() {
        PLACE.set(place());
    } else if in_part {
        *PLACE_IN_PART.lock().unwrap_or_else(PoisonError::into_inner) = place();
    }
    if !(WATCHED.get() || in_part) || env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        previous(info);
    }
}

/// What a panic says, on one line.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text =
        text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
