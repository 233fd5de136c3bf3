//! Why a command was not done.

use std::io;
use std::path::PathBuf;

use url::Url;

use crate::wire::api::ApiError;

/// Why a command was not done; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command itself makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Nobody is there.
    #[error("no level3 answers at {url}; start it with ./run.sh, or name another address with --url or LEVEL3_LISTEN")]
    Unreachable {
        /// The address that was tried.
        url: Url,
        /// Why.
        source: reqwest::Error,
    },
    /// No server runs on the data folder of these settings. Another program may listen at its
    /// address, and is shown no token.
    #[error(
        "no level3 runs on the data folder {folder}, so nothing was sent to {url}; start it with ./run.sh, or name the server with --url"
    )]
    NotRunning {
        /// The data folder.
        folder: PathBuf,
        /// The address that was not asked.
        url: Url,
    },
    /// The answer did not come, or not whole.
    #[error("the server's answer did not arrive; whether it was done is not known, so look before you repeat it")]
    Cut(#[source] reqwest::Error),
    /// The server asks who it is.
    #[error("the server asks for its token: set LEVEL3_TOKEN to what the server has, or to a token of yours (level3 user token)")]
    Token,
    /// The server refused.
    #[error("{}", refused(said))]
    Refused {
        /// The status of its answer.
        status: u16,
        /// Its words.
        said: ApiError,
    },
    /// A server answered that is no level3 of this version.
    #[error("what answered at {url} is no level3 of this version ({status}): {said}")]
    Strange {
        /// The address that answered.
        url: Url,
        /// The status of its answer.
        status: u16,
        /// The beginning of what it said, or what is wrong with it.
        said: String,
    },
    /// The order was taken and failed.
    #[error("{0}")]
    Failed(String),
    /// A file cannot be read or written.
    #[error("{path}: cannot be used")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The answer to a question to the person cannot be read.
    #[error("the value could not be read from the terminal or from standard input")]
    Value(#[source] io::Error),
    /// The output cannot be written.
    #[error("the answer could not be printed")]
    Output(#[from] io::Error),
}

impl CliError {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Usage(_)) { 2 } else { 1 }
    }
}

fn refused(refused: &ApiError) -> String {
    let grants = refused.grants_in_words.iter().map(|grant| format!("\n  {grant}"));
    std::iter::once(refused.error.clone()).chain(grants).collect()
}
