//! `level3 policy`, `usage` and `rates`: what a profile may do, what was used up, what models cost.

use std::io;

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::client::Client;
use super::{CliError, Screen};
use crate::domain::{Mode, Rate, Rule};
use crate::wire::api::{NamedPolicy, PolicyChange, Rates, Requests, RuleChange, Span, UsageReport};

/// The commands on policy.
#[derive(Debug, clap::Args)]
pub struct PolicyCommand {
    /// The profile whose policy it is
    #[arg(long, global = true, default_value = "builder")]
    profile: String,
    #[command(subcommand)]
    ask: PolicyAsk,
}

#[derive(Debug, Subcommand)]
enum PolicyAsk {
    /// Show what the profile may do
    Show,
    /// Set how much happens without you: auto, smart, ask or read_only
    Mode {
        /// auto, smart, ask or read_only
        mode: Mode,
    },
    /// Set the rule of one tool: always, ask or never; none takes it away
    Rule {
        /// The tool
        tool: String,
        /// always, ask, never, or none
        #[arg(value_parser = or_none::<Rule>)]
        rule: OrNone<Rule>,
    },
    /// Set whether a second model classifies what is proposed
    Governor {
        /// on or off
        state: Switch,
    },
    /// Set the models that work for the profile, in the order they are asked; none means those set
    /// for all
    Models {
        /// Like groq/llama-3.3-70b-versatile ollama/qwen3, or none
        #[arg(required = true, value_name = "PROVIDER/MODEL")]
        models: Vec<String>,
    },
    /// Set one limit
    Budget {
        /// turn, conversation, day or tasks
        #[arg(value_parser = ["turn", "conversation", "day", "tasks"])]
        span: String,
        /// The measure to limit
        #[arg(value_parser = ["steps", "wall_seconds", "input_tokens", "output_tokens", "tokens", "money_micros", "tool_calls", "turns_per_hour", "percent_of_day"])]
        kind: String,
        /// The limit, or none; money in millionths of a dollar
        #[arg(value_parser = or_none::<u64>)]
        limit: OrNone<u64>,
    },
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A value, or the word `none`. A type of its own, because clap takes an `Option` for an argument
/// that may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OrNone<T>(Option<T>);

fn or_none<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<OrNone<T>, String> {
    if text == "none" {
        Ok(OrNone(None))
    } else {
        text.parse().map(|value| OrNone(Some(value))).map_err(|error| format!("{error}"))
    }
}

/// The commands on the prices of models.
#[derive(Debug, Subcommand)]
pub enum RatesCommand {
    /// List what models cost
    List,
    /// Set what a model costs from now on, in dollars for a million tokens
    Set {
        /// The model, as the provider names it
        model: String,
        /// For tokens read, like 2.50
        #[arg(value_parser = micros)]
        input: u64,
        /// For tokens written, like 10
        #[arg(value_parser = micros)]
        output: u64,
    },
    /// Forget what a model costs
    Remove {
        /// The model
        model: String,
    },
}

pub(super) async fn policy(ask: PolicyCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let PolicyCommand { profile, ask } = ask;
    let path = ["policy", &profile];
    let answer: NamedPolicy = match ask {
        PolicyAsk::Show => client.get(&path, &[]).await?,
        PolicyAsk::Mode { mode } => client.put(&path, &PolicyChange { mode: Some(mode), ..PolicyChange::default() }).await?,
        PolicyAsk::Governor { state } => {
            client.put(&path, &PolicyChange { governor: Some(state == Switch::On), ..PolicyChange::default() }).await?
        }
        PolicyAsk::Rule { tool, rule: OrNone(rule) } => {
            client.put(&["policy", &profile, "rules", &tool], &RuleChange { rule }).await?
        }
        PolicyAsk::Models { models } => {
            let models = if models == ["none"] { Vec::new() } else { models };
            client.put(&path, &PolicyChange { models: Some(models), ..PolicyChange::default() }).await?
        }
        PolicyAsk::Budget { span, kind, limit: OrNone(limit) } => {
            let now: NamedPolicy = client.get(&path, &[]).await?;
            let mut budgets = json!(now.policy.budgets);
            budgets[&span][&kind] = json!(limit);
            client.put(&path, &json!({ "budgets": budgets })).await?
        }
    };
    if !screen.json(&answer)? {
        print_policy(&answer, screen)?;
    }
    Ok(())
}

fn print_policy(NamedPolicy { profile, policy }: &NamedPolicy, screen: &mut Screen<'_>) -> io::Result<()> {
    let governor = if policy.governor { "on" } else { "off" };
    screen.line(format!("Profile {profile}: mode {}, governor {governor}", policy.mode))?;
    screen.part("Models", &policy.models.join("\n"))?;
    let rules: Vec<_> = policy.rules.iter().map(|(tool, rule)| format!("{tool}: {rule}")).collect();
    screen.part("Rules", &rules.join("\n"))?;
    let limits = |(span, limits): (&str, Value)| {
        let limits = limits.as_object().into_iter().flatten().filter(|(_, limit)| !limit.is_null());
        let limits: Vec<_> = limits.map(|(kind, limit)| format!("{kind} {limit}")).collect();
        format!("{span}: {}", if limits.is_empty() { "no limit".to_owned() } else { limits.join(", ") })
    };
    let budgets = &policy.budgets;
    let spans = [
        ("turn", json!(budgets.turn)),
        ("conversation", json!(budgets.conversation)),
        ("day", json!(budgets.day)),
        ("tasks", json!(budgets.tasks)),
    ];
    screen.part("Budgets", &spans.map(limits).join("\n"))
}

pub(super) async fn usage(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let usage: UsageReport = client.get(&["usage"], &[]).await?;
    if screen.json(&usage)? {
        return Ok(());
    }
    let row = |when: String, span: &Span| {
        let [requests, input, output, cost] = cells(&span.model);
        [when, requests, input, output, cost, span.tool_calls.done.to_string(), span.tool_calls.failed.to_string()]
    };
    let mut rows = vec![row("today".into(), &usage.today)];
    rows.extend(usage.days.iter().map(|day| row(day.day.to_string(), &day.usage)));
    rows.push(row("in all".into(), &usage.total));
    screen.table(["WHEN", "REQUESTS", "TOKENS IN", "OUT", "COST", "CALLS DONE", "FAILED"], &rows, "")?;
    if !usage.models.is_empty() {
        screen.line("")?;
        let row = |model: &crate::wire::api::ModelUsage| {
            let [requests, input, output, cost] = cells(&model.usage);
            [model.model.clone(), requests, input, output, cost]
        };
        let rows: Vec<_> = usage.models.iter().map(row).collect();
        screen.table(["MODEL, 30 DAYS", "REQUESTS", "TOKENS IN", "OUT", "COST"], &rows, "")?;
    }
    Ok(())
}

fn cells(used: &Requests) -> [String; 4] {
    let cost = used.cost_micros.map_or_else(|| "unknown".to_owned(), dollars);
    [used.requests.to_string(), used.input_tokens.to_string(), used.output_tokens.to_string(), cost]
}

pub(super) async fn rates(ask: RatesCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let answer: Rates = match ask {
        RatesCommand::List => client.get(&["rates"], &[]).await?,
        RatesCommand::Set { model, input, output } => {
            client.put(&["rates", &model], &Rate { input_micros: input, output_micros: output }).await?
        }
        RatesCommand::Remove { model } => {
            let set: Rates = client.get(&["rates"], &[]).await?;
            if !set.rates.contains_key(&model) {
                return Err(CliError::Failed(format!("no rate is set for `{model}`; level3 rates list names those that are")));
            }
            client.put(&["rates", &model], &Value::Null).await?
        }
    };
    if !screen.json(&answer)? {
        let row = |(model, rate): (&String, &Rate)| [model.clone(), dollars(rate.input_micros), dollars(rate.output_micros)];
        let rows: Vec<_> = answer.rates.iter().map(row).collect();
        screen.table(["MODEL", "IN, PER MILLION", "OUT"], &rows, "No rates are set, so what models cost is unknown.")?;
    }
    Ok(())
}

/// Reads dollars as millionths, exactly.
fn micros(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected dollars, like 2.50, with six decimals at most";
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || whole.len() > 9 || part.len() > 6 || !digits(whole) || !digits(part) {
        return Err(EXPECTED.to_owned());
    }
    format!("{whole}{part:0<6}").parse().map_err(|_| EXPECTED.to_owned())
}

/// Writes millionths of a dollar as dollars, exactly, with two decimals at least.
fn dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let zeros = text.len() - text.trim_end_matches('0').len();
    format!("${}", &text[..text.len() - zeros.min(4)])
}

#[cfg(test)]
mod tests;
