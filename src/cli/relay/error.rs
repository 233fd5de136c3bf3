//! Why a command of `relay` was not done, and the exit code for it.

use std::io;
use std::path::{Path, PathBuf};

use url::Url;

use crate::cli::CliError;

/// Why a command of `relay` was not done; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RelayCliError {
    /// The daemon does not run.
    #[error("the Relay daemon is not running; start it with: relay start")]
    NoDaemon,
    /// The daemon runs, and its server was not ready in time.
    #[error(
        "the Relay daemon runs, and its server is not back yet; its log says more: {0}. Try again, or run: relay stop, then relay start"
    )]
    NotBack(PathBuf),
    /// There is no folder of Relay.
    #[error("Relay is not set up here: there is no folder {0}; set it up with: relay init")]
    NotSetUp(PathBuf),
    /// The level3 that `config.json` names does not answer.
    #[error("no level3 answers at {0}, which config.json names as `server`; start it, or take `server` out and run: relay start")]
    NoServer(Url),
    /// The server does not take the token of the folder.
    #[error(
        "the server does not take the token in {0}; run: relay stop, then relay start; of a `server` in config.json, put its LEVEL3_TOKEN there"
    )]
    Token(PathBuf),
    /// The command itself makes no sense.
    #[error("{0}")]
    Usage(String),
    /// It was refused, or failed.
    #[error("{0}")]
    Refused(String),
    /// A file cannot be read or written.
    #[error("{path}: cannot be used")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The server was asked and did not do it.
    #[error(transparent)]
    Asked(CliError),
    /// The answer cannot be printed.
    #[error("the answer could not be printed")]
    Output(#[from] io::Error),
}

impl RelayCliError {
    /// A file that cannot be used.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::File { path, source }
    }

    /// The exit code of the process: 1 refused, 2 wrong use, 3 no daemon.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoDaemon | Self::NotBack(_) | Self::NotSetUp(_) | Self::NoServer(_) => 3,
            Self::Usage(_) | Self::Asked(CliError::Usage(_) | CliError::Refused { status: 400, .. }) => 2,
            Self::Token(_) | Self::Refused(_) | Self::File { .. } | Self::Asked(_) | Self::Output(_) => 1,
        }
    }

    /// True if the person closed the output early, who has seen enough.
    pub fn is_closed_output(&self) -> bool {
        matches!(self, Self::Output(error) | Self::Asked(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
