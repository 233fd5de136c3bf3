//! Servers of other people's tools, and the tools that they last listed.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::query;
use sqlx::types::Json;

use crate::domain::{McpDefinition, McpListing, McpTransport};
use crate::store::{Store, StoreError};

/// A server as an operator added it.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// The way to it.
    pub transport: McpTransport,
    /// When it was added.
    pub created_at: DateTime<Utc>,
}

/// A tool of such a server, as the server last listed it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct McpTool {
    /// The name for models.
    pub tool: String,
    /// Its server.
    pub server: String,
    /// The server's own name for it.
    pub name: String,
    /// The server's description of it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// The number of this definition. Another definition has another number.
    pub version: i32,
    /// The time at which the definition last changed, if it did since it was first listed.
    pub changed_at: Option<DateTime<Utc>>,
}

impl Store {
    /// Adds a server with the tools that it lists; false if one has this name.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn add_mcp_server(
        &self,
        name: &str,
        transport: &McpTransport,
        listed: &McpListing,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let added = query!(
            "INSERT INTO mcp_servers (name, transport, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            name,
            json!(transport),
            now
        );
        if added.execute(&self.pool).await?.rows_affected() == 0 {
            return Ok(false);
        }
        self.list_mcp_tools(name, listed, now).await?;
        Ok(true)
    }

    /// Removes a server with its tools, and the rules by which they are called unasked; false if
    /// none has this name.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn remove_mcp_server(&self, name: &str) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        query!("DELETE FROM tool_rules WHERE rule = 'always' AND tool IN (SELECT tool FROM mcp_tools WHERE server = $1)", name)
            .execute(&mut *tx)
            .await?;
        let removed = query!("DELETE FROM mcp_servers WHERE name = $1", name).execute(&mut *tx).await?.rows_affected() == 1;
        tx.commit().await?;
        Ok(removed)
    }

    /// The servers, by name.
    ///
    /// # Errors
    /// If the database does not answer or holds one that this version cannot read.
    pub async fn mcp_servers(&self) -> Result<Vec<McpServer>, StoreError> {
        self.catalogue(None).await?.servers()
    }

    /// One server; `None` if none has this name.
    ///
    /// # Errors
    /// As [`Store::mcp_servers`].
    pub async fn mcp_server(&self, name: &str) -> Result<Option<McpServer>, StoreError> {
        self.catalogue(None).await?.server(name)
    }

    /// The tools that servers list, by their names for models.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn mcp_tools(&self) -> Result<Vec<McpTool>, StoreError> {
        Ok(self.catalogue(None).await?.external().map(|listed| listed.tool.clone()).collect())
    }

    /// The tools that a server listed last and that cannot be offered, with the reasons.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn mcp_left_out(&self, server: &str) -> Result<BTreeMap<String, String>, StoreError> {
        let found = sqlx::query_scalar::<_, Json<BTreeMap<String, String>>>("SELECT left_out FROM mcp_servers WHERE name = $1");
        Ok(found.bind(server).fetch_optional(&self.pool).await?.map(|Json(left_out)| left_out).unwrap_or_default())
    }

    /// Keeps the tools that a server lists now, and returns those whose definition changed. A rule
    /// that nobody need be asked about such a tool was made for the old definition, and goes.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn list_mcp_tools(&self, server: &str, listed: &McpListing, now: DateTime<Utc>) -> Result<Vec<String>, StoreError> {
        let mut tx = self.pool.begin().await?;
        // Listings of one server come one after the other.
        query!("SELECT FROM mcp_servers WHERE name = $1 FOR UPDATE", server).fetch_optional(&mut *tx).await?;
        let mut left_out = json!(listed.left_out);
        self.scrubber.clean_json(&mut left_out);
        // Every write counts as a change of the catalogue, and a server is listed before each call.
        sqlx::query("UPDATE mcp_servers SET left_out = $2 WHERE name = $1 AND left_out <> $2")
            .bind(server)
            .bind(left_out)
            .execute(&mut *tx)
            .await?;
        let names: Vec<_> = listed.tools.iter().map(|definition| definition.tool.clone()).collect();
        query!("UPDATE mcp_tools SET listed = FALSE WHERE server = $1 AND listed AND tool <> ALL($2)", server, &names)
            .execute(&mut *tx)
            .await?;
        let mut changed = Vec::new();
        for definition in &listed.tools {
            let McpDefinition { tool, name, description, parameters, sha256 } = definition;
            let description = self.clean(description);
            let mut parameters = parameters.clone();
            self.scrubber.clean_json(&mut parameters);
            let known = sqlx::query_as::<_, (String, bool, String)>(
                "SELECT sha256, listed, description FROM mcp_tools WHERE tool = $1 FOR UPDATE",
            );
            match known.bind(tool).fetch_optional(&mut *tx).await? {
                None => {
                    query!(
                        "INSERT INTO mcp_tools (tool, server, name, description, parameters, sha256)
                         SELECT $1, name, $3, $4, $5, $6 FROM mcp_servers WHERE name = $2",
                        tool,
                        server,
                        name,
                        &*description,
                        parameters,
                        sha256
                    )
                    .execute(&mut *tx)
                    .await?;
                }
                Some((known, true, words)) if known == *sha256 && words == *description => {}
                // The server lists it again; or its words are kept in another form than before.
                Some((known, ..)) if known == *sha256 => {
                    sqlx::query("UPDATE mcp_tools SET listed = TRUE, description = $2 WHERE tool = $1")
                        .bind(tool)
                        .bind(&*description)
                        .execute(&mut *tx)
                        .await?;
                }
                Some(_) => {
                    query!(
                        "UPDATE mcp_tools SET name = $2, description = $3, parameters = $4, sha256 = $5, listed = TRUE, changed_at = $6,
                                              version = nextval('mcp_definitions')
                         WHERE tool = $1",
                        tool,
                        name,
                        &*description,
                        parameters,
                        sha256,
                        now
                    )
                    .execute(&mut *tx)
                    .await?;
                    query!("DELETE FROM tool_rules WHERE tool = $1 AND rule = 'always'", tool).execute(&mut *tx).await?;
                    changed.push(tool.clone());
                }
            }
        }
        tx.commit().await?;
        Ok(changed)
    }
}
