//! The command line: a typed client of the running server's HTTP interface. `program` carries out
//! what needs no running server: `serve`, `backup`, `restore`, `models` and `doctor`.

mod approvals;
mod bridge;
mod campaigns;
mod capabilities;
mod client;
mod error;
mod folder;
mod law;
mod mcp;
mod model_key;
pub mod operator;
pub mod relay;
mod replay;
mod screen;
mod secrets;
mod undo;
mod users;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use secrecy::SecretString;
use url::Url;

use crate::config::Config;
use client::Client;

pub use error::CliError;
pub use screen::Screen;

/// A self-extending web-chat agent server.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub struct Cli {
    /// How the server is reached and spoken of.
    #[command(flatten)]
    pub manner: ClientOptions,
    /// The command itself.
    #[command(subcommand)]
    pub command: Command,
}

/// How the server is reached and spoken of.
#[derive(Debug, Clone, Args)]
pub struct ClientOptions {
    /// The server's address; else it is LEVEL3_LISTEN
    #[arg(long, global = true, value_name = "URL")]
    pub url: Option<Url>,
    /// Print JSON, for machines
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the page and work on turns, without the supervisor of run.sh
    Serve,
    /// Write everything the server knows to one file; it may run meanwhile
    Backup {
        /// The file to make
        file: PathBuf,
        /// Put the key of the secrets into it too: whoever has the file can then read them
        #[arg(long)]
        with_key: bool,
    },
    /// Fill an empty data folder, and the database, from such a file
    Restore {
        /// The file
        file: PathBuf,
    },
    /// List every provider of models: configured or not, reachable or not, and what it has
    Models,
    /// Check the model in use and its fallbacks, and what the server needs; exit code 1 when
    /// something is to be mended
    Doctor,
    /// Install the Python that scripts of campaigns may be written in, or see what is installed
    #[command(subcommand)]
    Python(PythonCommand),
    /// Take orders from one number, in this terminal; or look at the operator's tasks and logs
    Operator(Box<operator::OperatorCommand>),
    /// A command for the running server.
    #[command(flatten)]
    Ask(Ask),
}

/// The commands about the Python of campaigns' scripts.
#[derive(Debug, Subcommand)]
pub enum PythonCommand {
    /// Build it, which needs python3-venv and PyPI, and compile it for this machine
    Install {
        /// Take this component and build none
        #[arg(long)]
        file: Option<PathBuf>,
    },
    /// Say what is installed; exit code 1 if nothing is
    Status,
}

/// The commands that the running server carries out.
#[derive(Debug, Subcommand)]
pub enum Ask {
    /// See what waits for you, and decide
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    /// Set and remove the secrets that capabilities may use
    #[command(subcommand)]
    Secret(secrets::SecretCommand),
    /// Look at capabilities, go back to earlier versions, bring some in
    #[command(subcommand)]
    Capability(capabilities::CapabilityCommand),
    /// Make campaigns, and watch over them while a model proposes step by step
    #[command(subcommand)]
    Campaign(campaigns::CampaignCommand),
    /// See and set what a profile may do
    Policy(law::PolicyCommand),
    /// Show what was used up: requests, tokens, money, tool calls
    Usage,
    /// See and set what models cost
    #[command(subcommand)]
    Rates(law::RatesCommand),
    /// See and set who has an account here, with what password, tier and tokens
    #[command(subcommand)]
    User(users::UserCommand),
    /// Put back what a call deleted or overwrote; or list the calls that can be undone
    Undo(undo::UndoCommand),
    /// Let another agent call capabilities: speaks MCP on standard input and output, for the
    /// running server
    Mcp(mcp::McpCommand),
    /// Rebuild everything from events and compare; or show a turn as it was recorded
    Replay(replay::ReplayCommand),
}

/// Asks the server and prints its answer. `may_run` says of a data folder whether a server can run
/// on it.
///
/// # Errors
/// [`CliError`]; it says what to do.
pub async fn run(
    ask: Ask,
    manner: ClientOptions,
    config: &Config,
    may_run: fn(&Path) -> bool,
    screen: &mut Screen<'_>,
) -> Result<(), CliError> {
    let url = match manner.url {
        Some(url) => url,
        // The token would go to any program that listens there now.
        None if config.token.is_some() && !may_run(&config.data_dir) => {
            return Err(CliError::NotRunning { folder: config.data_dir.clone(), url: address(config) });
        }
        None => address(config),
    };
    let client = Client::new(url, config.token.clone().map(SecretString::from))?;
    match ask {
        Ask::Approvals(ask) => approvals::run(ask, &client, screen).await,
        Ask::Secret(ask) => secrets::run(ask, &client, screen).await,
        Ask::Capability(ask) => capabilities::run(ask, &client, screen).await,
        Ask::Campaign(ask) => campaigns::run(ask, &client, screen).await,
        Ask::Policy(ask) => law::policy(ask, &client, screen).await,
        Ask::Usage => law::usage(&client, screen).await,
        Ask::Rates(ask) => law::rates(ask, &client, screen).await,
        Ask::User(ask) => users::run(ask, &client, screen).await,
        Ask::Undo(ask) => undo::run(ask, &client, screen).await,
        Ask::Mcp(ask) => mcp::run(ask, &client, screen).await,
        Ask::Replay(ask) => replay::run(ask, &client, screen).await,
    }
}

/// The address of a server with these settings, as this machine reaches it.
fn address(config: &Config) -> Url {
    let mut address = config.listen;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    Url::parse(&format!("http://{address}/")).expect("an address with a port makes a URL")
}

#[cfg(test)]
mod tests;
