//! Memory that large networks leave.

/// From how many links on what a network leaves is given back to the system: some ten megabytes. Less is needed again soon.
const LARGE: usize = 1 << 12;

/// Gives back to the system, when it is dropped, what was freed of a network of so many links, if that was a large one. The allocator of glibc
/// keeps what a thread has freed, and what other threads allocate comes on top of it.
pub(crate) struct GiveBack(pub(crate) usize);

impl Drop for GiveBack {
    fn drop(&mut self) {
        if self.0 >= LARGE {
            trim();
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "there is no safe call; this one takes no pointer, and any thread may make it"
)]
fn trim() {
    // SAFETY: pages that hold nothing allocated are given back, and nothing else happens.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators give back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const fn trim() {}
