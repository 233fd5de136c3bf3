//! `level3 campaign`: a person makes, steers and watches campaigns. All of it is the person's own
//! request.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::client::{Client, NOTHING};
use super::{CliError, Screen};
use crate::domain::campaign::{Campaign, CampaignStatus};
use crate::domain::unmarked;
use crate::wire::api::{
    CampaignInfo, CampaignLeads, CampaignList, CampaignMade, CampaignTaskOrder, CampaignTold, CampaignVerified,
};

/// How often a terminal says that somebody is there. Real time: it is a person's.
const SIGN: Duration = Duration::from_secs(15);

/// The same while a single cycle is done, so that its end is told soon.
const SOON: Duration = Duration::from_secs(1);

/// A task in a file.
const TASK: &str = r#"{"description": "Draft a message", "requires": [{"kind": "user_answered", "question": "tone"}]}"#;

/// The commands on campaigns.
#[derive(Debug, Subcommand)]
pub enum CampaignCommand {
    /// Make a campaign; tasks come from a JSON file, or later by `task`
    Create {
        /// Its name
        name: String,
        /// A file with {"tasks": [{"description", "preconditions", "requires", "needs"}]}; in it a
        /// task names another by its place: {"kind": "task_done", "nth": 1}
        #[arg(long, value_name = "FILE")]
        tasks: Option<PathBuf>,
    },
    /// List all campaigns, with what each waits for
    List,
    /// Show one: its tasks with what is still unproven, leads, artifacts
    Show {
        /// Its number
        id: i64,
    },
    /// The same, and write its files anew; it fails if one cannot be written
    Open {
        /// Its number
        id: i64,
    },
    /// Check what it needs, and start it
    Start {
        /// Its number
        id: i64,
    },
    /// Let it rest at once
    Pause {
        /// Its number
        id: i64,
    },
    /// Let it go on
    Resume {
        /// Its number
        id: i64,
    },
    /// Be there while a paused one does exactly one cycle; then it is paused again
    Cycle {
        /// Its number
        id: i64,
    },
    /// Make a new one from its artifacts, leads and open tasks
    Copy {
        /// Its number
        id: i64,
    },
    /// Be there: it works as long as this runs. A site's own rules hold (LinkedIn's among them)
    Run {
        /// Its number
        id: i64,
    },
    /// Add a task, or finish, block or unblock one
    Task(CampaignTaskAsk),
    /// Import leads from a CSV file, or give one a status; without both, list them
    Lead {
        /// The campaign
        id: i64,
        /// A CSV file with full_name and profile_url
        #[arg(long, value_name = "FILE")]
        import: Option<PathBuf>,
        /// LEAD=STATUS
        #[arg(long, value_name = "LEAD=STATUS", conflicts_with = "import")]
        set: Option<String>,
    },
    /// Keep a version of an artifact from a file; without one, show its versions
    Artifact {
        /// The campaign
        id: i64,
        /// Its type
        kind: String,
        /// Its key
        key: String,
        /// The file
        file: Option<PathBuf>,
    },
    /// Answer a question of a task
    Answer {
        /// The campaign
        id: i64,
        /// The task
        task: i64,
        /// The question
        question: String,
        /// The answer
        answer: String,
    },
    /// Let the next things of a kind be done without asking; or take that back
    Context {
        /// The campaign
        id: i64,
        /// persist, task, interact or script
        #[arg(required_unless_present = "revoke")]
        kind: Option<String>,
        /// How many, 50 at most
        #[arg(long, default_value_t = 10)]
        count: i32,
        /// Until then, within 24 hours, like 2026-11-26T18:00:00Z
        #[arg(long, required_unless_present = "revoke")]
        until: Option<String>,
        /// For persist: only artifacts of this type
        #[arg(long = "type")]
        artifact_type: Option<String>,
        /// Take this one back
        #[arg(long, value_name = "CONTEXT", conflicts_with_all = ["kind", "count", "until", "artifact_type"])]
        revoke: Option<i64>,
    },
    /// Show a log: audit, or events
    Log {
        /// The campaign
        id: i64,
        /// audit or events
        #[arg(default_value = "audit")]
        log: String,
        /// Only lines of this kind
        #[arg(long)]
        kind: Option<String>,
    },
    /// Print the whole state as JSON
    Export {
        /// The campaign
        id: i64,
        /// From its events alone
        #[arg(long)]
        from_events: bool,
    },
    /// Make every cycle again from the events before it, and compare
    Verify {
        /// The campaign
        id: i64,
    },
    /// Remove the messages of its conversation; nothing depends on them
    ForgetChat {
        /// The campaign
        id: i64,
    },
}

/// A person's deed with a task of a campaign.
#[derive(Debug, Args)]
pub struct CampaignTaskAsk {
    /// The campaign
    id: i64,
    /// add, finish, block or unblock
    deed: String,
    /// The description, or the number of the task
    #[arg(required_unless_present = "from")]
    what: Option<String>,
    /// For block: the reason; for add: the same as --requires
    #[arg(conflicts_with = "requires")]
    more: Option<String>,
    /// For add: the list of what has to hold before it begins, like [{"kind": "task_done", "task":
    /// 1}]
    #[arg(long, value_name = "JSON")]
    preconditions: Option<String>,
    /// For add: the list of what has to hold for it to be done, like [{"kind": "user_answered",
    /// "question": "tone"}]
    #[arg(long, value_name = "JSON")]
    requires: Option<String>,
    /// For add: the list of artifacts that a model is shown for it, like [{"type": "context"}]
    #[arg(long, value_name = "JSON")]
    needs: Option<String>,
    /// For add: a file with {"description", "preconditions", "requires", "needs"}
    #[arg(long, value_name = "FILE", conflicts_with_all = ["what", "more", "preconditions", "requires", "needs"])]
    from: Option<PathBuf>,
}

pub(super) async fn run(ask: CampaignCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    use CampaignCommand as C;
    match ask {
        C::Create { name, tasks } => {
            let tasks = match tasks {
                Some(file) => {
                    let read: Value = serde_json::from_str(&text(&file)?)
                        .map_err(|error| CliError::Usage(format!("{} is no JSON: {error}", file.display())))?;
                    read.get("tasks").cloned().unwrap_or(read)
                }
                None => json!([]),
            };
            let made: CampaignMade = client.post(&["campaigns"], Some(&json!({"name": name, "tasks": tasks}))).await?;
            say(&made, format!("Campaign {} is made. Start it: level3 campaign start {}", made.id, made.id), screen)
        }
        C::List => list(client, screen).await,
        C::Show { id } => show(id, client, screen).await.map(drop),
        C::Open { id } => match show(id, client, screen).await?.unwritten {
            none if none.is_empty() => Ok(()),
            unwritten => Err(CliError::Failed(format!("not all of its files were written: {}", unwritten.join("; ")))),
        },
        C::Start { id } => steer(id, "start", client, screen).await,
        C::Pause { id } => steer(id, "pause", client, screen).await,
        C::Resume { id } => steer(id, "resume", client, screen).await,
        C::Copy { id } => {
            let made: CampaignMade = client.post(&["campaigns", &id.to_string(), "copy"], NOTHING).await?;
            say(&made, format!("Campaign {} is a copy, and not started.", made.id), screen)
        }
        C::Run { id } => watch(id, SIGN, client, screen).await,
        C::Cycle { id } => {
            // One request: if the order is refused, nobody was there.
            let there = [("present", "true".to_owned())];
            let _: Campaign = client.post_at(&["campaigns", &id.to_string(), "cycle"], &there).await?;
            watch(id, SOON, client, screen).await
        }
        C::Task(ask) => task(ask, client, screen).await,
        C::Lead { id, import: Some(file), .. } => {
            order(id, &["leads".to_owned()], &json!({"csv": text(&file)?}), client, screen).await
        }
        C::Lead { id, set: Some(set), .. } => {
            let (lead, status) = set.split_once('=').ok_or_else(|| CliError::Usage("expected LEAD=STATUS".to_owned()))?;
            let lead: i64 = lead.parse().map_err(|_| CliError::Usage(format!("{lead} is no number of a lead")))?;
            order(id, &["leads".to_owned(), "status".to_owned()], &json!({"lead": lead, "status": status}), client, screen).await
        }
        C::Lead { id, .. } => leads(id, client, screen).await,
        C::Artifact { id, kind, key, file: Some(file) } => {
            let body = json!({"type": kind, "key": key, "content": text(&file)?});
            order(id, &["artifacts".to_owned()], &body, client, screen).await
        }
        C::Artifact { id, kind, key, file: None } => {
            let found: Value = client.get(&["campaigns", &id.to_string(), "artifacts", &kind, &key], &[]).await?;
            Ok(screen.value(&found)?)
        }
        C::Answer { id, task, question, answer } => {
            let body = json!({"task": task, "question": question, "answer": answer});
            order(id, &["answer".to_owned()], &body, client, screen).await
        }
        C::Context { id, revoke: Some(context), .. } => {
            let told: CampaignTold = client.delete(&["campaigns", &id.to_string(), "contexts", &context.to_string()]).await?;
            say(&told, told.told.clone(), screen)
        }
        C::Context { id, kind, count, until, artifact_type, revoke: None } => {
            let body = json!({"kind": kind, "count": count, "until": until, "type": artifact_type});
            order(id, &["contexts".to_owned()], &body, client, screen).await
        }
        C::Log { id, log, kind } => {
            let query: Vec<_> = std::iter::once(("log", log)).chain(kind.map(|kind| ("kind", kind))).collect();
            let found: Value = client.get(&["campaigns", &id.to_string(), "log"], &query).await?;
            Ok(screen.value(&found)?)
        }
        C::Export { id, from_events } => {
            let from = if from_events { "events" } else { "tables" };
            let found: Value = client.get(&["campaigns", &id.to_string(), "export"], &[("from", from.to_owned())]).await?;
            Ok(screen.value(&found)?)
        }
        C::Verify { id } => verify(id, client, screen).await,
        C::ForgetChat { id } => order(id, &["forget-chat".to_owned()], &json!({}), client, screen).await,
    }
}

/// The text of a file.
fn text(file: &std::path::Path) -> Result<String, CliError> {
    let read = std::fs::read_to_string(file);
    let read = read.map_err(|error| CliError::Usage(format!("{} cannot be read: {error}", file.display())))?;
    Ok(unmarked(&read).to_owned())
}

fn say(answer: &impl serde::Serialize, words: String, screen: &mut Screen<'_>) -> Result<(), CliError> {
    if !screen.json(answer)? {
        screen.line(words)?;
    }
    Ok(())
}

async fn order(id: i64, path: &[String], body: &Value, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let id = id.to_string();
    let path: Vec<&str> = ["campaigns", &id].into_iter().chain(path.iter().map(String::as_str)).collect();
    let told: CampaignTold = client.post(&path, Some(body)).await?;
    say(&told, told.told.clone(), screen)
}

/// Makes a task, or does something with one.
async fn task(ask: CampaignTaskAsk, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let CampaignTaskAsk { id, deed, what, more, preconditions, requires, needs, from } = ask;
    if deed == "add" {
        let made = match from {
            Some(file) => serde_json::from_str(&text(&file)?)
                .map_err(|error| CliError::Usage(format!("{}: {error}; expected an object like {TASK}", file.display())))?,
            None => CampaignTaskOrder {
                description: what.unwrap_or_default(),
                preconditions: listed("--preconditions", preconditions.as_deref(), r#"[{"kind": "task_done", "task": 1}]"#)?,
                requires: listed(
                    "--requires",
                    requires.or(more).as_deref(),
                    r#"[{"kind": "user_answered", "question": "tone"}]"#,
                )?,
                needs: listed("--needs", needs.as_deref(), r#"[{"type": "context", "key": "campaign_context"}]"#)?,
            },
        };
        return order(id, &["tasks".to_owned()], &json!(made), client, screen).await;
    }
    let describes = [preconditions, requires, needs].iter().any(Option::is_some);
    let Some(number) = what.filter(|_| !describes) else {
        return Err(CliError::Usage("--preconditions, --requires, --needs and --from are for `add`".to_owned()));
    };
    let number: i64 = number.parse().map_err(|_| CliError::Usage(format!("{number} is no number of a task")))?;
    let body = json!({"deed": deed, "reason": more.unwrap_or_default()});
    order(id, &["tasks".to_owned(), number.to_string()], &body, client, screen).await
}

/// The list that an option gives in JSON; an empty one without it.
fn listed(option: &str, given: Option<&str>, example: &str) -> Result<Vec<Value>, CliError> {
    let Some(given) = given else { return Ok(Vec::new()) };
    serde_json::from_str(given)
        .map_err(|error| CliError::Usage(format!("{option}: {error}; expected a list in JSON like {example}")))
}

async fn steer(id: i64, deed: &str, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let campaign: Campaign = client.post(&["campaigns", &id.to_string(), deed], NOTHING).await?;
    let then = match campaign.status {
        CampaignStatus::Active => format!(" It works while somebody is there: level3 campaign run {id}"),
        _ => String::new(),
    };
    say(&campaign, format!("Campaign {id} is {}.{then}", campaign.status), screen)
}

async fn list(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let found: CampaignList = client.get(&["campaigns"], &[]).await?;
    if screen.json(&found)? {
        return Ok(());
    }
    let row = |campaign: &Campaign| {
        let Campaign { id, name, status, cycles, waits_for, reason, .. } = campaign;
        let why = waits_for.clone().or_else(|| reason.clone()).unwrap_or_default();
        [id.to_string(), name.clone(), status.to_string(), cycles.to_string(), why]
    };
    let rows: Vec<_> = found.campaigns.iter().map(row).collect();
    screen.table(
        ["CAMPAIGN", "NAME", "STATE", "CYCLES", "WAITS FOR"],
        &rows,
        "There is no campaign yet: level3 campaign create NAME",
    )?;
    Ok(())
}

async fn show(id: i64, client: &Client, screen: &mut Screen<'_>) -> Result<CampaignInfo, CliError> {
    let found: CampaignInfo = client.get(&["campaigns", &id.to_string()], &[]).await?;
    if screen.json(&found)? {
        return Ok(found);
    }
    let CampaignInfo { campaign, watched, tasks, leads, artifacts, .. } = &found;
    screen.line(format!("Campaign {id}: {} ({}), {} cycles", campaign.name, campaign.status, campaign.cycles))?;
    screen.line(if *watched { "Somebody is there." } else { "Nobody is there." })?;
    if let Some(why) = campaign.waits_for.as_ref().or(campaign.reason.as_ref()) {
        screen.line(why)?;
    }
    let row = |shown: &crate::wire::api::ShownCampaignTask| {
        let task = &shown.task;
        let begins = shown.begins_when.iter().map(|condition| match condition.holds {
            true => format!("{} (holds)", condition.words),
            false => condition.words.clone(),
        });
        let begins = begins.collect::<Vec<_>>().join("; ");
        [task.id.to_string(), task.status.to_string(), task.description.clone(), begins, shown.unproven.join("; ")]
    };
    let rows: Vec<_> = tasks.iter().map(row).collect();
    screen.table(["TASK", "STATE", "WHAT", "BEGINS WHEN", "STILL UNPROVEN"], &rows, "It has no task.")?;
    screen.line(format!("Leads: {}", json!(leads)))?;
    screen.line(format!("Artifacts: {}", json!(artifacts)))?;
    Ok(found)
}

async fn leads(id: i64, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let found: CampaignLeads = client.get(&["campaigns", &id.to_string(), "leads"], &[]).await?;
    if screen.json(&found)? {
        return Ok(());
    }
    let row = |lead: &crate::domain::campaign::Lead| {
        [
            lead.id.to_string(),
            lead.weight_score.to_string(),
            lead.status.to_string(),
            lead.full_name.clone(),
            lead.profile_url.clone(),
        ]
    };
    let rows: Vec<_> = found.leads.iter().map(row).collect();
    screen.table(["LEAD", "SCORE", "STATUS", "NAME", "PROFILE"], &rows, "There are no leads; import some with --import FILE.")?;
    Ok(())
}

async fn verify(id: i64, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let found: CampaignVerified = client.post(&["campaigns", &id.to_string(), "verify"], NOTHING).await?;
    if !screen.json(&found)? {
        screen.line(format!("{} model requests were made again from the events before each.", found.requests))?;
        for broken in &found.broken {
            screen.line(broken)?;
        }
        if let (Some(turn), Some(differs)) = (found.turn, &found.differs) {
            screen.line(format!("The first that differs: turn {turn}, {differs}"))?;
        }
    }
    if found.clean { Ok(()) } else { Err(CliError::Failed("the campaign is not what its events say".to_owned())) }
}

/// Says that somebody is there, at intervals, until the campaign is over, the one cycle that was
/// asked for has ended, or the terminal is closed.
#[expect(clippy::disallowed_methods, reason = "a sign is given at intervals, and nothing tells")]
async fn watch(id: i64, sign: Duration, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    screen.line("You are there; end with Ctrl-C. What has to be approved: level3 approvals")?;
    let (id, mut said) = (id.to_string(), String::new());
    loop {
        let _: CampaignTold = client.post(&["campaigns", &id, "present"], NOTHING).await?;
        let found: CampaignInfo = client.get(&["campaigns", &id], &[]).await?;
        let campaign = found.campaign;
        let now = format!(
            "{}, {} cycles {}",
            campaign.status,
            campaign.cycles,
            campaign.waits_for.or(campaign.reason).unwrap_or_default()
        );
        if now != said {
            screen.line(&now)?;
            said = now;
        }
        let rests = campaign.status == CampaignStatus::Paused && sign == SOON;
        if rests || matches!(campaign.status, CampaignStatus::Completed | CampaignStatus::Error) {
            return Ok(());
        }
        tokio::time::sleep(sign).await;
    }
}
