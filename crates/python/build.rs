//! Gives the module the hash of the sources it is built from, so that results of different code are never mixed.
//!
//! Only what results depend on counts, and in a form that is the same in a clone, in a copy without git and in a source
//! distribution: the Rust sources of the crates that are linked in, by their paths in the project, and `Cargo.lock`.

use std::{
    env, fs,
    io::Result,
    path::{Path, PathBuf},
};

#[path = "src/fnv.rs"]
mod fnv;

/// The crates that simulate, beside this one.
const CRATES: [&str; 5] = ["atm", "engine", "network", "python", "tcp"];

fn main() -> Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let mut files = vec![PathBuf::from("Cargo.lock")];
    for name in CRATES {
        let sources = Path::new("crates").join(name).join("src");
        println!("cargo::rerun-if-changed={}", root.join(&sources).display());
        collect(&root, &sources, &mut files)?;
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
    println!("cargo::rerun-if-changed=build.rs");

    let mut named: Vec<(String, PathBuf)> =
        files.into_iter().map(|file| (portable(&file), root.join(file))).collect();
    named.sort();
    let mut hash = fnv::Fnv::new();
    for (name, file) in named {
        let content = fs::read(file)?;
        hash.add(format!("{name} {}\n", content.len()).as_bytes());
        hash.add(&content);
    }
    println!("cargo::rustc-env=CELLTRAIN_SOURCE={}", hash.digits());
    Ok(())
}

/// Adds the Rust sources in a folder and those below it.
fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let place = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(root, &place, files)?;
        } else if place.extension().is_some_and(|extension| extension == "rs") {
            files.push(place);
        }
    }
    Ok(())
}

/// A path in the project with the same text on every platform.
fn portable(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}
