//! Exported runs as files.

use std::fs::File;
use std::io::{Error, Read, Result, stdin};
use std::path::Path;

/// The largest document that is read.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// The text of a document; `-` stands for stdin.
pub(super) fn read(path: &Path) -> Result<String> {
    if path == Path::new("-") { bounded(stdin().lock()) } else { bounded(File::open(path)?) }
}

fn bounded(from: impl Read) -> Result<String> {
    let mut text = String::new();
    // One byte more than allowed is enough to see that it is too large.
    from.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Error::other(format!("it is larger than {MAX_BYTES} bytes")));
    }
    Ok(text)
}
