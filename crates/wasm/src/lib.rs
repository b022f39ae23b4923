//! The engine for a browser: load a scenario, advance, look, finish.
//!
//! The interface is bytes: a caller writes into the input buffer, calls a function, and reads the output buffer. Texts are UTF-8,
//! tables are 64-bit floating-point numbers in little-endian order, whose columns [`view`] names. There is one run at a time;
//! a page that wants two starts two workers. Nothing here decides anything: it is [`celltrain_network::live`] in bytes.

// The names of exported functions are the interface; nothing else here is unsafe.
#![allow(unsafe_code)]

mod describe;
mod lab;
mod view;

use std::cell::RefCell;

use self::lab::Lab;

/// What the caller has written, and what it may read.
#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
    static LAB: RefCell<Option<Lab>> = const { RefCell::new(None) };
}

/// The function did what it is there for.
const DONE: u32 = 0;
/// It could not; the output says why.
const REFUSED: u32 = 1;
/// The reason for refusing a call that needs a scenario before one is loaded.
const NOTHING_LOADED: &[u8] = b"no scenario is loaded";

/// Makes the input buffer `length` bytes long and returns where it is.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    BUFFERS.with_borrow_mut(|buffers| {
        buffers.input = vec![0; length];
        buffers.input.as_mut_ptr()
    })
}

/// Where the output is, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    BUFFERS.with_borrow(|buffers| buffers.output.as_ptr())
}

/// How many bytes of output there are.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    BUFFERS.with_borrow(|buffers| buffers.output.len())
}

/// Loads the scenario in the input, `{"name", "toml", "set": [[key, value], …]}`, at time 0. The output describes it as JSON, or says
/// why it was refused; a run loaded before goes on then.
#[unsafe(no_mangle)]
pub extern "C" fn load() -> u32 {
    std::panic::set_hook(Box::new(|defect| tell(&defect.to_string())));
    let input = BUFFERS.with_borrow_mut(|buffers| std::mem::take(&mut buffers.input));
    match Lab::load(&input) {
        Ok((lab, description)) => {
            LAB.set(Some(lab));
            answer(description.into_bytes(), DONE)
        }
        Err(message) => answer(message.into_bytes(), REFUSED),
    }
}

/// Runs until `until` picoseconds, sampling every `period` on the way. The output is the view of what happened since the last call.
#[unsafe(no_mangle)]
pub extern "C" fn advance(until: f64, period: f64) -> u32 {
    with_lab(|lab| lab.advance(until as u64, period as u64))
}

/// The output is the view of where everything is now.
#[unsafe(no_mangle)]
pub extern "C" fn look() -> u32 {
    with_lab(|lab| lab.look())
}

/// Runs to the end. The output is the fingerprint and the measures as JSON; the run is gone.
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> u32 {
    match LAB.take() {
        Some(lab) => answer(lab.finish().into_bytes(), DONE),
        None => answer(NOTHING_LOADED.to_vec(), REFUSED),
    }
}

/// The output is the scenario with all that was set, as TOML.
#[unsafe(no_mangle)]
pub extern "C" fn scenario() -> u32 {
    with_lab(|lab| lab.scenario().into_bytes())
}

/// Leaves the words of a panic in the output; the trap that follows ends the module.
fn tell(defect: &str) {
    BUFFERS.with(|buffers| {
        if let Ok(mut buffers) = buffers.try_borrow_mut() {
            buffers.output = defect.as_bytes().to_vec();
        }
    });
}

/// Answers with what `work` makes of the run that is loaded.
fn with_lab(work: impl FnOnce(&mut Lab) -> Vec<u8>) -> u32 {
    match LAB.with_borrow_mut(|lab| lab.as_mut().map(work)) {
        Some(output) => answer(output, DONE),
        None => answer(NOTHING_LOADED.to_vec(), REFUSED),
    }
}

fn answer(output: Vec<u8>, status: u32) -> u32 {
    BUFFERS.with_borrow_mut(|buffers| buffers.output = output);
    status
}
