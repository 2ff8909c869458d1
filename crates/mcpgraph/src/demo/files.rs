use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use mcpgraph_value::{Map, Value};

use super::Answer;

/// The files below one folder.
pub(super) struct Files {
    root: PathBuf,
}

/// The most entries a listing shows.
const MAX_ENTRIES: usize = 10_000;

/// The largest file that is read: 1 MiB.
const MAX_FILE_BYTES: u64 = 1 << 20;

impl Files {
    pub(super) fn below(root: &Path) -> io::Result<Self> {
        Ok(Self { root: root.canonicalize()? })
    }

    /// The entries of a folder, in the form of the reference file server: a line each.
    pub(super) fn list(&self, path: &str) -> Answer {
        let path = self.resolve(path)?;
        let listing = fs::read_dir(&path).map_err(|error| error.to_string())?;
        let mut lines = Vec::new();
        for entry in listing {
            let entry = entry.map_err(|error| error.to_string())?;
            let mark = if entry.path().is_dir() { "[DIR]" } else { "[FILE]" };
            lines.push(format!("{mark} {}", entry.file_name().to_string_lossy()));
            if lines.len() > MAX_ENTRIES {
                return Err(format!("the folder has more than {MAX_ENTRIES} entries"));
            }
        }
        lines.sort();
        Ok(Map::from_iter([("content", lines.join("\n"))]).into())
    }

    pub(super) fn read(&self, path: &str) -> Answer {
        let path = self.resolve(path)?;
        let file = fs::File::open(&path).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(format!("the file is larger than {MAX_FILE_BYTES} bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| String::from("the file is not text"))?;
        Ok(Map::from_iter([("content", Value::from(text))]).into())
    }

    /// The real path of what is asked for, which must be below the root however it is written.
    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        mcpgraph_files::below(&self.root, path).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_root_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("inner")).unwrap();
        fs::write(root.join("a.txt"), "hello").unwrap();
        fs::write(dir.path().join("secret"), "no").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), root.join("link")).unwrap();
        let files = Files::below(&root).unwrap();

        let listing = files.list(".").unwrap();
        assert_eq!(
            listing.get("content").unwrap().as_str(),
            Some("[DIR] inner\n[FILE] a.txt\n[FILE] link")
        );
        assert_eq!(files.read("a.txt").unwrap().get("content"), Some(&"hello".into()));
        for path in ["../secret", "link", "/etc/passwd", "inner/../../secret", "missing", "a.txt\0"]
        {
            assert!(files.read(path).is_err(), "{path}");
        }
    }
}
