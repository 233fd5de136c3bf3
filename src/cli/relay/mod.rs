//! The command `relay`: conversations with outside people, ordered and watched from a shell. It
//! starts and stops the daemon, a supervised `level3 serve`, and asks it over HTTP for everything
//! else.

mod ask;
mod ask_person;
mod channels;
mod course;
mod create;
mod daemon;
mod error;
mod export;
mod home;
mod init;
mod instances;
mod qr;
mod said;
mod scan;
mod served;
mod settings;
mod spans;
mod start;
mod status;
mod supervise;
mod template;
mod templates;
mod told;
mod transcript;
mod webhooks;
mod whatsapp;

use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use super::Screen;
use crate::clock::{Clock, Random};
use crate::config::RelayEnvironment;

use ask::RelayClient;
pub use error::RelayCliError;
use home::RelayHome;
pub(super) use qr::lines as qr_lines;

/// Conversations with outside people: an agent that can write to one contact and nothing else.
#[derive(Debug, Parser)]
#[command(name = "relay", version, arg_required_else_help = true)]
pub struct RelayCli {
    /// The folder of Relay; else RELAY_HOME, else .relay-agent here, else .relay-agent in your home
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Print JSON, for machines
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    command: RelayCommand,
}

#[derive(Debug, Subcommand)]
enum RelayCommand {
    /// Set Relay up: its folder, the model and its key, the channel
    Init(init::InitCommand),
    /// Start the daemon in the background
    Start,
    /// Stop the daemon in good order, within 15 seconds
    Stop,
    /// Show the daemon, its channels and how much goes on
    Status,
    /// Make an instance: one conversation with one contact; prints its id
    Create(create::CreateCommand),
    /// List instances, the newest first
    List(instances::ListCommand),
    /// Show one instance
    Get {
        /// Its id
        #[arg(value_parser = instances::id)]
        id: i64,
    },
    /// Show everything that was said in an instance
    Transcript(transcript::TranscriptCommand),
    /// Say something as the agent
    Send {
        /// The instance
        #[arg(value_parser = instances::id)]
        id: i64,
        /// The words
        #[arg(allow_hyphen_values = true)]
        message: String,
    },
    /// Suspend an instance
    Pause {
        /// The instance
        #[arg(value_parser = instances::id)]
        id: i64,
    },
    /// Go on with an instance that is paused, or that waits for a person
    Resume {
        /// The instance
        #[arg(value_parser = instances::id)]
        id: i64,
    },
    /// End an instance; the contact hears nothing of it
    Cancel {
        /// The instance
        #[arg(value_parser = instances::id)]
        id: i64,
    },
    /// Send a message again of which nobody knows whether it was sent
    Resend {
        /// The message; relay transcript shows its id
        #[arg(value_parser = instances::message_id)]
        message: i64,
    },
    /// Say what became of a message of which nobody knows whether it was sent
    Settle {
        /// The message; relay transcript shows its id
        #[arg(value_parser = instances::message_id)]
        message: i64,
        /// sent or lost
        #[arg(value_parser = ["sent", "lost"])]
        outcome: String,
    },
    /// Speak over the test channel
    #[command(subcommand)]
    Loopback(channels::LoopbackCommand),
    /// Keep objectives and to-dos to create instances from
    #[command(subcommand)]
    Templates(templates::TemplatesCommand),
    /// Have changes of state told to other programs
    #[command(subcommand)]
    Webhooks(webhooks::WebhooksCommand),
    /// Write instances, transcripts and settings as JSON; no secret
    Export(export::ExportCommand),
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Run the daemon in the foreground; `start` does
    #[command(hide = true)]
    Supervise,
}

/// The world around a command.
pub struct RelayWorld<'a> {
    /// The environment.
    pub environment: RelayEnvironment,
    /// The working directory.
    pub here: &'a Path,
    /// This very program, which `start` runs in the background.
    pub program: &'a Path,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Randomness.
    pub random: &'a dyn Random,
}

/// Carries a command out and prints the answer.
///
/// # Errors
/// [`RelayCliError`]; it says what to do.
pub async fn run(cli: RelayCli, world: &RelayWorld<'_>, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    if let RelayCommand::Completions { shell } = cli.command {
        clap_complete::generate(shell, &mut RelayCli::command(), "relay", &mut screen.out);
        return Ok(());
    }
    let home = RelayHome::find(cli.home.as_deref(), &world.environment, world.here)?;
    match cli.command {
        RelayCommand::Init(ask) => init::run(ask, &home, world, screen).await,
        RelayCommand::Start => start::run(&home, world, screen).await,
        RelayCommand::Stop => daemon::stop(&home, screen).await,
        RelayCommand::Supervise => supervise::run(&home, world).await,
        RelayCommand::Templates(ask) => templates::run(ask, &home, screen),
        command => asked(command, &home, world, screen).await,
    }
}

/// The commands that the server carries out.
async fn asked(
    command: RelayCommand,
    home: &RelayHome,
    world: &RelayWorld<'_>,
    screen: &mut Screen<'_>,
) -> Result<(), RelayCliError> {
    let client = RelayClient::of(home, screen.json)?;
    match command {
        RelayCommand::Status => status::run(home, &client, screen).await,
        RelayCommand::Create(ask) => create::run(ask, home, &client, screen).await,
        RelayCommand::List(ask) => instances::list(ask, &client, screen).await,
        RelayCommand::Get { id } => instances::get(id, &client, screen).await,
        RelayCommand::Transcript(ask) => transcript::run(&ask, &client, world.clock, screen).await,
        RelayCommand::Send { id, message } => instances::send(id, message, &client, screen).await,
        RelayCommand::Pause { id } => instances::steer(id, "pause", &client, screen).await,
        RelayCommand::Resume { id } => instances::steer(id, "resume", &client, screen).await,
        RelayCommand::Cancel { id } => instances::steer(id, "cancel", &client, screen).await,
        RelayCommand::Resend { message } => instances::resend(message, &client, screen).await,
        RelayCommand::Settle { message, outcome } => instances::settle(message, outcome, &client, screen).await,
        RelayCommand::Loopback(ask) => channels::loopback(ask, &client, screen).await,
        RelayCommand::Webhooks(ask) => webhooks::run(ask, &client, screen).await,
        RelayCommand::Export(ask) => export::run(&ask, home, &client, screen).await,
        RelayCommand::Init(_)
        | RelayCommand::Start
        | RelayCommand::Stop
        | RelayCommand::Supervise
        | RelayCommand::Templates(_)
        | RelayCommand::Completions { .. } => unreachable!("carried out without the server"),
    }
}

#[cfg(test)]
mod tests;
