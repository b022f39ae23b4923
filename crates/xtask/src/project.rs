//! The project's files.

use std::path::{Path, PathBuf};

/// The project's top folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file of the project.
///
/// # Panics
/// If it cannot be read: the project is not whole.
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
