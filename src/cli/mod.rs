//! The command line.

use clap::{Parser, Subcommand};

/// A self-extending web-chat agent server.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can be told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Serve the page and work on turns, without the supervisor of run.sh
    Serve,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_is_understood() {
        assert_eq!(Cli::parse_from(["level3", "serve"]).command, Command::Serve);
    }
}
