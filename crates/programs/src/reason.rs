use std::io;
use std::path::Path;

/// Why a program could not be started, in words that help. The system says the same of a program
/// and of a folder that are not there.
pub fn why_not_started(error: &io::Error, program: &str, cwd: Option<&Path>) -> String {
    let names_place = Path::new(program).components().count() > 1;
    match (error.kind(), cwd) {
        (io::ErrorKind::NotFound, Some(cwd)) if !cwd.is_dir() => {
            format!("its working directory `{}` does not exist", cwd.display())
        }
        (io::ErrorKind::NotADirectory, Some(cwd)) if !cwd.is_dir() => {
            format!("its working directory `{}` is not a folder", cwd.display())
        }
        (io::ErrorKind::NotFound, _) if names_place => {
            match cwd.unwrap_or(Path::new("")).join(program) {
                // A script names the program that runs it.
                path if path.is_file() => {
                    "the program that its first line names does not exist".to_owned()
                }
                _ => "there is no such file".to_owned(),
            }
        }
        (io::ErrorKind::NotFound, _) => "there is no such program in PATH".to_owned(),
        (io::ErrorKind::PermissionDenied, _) => "it may not be executed".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_reason_names_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name).display().to_string();
        fs::write(inside("plain"), "").unwrap();
        fs::write(inside("script"), "#!/no/such/interpreter\n").unwrap();
        fs::set_permissions(inside("script"), fs::Permissions::from_mode(0o755)).unwrap();
        let no_folder = format!("its working directory `{}` does not exist", inside("none"));
        let no_longer = format!("its working directory `{}` is not a folder", inside("plain"));
        for (program, cwd, expected) in [
            ("there-is-no-such-program", None, "there is no such program in PATH"),
            (&inside("none"), None, "there is no such file"),
            ("./none", Some(inside("")), "there is no such file"),
            (&inside("script"), None, "the program that its first line names does not exist"),
            (&inside("plain"), None, "it may not be executed"),
            ("ls", Some(inside("none")), &no_folder),
            ("ls", Some(inside("plain")), &no_longer),
        ] {
            let cwd = cwd.as_deref().map(Path::new);
            let mut command = Command::new(program);
            cwd.map(|cwd| command.current_dir(cwd));
            let error = command.spawn().unwrap_err();
            assert_eq!(why_not_started(&error, program, cwd), expected, "{program} in {cwd:?}");
        }
    }
}
