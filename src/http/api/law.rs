//! A profile's policy, the rates of models, and the usage.

use axum::Json;

use super::reply::{ApiRefusal, At, Body, Reply};
use crate::domain::{Mode, NAME_RULE, Profile, Rate, Rule, valid_name};
use crate::http::Doors;
use crate::http::visitor::{Owner, Visitor};
use crate::wire::api::{NamedPolicy, PolicyChange, Rates, RuleChange, UsageReport};

/// The most models a profile has.
const MAX_MODELS: usize = 8;
/// The longest name of a model, in bytes.
const MAX_MODEL_BYTES: usize = 200;

pub(super) async fn policy(Owner(doors): Owner, At(profile): At<String>) -> Reply<NamedPolicy> {
    let policy = doors.store.policy(doors.profiles.get(&profile)?.name).await?;
    Ok(Json(NamedPolicy { profile, policy }))
}

pub(super) async fn set_policy(
    Owner(doors): Owner,
    At(profile): At<String>,
    Body(change): Body<PolicyChange>,
) -> Reply<NamedPolicy> {
    let now = doors.store.policy(doors.profiles.get(&profile)?.name).await?;
    let mode = change.mode.unwrap_or(now.mode);
    let governor = change.governor.unwrap_or(now.governor);
    let budgets = change.budgets.unwrap_or(now.budgets);
    if doors.profiles.get(&profile)?.is_relays() && (governor || !matches!(mode, Mode::Auto | Mode::ReadOnly)) {
        return Err(ApiRefusal::bad(format!(
            "the profile `{profile}` cannot ask anybody: its mode is auto or read_only, without a governor"
        )));
    }
    if doors.profiles.get(&profile)?.operates && change.governor == Some(false) {
        return Err(ApiRefusal::bad(format!("the governor is always on for the profile `{profile}`")));
    }
    // All is read before anything is set: a change is made as a whole or not at all.
    let models = change.models.map(|models| named_models(&doors, &models)).transpose()?;
    doors.store.set_profile_policy(&profile, mode, governor, &budgets, doors.clock.now()).await?;
    if let Some(models) = models {
        doors.store.set_profile_models(&profile, &models, doors.clock.now()).await?;
    }
    policy(Owner(doors), At(profile)).await
}

pub(super) async fn set_rule(
    Owner(doors): Owner,
    At((profile, tool)): At<(String, String)>,
    Body(RuleChange { rule }): Body<RuleChange>,
) -> Reply<NamedPolicy> {
    let asked = doors.profiles.get(&profile)?;
    if asked.is_relays() && rule == Some(Rule::Ask) {
        return Err(ApiRefusal::bad(format!("the profile `{profile}` cannot ask anybody: a rule there is `never`, or none")));
    }
    if !valid_name(&tool) {
        return Err(ApiRefusal::bad(format!("`{tool}` names no tool: {NAME_RULE}")));
    }
    // A person may take a rule away even if its tool is gone.
    if rule.is_some() {
        is_there(&doors, &asked, &tool).await?;
    }
    doors.store.set_tool_rule(&profile, &tool, rule, doors.clock.now()).await?;
    policy(Owner(doors), At(profile)).await
}

pub(super) async fn rates(Owner(doors): Owner) -> Reply<Rates> {
    Ok(Json(Rates { rates: doors.store.rates().await? }))
}

pub(super) async fn set_rate(Owner(doors): Owner, At(model): At<String>, Body(given): Body<Option<Rate>>) -> Reply<Rates> {
    if model.is_empty() || model.len() > MAX_MODEL_BYTES || model.contains(char::is_control) {
        return Err(ApiRefusal::bad(format!("a model's name has 1 to {MAX_MODEL_BYTES} bytes and no control characters")));
    }
    doors.store.set_rate(&model, given, doors.clock.now()).await?;
    rates(Owner(doors)).await
}

pub(super) async fn usage(visitor: Visitor) -> Reply<UsageReport> {
    Ok(Json(visitor.theirs().usage_report(visitor.now()).await?))
}

/// The names of models in the form that is kept.
fn named_models(doors: &Doors, models: &[String]) -> Result<Vec<String>, ApiRefusal> {
    if models.len() > MAX_MODELS {
        return Err(ApiRefusal::bad(format!("a profile has at most {MAX_MODELS} models, these are {}", models.len())));
    }
    models.iter().map(|model| doors.models.check(model).map_err(|error| ApiRefusal::bad(error.to_string()))).collect()
}

/// Refuses the name of a tool that a profile cannot have, and lists those that it can.
async fn is_there(doors: &Doors, profile: &Profile, tool: &str) -> Result<(), ApiRefusal> {
    let catalogue = doors.store.catalogue(None).await?;
    let tools = doors.tools.known(profile, &catalogue);
    if tools.contains(&tool) {
        return Ok(());
    }
    Err(ApiRefusal::bad(format!("there is no tool `{tool}`; there are: {}", tools.join(", "))))
}
