//! `level3 mcp`: other agents' way in over standard input and output, for which see `bridge`; and
//! the external servers that the operator adds.

use clap::{Args, Subcommand};
use url::Url;

use super::client::{Client, NOTHING};
use super::{CliError, Screen, bridge};
use crate::domain::McpTransport;
use crate::wire::api::{McpServerEntry, McpServers, McpToolEntry, McpTools, RemovedMcpServer};

/// The commands on MCP.
#[derive(Debug, Args)]
pub struct McpCommand {
    #[command(subcommand)]
    ask: Option<McpAsk>,
}

/// The commands on external MCP servers, whose tools the agent can call.
#[derive(Debug, Subcommand)]
enum McpAsk {
    /// Add a server whose tools the agent may ask to call; each call is asked about until a rule
    /// says otherwise
    #[command(
        after_help = "A COMMAND is started by the server with all rights of its user: add only what you would run yourself.\n\
                            Secrets stand in headers and variables by name: --header \"Authorization: Bearer {{API_KEY}}\"."
    )]
    Add {
        /// Its name: snake_case
        name: String,
        /// Its address, like https://example.com/mcp
        #[arg(required_unless_present = "command", conflicts_with = "command")]
        at: Option<Url>,
        /// A header to send with every request, like "X-Team: blue"
        #[arg(long, value_name = "NAME: VALUE", value_parser = pair::<':'>, conflicts_with = "command")]
        header: Vec<(String, String)>,
        /// A variable for the program, like MODE=fast
        #[arg(long, value_name = "NAME=VALUE", value_parser = pair::<'='>, conflicts_with = "at")]
        env: Vec<(String, String)>,
        /// The program to start, and its arguments
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// List the servers
    List,
    /// Ask a server for its tools anew, and list them
    Tools {
        /// The server
        name: String,
    },
    /// Remove a server and the rules that let its tools be called without asking
    Remove {
        /// The server
        name: String,
    },
}

fn pair<const SEPARATOR: char>(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(SEPARATOR).ok_or_else(|| format!("expected NAME{SEPARATOR}VALUE"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub(super) async fn run(ask: McpCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask.ask {
        None => bridge::serve(client).await,
        Some(McpAsk::Add { name, at, header, env, command }) => {
            let transport = match at {
                Some(url) => McpTransport::Http { url: url.into(), headers: header.into_iter().collect() },
                None => McpTransport::Command { command, env: env.into_iter().collect() },
            };
            transport.check().map_err(|fault| CliError::Usage(fault.why))?;
            print_tools(&client.put(&["mcp", &name], &transport).await?, screen)
        }
        Some(McpAsk::Tools { name }) => print_tools(&client.post(&["mcp", &name, "tools"], NOTHING).await?, screen),
        Some(McpAsk::List) => {
            let answer: McpServers = client.get(&["mcp"], &[]).await?;
            if !screen.json(&answer)? {
                let row = |server: &McpServerEntry| [server.name.clone(), server.tools.to_string(), server.transport.in_words()];
                let rows: Vec<_> = answer.servers.iter().map(row).collect();
                screen.table(["SERVER", "TOOLS", "WHERE"], &rows, "No external MCP server was added.")?;
            }
            Ok(())
        }
        Some(McpAsk::Remove { name }) => {
            let answer: RemovedMcpServer = client.delete(&["mcp", &name]).await?;
            if !screen.json(&answer)? {
                screen.line(format!("Removed {name}."))?;
            }
            Ok(())
        }
    }
}

fn print_tools(answer: &McpTools, screen: &mut Screen<'_>) -> Result<(), CliError> {
    if screen.json(answer)? {
        return Ok(());
    }
    let row = |tool: &McpToolEntry| [tool.tool.clone(), tool.description.chars().take(160).collect()];
    let rows: Vec<_> = answer.tools.iter().map(row).collect();
    screen.table(["TOOL", "WHAT THE SERVER SAYS"], &rows, "The server lists no tool that can be offered.")?;
    let lines = |names: Vec<String>| names.join("\n");
    screen.part("Changed since they were listed before; rules `always` for them are gone", &lines(answer.changed.clone()))?;
    screen.part("Left out", &lines(answer.left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect()))?;
    if let Some(tool) = answer.tools.first() {
        screen.line("Each call is asked about. To let one be called without: ")?;
        screen.line(format!("  level3 policy rule {} always", tool.tool))?;
    }
    Ok(())
}
