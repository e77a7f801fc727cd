//! Credentials for Ironic: two files in a folder. No folder: Ironic wants no credentials.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::client::BasicAuth;

/// Why credentials cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// A file or folder that is there but cannot be read.
    #[error("cannot read Ironic's credentials in {}: {error}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// No user.
    #[error("empty HTTP Basic Auth username: write the user into {}", .0.display())]
    EmptyUsername(PathBuf),
    /// No password.
    #[error("empty HTTP Basic Auth password: write the password into {}", .0.display())]
    EmptyPassword(PathBuf),
}

/// Reads `<root>/ironic/username` and `<root>/ironic/password`.
pub fn load(root: &str) -> Result<Option<BasicAuth>, AuthError> {
    let folder = Path::new(root).join("ironic");
    match fs::metadata(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(AuthError::Unreadable { path: folder, error }),
        Ok(_) => {}
    }
    let read = |name: &str| {
        let path = folder.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok((text.trim().to_owned(), path)),
            Err(error) => Err(AuthError::Unreadable { path, error }),
        }
    };
    let (username, path) = read("username")?;
    if username.is_empty() {
        return Err(AuthError::EmptyUsername(path));
    }
    let (password, path) = read("password")?;
    if password.is_empty() {
        return Err(AuthError::EmptyPassword(path));
    }
    Ok(Some(BasicAuth {
        username,
        password: password.into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::load;
    use std::fs;

    #[test]
    fn folder_and_files() {
        let root = tempfile::tempdir().unwrap();
        let text = root.path().to_str().unwrap();
        assert_eq!(load(text).unwrap(), None);

        let folder = root.path().join("ironic");
        fs::create_dir(&folder).unwrap();
        assert!(load(text).unwrap_err().to_string().contains("username"));

        let table = [
            ("testuser\n", " testpassword ", Ok("testuser")),
            ("\n", "testpassword", Err("empty HTTP Basic Auth username")),
            ("testuser", " ", Err("empty HTTP Basic Auth password")),
        ];
        for (username, password, expected) in table {
            fs::write(folder.join("username"), username).unwrap();
            fs::write(folder.join("password"), password).unwrap();
            match (load(text), expected) {
                (Ok(Some(auth)), Ok(user)) => {
                    assert_eq!(
                        (auth.username.as_str(), auth.password.expose()),
                        (user, "testpassword")
                    );
                    assert!(!format!("{auth:?}").contains("testpassword"));
                }
                (Err(error), Err(text)) => assert!(error.to_string().starts_with(text), "{error}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
