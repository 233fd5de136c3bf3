//! `level3 operator`: the operator's home with its settings, and the commands that look at its
//! tasks and logs. `program` runs the server in the foreground.

mod home;
mod log;
mod settings;
mod tasks;
mod whatsapp;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::client::Client;
use super::{CliError, ClientOptions, Screen};
use crate::config::OperatorEnvironment;

pub use home::OperatorHome;
pub use settings::OperatorSetup;
pub use whatsapp::{CodeToScan, Terminal, code_to_scan, reset_session};

/// The operator: takes orders from one number, and runs as long as this terminal
#[derive(Debug, Args)]
pub struct OperatorCommand {
    /// The home of the operator; else ZETA_HOME, else ~/.zeta
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// The channel: whatsapp, or loopback to try it without an account
    #[arg(long, value_enum)]
    channel: Option<OperatorChannel>,
    /// The number that may give orders, like +491701234567; several, with commas
    #[arg(long, value_name = "NUMBER")]
    number: Option<String>,
    /// The provider of the model, like openai; without one, level3 looks for a local model
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The model, as the provider names it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Put the WhatsApp session aside and show a new QR code
    #[arg(long)]
    reset_whatsapp: bool,
    /// Take the risk of using WhatsApp this way on yourself, without being asked
    #[arg(long)]
    accept_risk: bool,
    #[command(subcommand)]
    ask: Option<OperatorAsk>,
}

/// The questions about the operator.
#[derive(Debug, Subcommand)]
enum OperatorAsk {
    /// List the tasks, the newest first
    Tasks,
    /// Print the log of one task for people
    Log {
        /// Its number
        task: i64,
    },
}

/// The channels by which orders come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperatorChannel {
    /// WhatsApp.
    Whatsapp,
    /// The test channel.
    Loopback,
}

impl OperatorChannel {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whatsapp => "whatsapp",
            Self::Loopback => "loopback",
        }
    }
}

impl OperatorCommand {
    /// True if it runs the operator, and asks nothing about it.
    pub fn runs(&self) -> bool {
        self.ask.is_none()
    }

    /// Sets the operator up: its home, what is missing in its settings, and the WhatsApp program.
    /// The session is not touched yet. `hold` holds the home, whose session nobody else may touch
    /// then, and is given whether the session is to be put aside.
    ///
    /// # Errors
    /// [`CliError`] says what to do.
    pub fn set_up(
        self,
        environment: OperatorEnvironment,
        terminal: Terminal,
        screen: &mut Screen<'_>,
        hold: impl FnOnce(&OperatorHome, bool) -> Result<(), CliError>,
    ) -> Result<OperatorSetup, CliError> {
        let home = OperatorHome::find(self.home.as_deref(), &environment)?;
        home.make()?;
        hold(&home, self.reset_whatsapp)?;
        let said = settings::Said { channel: self.channel, number: self.number, provider: self.provider, model: self.model };
        let mut setup = settings::complete(home, said, environment, terminal.columns.is_some())?;
        setup.resets = self.reset_whatsapp;
        setup.may_listen()?;
        if setup.channel != OperatorChannel::Whatsapp && self.reset_whatsapp {
            return Err(CliError::Usage(
                "--reset-whatsapp is about WhatsApp, and this run would be over loopback: leave one out".to_owned(),
            ));
        }
        if setup.channel == OperatorChannel::Whatsapp {
            whatsapp::prepare(&mut setup, self.accept_risk, terminal, screen)?;
        }
        Ok(setup)
    }

    /// Answers a question about the operator.
    ///
    /// # Errors
    /// [`CliError`] says what to do.
    pub async fn answer(
        self,
        environment: &OperatorEnvironment,
        manner: ClientOptions,
        screen: &mut Screen<'_>,
    ) -> Result<(), CliError> {
        let home = OperatorHome::find(self.home.as_deref(), environment)?;
        match self.ask {
            Some(OperatorAsk::Log { task }) => log::run(&home, task, screen),
            _ => {
                let (url, or) = match manner.url {
                    Some(url) => (url, String::new()),
                    None => {
                        let config = home.config_file();
                        let or = format!(", or \"listen\" in {} was changed since it started", config.display());
                        (settings::url_of(&home)?, or)
                    }
                };
                let listed = tasks::run(&Client::new(url.clone(), None)?, screen).await;
                listed.map_err(|error| match error {
                    CliError::Unreachable { .. } => CliError::Failed(format!(
                        "the operator is not running{or}: nobody answers at {url}. Start it with: level3 operator"
                    )),
                    error => error,
                })
            }
        }
    }
}
