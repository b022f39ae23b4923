//! Files that are read: scenarios, and what they embed.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::Path,
};

use celltrain_engine::names::nearest;

/// The largest file that is read, in bytes.
pub const MAX_FILE: u64 = 16 << 20;

/// Reads a file of bounded size as text.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| {
        let meant = if error.kind() == ErrorKind::NotFound { near(path) } else { None };
        let hint = meant.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"));
        format!("cannot be read: {error}{hint}")
    })?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("is larger than {} MB: not a scenario file", MAX_FILE >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 text (byte {}): not a scenario file", error.utf8_error().valid_up_to())
    })
}

/// The name of a file in the folder of `path` that is nearest to its own.
fn near(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().ok()?.filter_map(Result::ok).filter(|entry| entry.path().is_file());
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}
