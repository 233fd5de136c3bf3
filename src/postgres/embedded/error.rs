//! The failures of the embedded Postgres, and what to do about each.

use std::io;
use std::path::PathBuf;

use crate::lasting::Lasting;

/// Why the embedded Postgres did not start or stop. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// A file or folder under the data folder cannot be used.
    #[error("cannot {what} `{}`; the embedded Postgres needs this part of LEVEL3_DATA_DIR", path.display())]
    Folder {
        /// The act that failed, as a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },

    /// The path to `postgres/` holds something else than a cluster.
    #[error("`{}` holds files but no Postgres cluster; move it away, or set LEVEL3_DATA_DIR to another folder", path.display())]
    NotACluster {
        /// The folder.
        path: PathBuf,
    },

    /// No server binaries on this machine.
    #[error(
        "no Postgres server binaries found (looked in PATH, {looked}). Install Postgres 15 or newer: \
         `apt-get install postgresql` (Debian, Ubuntu), `dnf install postgresql-server` (Fedora), `pacman -S postgresql` (Arch), \
         `apk add postgresql` (Alpine), `brew install postgresql@17` (macOS). Or set LEVEL3_POSTGRES_BIN to the folder that holds \
         `postgres` and `initdb`, or DATABASE_URL to a Postgres that runs already"
    )]
    NoBinaries {
        /// Which folders were searched besides PATH.
        looked: String,
    },

    /// The folder that was named holds no server binaries.
    #[error(
        "LEVEL3_POSTGRES_BIN is `{}`, which does not hold both `postgres` and `initdb`; name the folder that does, \
         like /usr/lib/postgresql/15/bin",
        given.display()
    )]
    NotBinaries {
        /// The folder that was named.
        given: PathBuf,
    },

    /// Only versions that are too old were found.
    #[error(
        "Postgres {found} in `{}` is too old: level3 needs {floor} or newer. Install a newer one, or set LEVEL3_POSTGRES_BIN \
         or DATABASE_URL to one",
        folder.display()
    )]
    TooOld {
        /// The version found.
        found: String,
        /// The folder of that version.
        folder: PathBuf,
        /// The oldest major version that will do.
        floor: u32,
    },

    /// The data was made by a major version whose binaries are not here.
    #[error(
        "the data in `{}` was made by Postgres {cluster}, but only {found} is here. Install Postgres {cluster} or set \
         LEVEL3_POSTGRES_BIN to its folder; or move the data with `pg_upgrade`; or set LEVEL3_DATA_DIR to an empty folder",
        folder.display()
    )]
    OtherMajor {
        /// The cluster's folder.
        folder: PathBuf,
        /// The major version that made it.
        cluster: String,
        /// The versions found.
        found: String,
    },

    /// A second program on the same data folder.
    #[error("another level3 runs on `{}`; stop it, or set LEVEL3_DATA_DIR to another folder", folder.display())]
    Busy {
        /// The data folder.
        folder: PathBuf,
    },

    /// Root found nobody to run Postgres as.
    #[error(
        "Postgres refuses to run as root, and {missing}. Make an account (`useradd --system postgres`), run level3 as a normal \
         user, or set DATABASE_URL"
    )]
    NoAccount {
        /// Which account was looked for.
        missing: String,
    },

    /// Root found an account, but it cannot enter the folder and the system gives no user
    /// namespace.
    #[error(
        "Postgres refuses to run as root, and no other account can enter `{}` (a parent folder is closed to others). Set \
         LEVEL3_DATA_DIR to a folder that others may enter, like /var/lib/level3; or run level3 as a normal user; or set \
         DATABASE_URL",
        folder.display()
    )]
    Unreachable {
        /// The data folder.
        folder: PathBuf,
        /// Why the user namespace was refused.
        source: io::Error,
    },

    /// A program cannot be run.
    #[error("cannot run `{}`; check LEVEL3_POSTGRES_BIN or install Postgres again", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// Why it failed.
        source: io::Error,
    },

    /// `initdb` refused.
    #[error("`initdb` could not make a database cluster; it said:\n{output}")]
    InitFailed {
        /// All it printed.
        output: String,
    },

    /// The server ended while it started.
    #[error("Postgres ended while it started ({status}); the end of `{}` says:\n{tail}", log.display())]
    Ended {
        /// How it ended.
        status: String,
        /// True when it did not end by itself.
        killed: bool,
        /// Its log file.
        log: PathBuf,
        /// The last lines it wrote in this start.
        tail: String,
    },

    /// The server runs but answers nothing.
    #[error("Postgres runs but did not answer within {seconds} s; the end of `{}` says:\n{tail}", log.display())]
    NoAnswer {
        /// How long was waited, in seconds.
        seconds: u64,
        /// Its log file.
        log: PathBuf,
        /// The last lines it wrote in this start.
        tail: String,
    },

    /// The server answers with a refusal.
    #[error("the embedded Postgres refuses the program; was its configuration in the data folder changed?")]
    Refused {
        /// The server's answer.
        source: sqlx::Error,
    },

    /// A server does not end when asked.
    #[error("a Postgres server (process {pid}) does not end; end it by hand, then start again")]
    WillNotStop {
        /// Its process.
        pid: i32,
    },
}

impl Lasting for EmbeddedError {
    fn lasts(&self) -> bool {
        match self {
            Self::Folder { source, .. } | Self::Run { source, .. } => source.lasts(),
            Self::Refused { source } => source.lasts(),
            Self::Ended { killed, .. } => !killed,
            // A long recovery, and a server that takes its time, come to an end.
            Self::NoAnswer { .. } | Self::WillNotStop { .. } => false,
            Self::NotACluster { .. }
            | Self::NoBinaries { .. }
            | Self::NotBinaries { .. }
            | Self::TooOld { .. }
            | Self::OtherMajor { .. }
            | Self::Busy { .. }
            | Self::NoAccount { .. }
            | Self::Unreachable { .. }
            | Self::InitFailed { .. } => true,
        }
    }
}

/// Puts the act and the path beside an [`io::Error`].
pub(super) trait During<T> {
    /// `what` is a verb that fits "cannot … `path`".
    fn during(self, what: &'static str, path: &std::path::Path) -> Result<T, EmbeddedError>;
}

impl<T> During<T> for io::Result<T> {
    fn during(self, what: &'static str, path: &std::path::Path) -> Result<T, EmbeddedError> {
        self.map_err(|source| EmbeddedError::Folder { what, path: path.to_owned(), source })
    }
}

#[cfg(test)]
mod tests;
