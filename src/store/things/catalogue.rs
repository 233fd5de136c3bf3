//! The catalogue: what rarely changes, kept in memory, with the number under which the database has
//! it. Triggers count each change there, so no writer can forget to. A caller that decides by it
//! gives the number that a statement has just read, or has it read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{query, query_scalar};

use super::bodies::Bodies;
use super::capabilities::CapabilitySummary;
use super::mcp_servers::{McpServer, McpTool};
use super::policies::StoredPolicy;
use crate::domain::{CapabilityVersion, ProfilePolicy, Rule, SharedSpec};
use crate::store::{CatalogueVersion, Store, StoreError, value};

/// The policies, rules, capabilities and external tools of one moment.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// 0: nothing was read yet.
    version: i64,
    policies: BTreeMap<String, StoredPolicy>,
    rules: BTreeMap<String, BTreeMap<String, Rule>>,
    capabilities: BTreeMap<String, Arc<Listed>>,
    servers: BTreeMap<String, StoredServer>,
    external: BTreeMap<String, ListedExternal>,
}

/// A capability of the catalogue.
#[derive(Debug)]
pub struct Listed {
    /// The live version, as far as a model sees it.
    pub summary: CapabilitySummary,
    /// False if a person disabled it.
    pub enabled: bool,
    /// The time of its last change: it was installed, rolled back, disabled or enabled.
    pub(super) updated_at: DateTime<Utc>,
    /// Differs if somebody changed the row of this version by hand.
    pub(super) stamp: i64,
    /// The capability as a model is offered it, once somebody has worked that out.
    pub offer: OnceLock<SharedSpec>,
}

/// A tool of an external server in the catalogue.
#[derive(Debug)]
pub struct ListedExternal {
    /// The tool, as its server last listed it.
    pub tool: McpTool,
    /// The tool as a model is offered it, once somebody has worked that out.
    pub offer: OnceLock<SharedSpec>,
}

/// The newest one that was read. Clones share it.
#[derive(Clone, Default)]
pub(in crate::store) struct Kept {
    newest: Arc<Mutex<Arc<Catalogue>>>,
    /// Whole versions that were called lately.
    pub(super) bodies: Bodies,
}

impl Kept {
    pub(super) fn newest(&self) -> Arc<Catalogue> {
        Arc::clone(&self.newest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps a catalogue, unless another task has read a newer one meanwhile.
    fn keep(&self, read: &Arc<Catalogue>) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.version < read.version {
            *newest = Arc::clone(read);
        }
    }
}

#[derive(Debug, Deserialize)]
struct RuleRow {
    profile: String,
    tool: String,
    rule: Rule,
}

#[derive(Debug, Deserialize)]
struct CapabilityRow {
    name: String,
    version: i32,
    stamp: i64,
    enabled: bool,
    updated_at: DateTime<Utc>,
    /// `None`: as it is known.
    description: Option<String>,
    parameters: Option<Value>,
}

/// A server's row. One that this version cannot read does no harm to the others.
#[derive(Debug, Deserialize)]
struct StoredServer {
    name: String,
    transport: Value,
    created_at: DateTime<Utc>,
}

impl Store {
    /// The catalogue as it stands. With a number that a statement has just read, the database is
    /// asked only if what is kept is older. Without one it is asked for the number first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn catalogue(&self, seen: Option<CatalogueVersion>) -> Result<Arc<Catalogue>, StoreError> {
        let version = match seen {
            Some(CatalogueVersion(version)) => version,
            None => query_scalar!(r#"SELECT catalogue_version() AS "version!""#).fetch_one(&self.pool).await?,
        };
        let kept = self.catalogue.newest();
        if kept.version >= version {
            return Ok(kept);
        }
        let read = Arc::new(self.read_catalogue(&kept).await?);
        self.catalogue.keep(&read);
        Ok(read)
    }

    /// Reads all of it, in one statement and so of one moment. Only of capabilities that are not
    /// `known` as they are, it reads more than their versions.
    async fn read_catalogue(&self, known: &Catalogue) -> Result<Catalogue, StoreError> {
        let (mut names, mut versions, mut stamps) = (Vec::new(), Vec::new(), Vec::new());
        for (name, listed) in &known.capabilities {
            names.push(name.clone());
            versions.push(listed.summary.version);
            stamps.push(listed.stamp);
        }
        let row = query!(
            r#"SELECT catalogue_version() AS "version!",
                      (SELECT coalesce(json_agg(row_to_json(p)), '[]') FROM (
                           SELECT profile, mode, governor, budgets, models FROM profile_policies) p) AS "policies!: Json<Vec<StoredPolicy>>",
                      (SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM (
                           SELECT profile, tool, rule FROM tool_rules) r) AS "rules!: Json<Vec<RuleRow>>",
                      (SELECT coalesce(json_agg(row_to_json(c)), '[]') FROM (
                           SELECT v.name, v.version, v.xmin::text::bigint AS stamp, l.state = 'installed' AS enabled, l.updated_at,
                                  CASE WHEN k.stamp IS NULL THEN v.description END AS description,
                                  CASE WHEN k.stamp IS NULL THEN v.parameters END AS parameters
                           FROM capabilities l JOIN capability_versions v ON (v.name, v.version) = (l.name, l.version)
                           LEFT JOIN unnest($1::text[], $2::int[], $3::bigint[]) k (name, version, stamp)
                               ON (k.name, k.version, k.stamp) = (v.name, v.version, v.xmin::text::bigint)) c)
                          AS "capabilities!: Json<Vec<CapabilityRow>>",
                      (SELECT coalesce(json_agg(row_to_json(s)), '[]') FROM (
                           SELECT name, transport, created_at FROM mcp_servers) s) AS "servers!: Json<Vec<StoredServer>>",
                      (SELECT coalesce(json_agg(row_to_json(t)), '[]') FROM (
                           SELECT tool, server, name, description, parameters, version, changed_at FROM mcp_tools WHERE listed) t)
                          AS "external!: Json<Vec<McpTool>>""#,
            &names,
            &versions,
            &stamps
        )
        .fetch_one(&self.pool)
        .await?;
        let mut rules: BTreeMap<String, BTreeMap<String, Rule>> = BTreeMap::new();
        for RuleRow { profile, tool, rule } in row.rules.0 {
            rules.entry(profile).or_default().insert(tool, rule);
        }
        let capabilities = row.capabilities.0.into_iter().map(|row| listed(row, known));
        Ok(Catalogue {
            version: row.version,
            policies: row.policies.0.into_iter().map(|policy| (policy.profile.clone(), policy)).collect(),
            rules,
            capabilities: capabilities.collect::<Result<_, StoreError>>()?,
            servers: row.servers.0.into_iter().map(|server| (server.name.clone(), server)).collect(),
            external: row
                .external
                .0
                .into_iter()
                .map(|tool| (tool.tool.clone(), ListedExternal { tool, offer: OnceLock::new() }))
                .collect(),
        })
    }
}

/// A capability's row, with what was `known` of it if that was not read again.
fn listed(row: CapabilityRow, known: &Catalogue) -> Result<(String, Arc<Listed>), StoreError> {
    let CapabilityRow { name, version, stamp, enabled, updated_at, description, parameters } = row;
    let before = known.capabilities.get(&name);
    let same = |before: &&Arc<Listed>| (before.stamp, before.enabled, before.updated_at) == (stamp, enabled, updated_at);
    if let Some(before) = before.filter(same) {
        return Ok((name, Arc::clone(before)));
    }
    let read = description.zip(parameters);
    let (description, parameters) = read
        .or_else(|| before.map(|before| (before.summary.description.clone(), before.summary.parameters.clone())))
        .ok_or_else(|| StoreError::Unreadable(format!("the capability {name} has no description")))?;
    let summary = CapabilitySummary { name: name.clone(), version, description, parameters };
    Ok((name, Arc::new(Listed { summary, enabled, updated_at, stamp, offer: OnceLock::new() })))
}

impl Catalogue {
    /// The policy of a profile; one without settings has the default.
    ///
    /// # Errors
    /// A stored policy that this version cannot read is an error, never the default.
    pub fn policy(&self, profile: &str) -> Result<ProfilePolicy, StoreError> {
        let rules = self.rules.get(profile).cloned().unwrap_or_default();
        match self.policies.get(profile) {
            Some(stored) => stored.read(rules),
            None => Ok(ProfilePolicy { rules, ..ProfilePolicy::default() }),
        }
    }

    /// The rule of a profile for a tool, if it has one.
    pub fn rule(&self, profile: &str, tool: &str) -> Option<Rule> {
        self.rules.get(profile)?.get(tool).copied()
    }

    /// The names of all capabilities, also of those that a person disabled.
    pub fn capability_names(&self) -> impl Iterator<Item = &str> {
        self.capabilities.keys().map(String::as_str)
    }

    /// The live capabilities, by name.
    pub fn capabilities(&self) -> impl Iterator<Item = &Arc<Listed>> {
        self.capabilities.values().filter(|listed| listed.enabled)
    }

    /// The capability of this name, disabled or not.
    pub fn capability(&self, name: &str) -> Option<&Arc<Listed>> {
        self.capabilities.get(name)
    }

    /// The live version of a capability, whole; `None` if no capability has this name, or a person
    /// disabled it.
    ///
    /// # Errors
    /// If the database does not answer or holds a version this program cannot read.
    pub async fn live(&self, store: &Store, name: &str) -> Result<Option<Arc<CapabilityVersion>>, StoreError> {
        match self.capabilities.get(name).filter(|listed| listed.enabled) {
            Some(listed) => store.body(name, listed.summary.version, listed.stamp).await.map(Some),
            None => Ok(None),
        }
    }

    /// The tools that external servers list, by their names for models.
    pub fn external(&self) -> impl Iterator<Item = &ListedExternal> {
        self.external.values()
    }

    /// One of them.
    pub fn external_tool(&self, tool: &str) -> Option<&McpTool> {
        self.external.get(tool).map(|listed| &listed.tool)
    }

    /// The external servers, by name.
    ///
    /// # Errors
    /// If one of them cannot be read by this version.
    pub fn servers(&self) -> Result<Vec<McpServer>, StoreError> {
        self.servers.values().map(StoredServer::read).collect()
    }

    /// One of them; `None` if none has this name.
    ///
    /// # Errors
    /// If this version cannot read it.
    pub fn server(&self, name: &str) -> Result<Option<McpServer>, StoreError> {
        self.servers.get(name).map(StoredServer::read).transpose()
    }
}

impl StoredServer {
    fn read(&self) -> Result<McpServer, StoreError> {
        let Self { name, transport, created_at } = self;
        Ok(McpServer { name: name.clone(), transport: value(transport.clone())?, created_at: *created_at })
    }
}
