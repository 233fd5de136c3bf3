//! Servers of other people's tools, and what they last said of their tools.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::query;

use crate::domain::{McpDefinition, McpTransport};
use crate::store::{Store, StoreError, value};

/// A server as an operator added it.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// When it was added.
    pub created_at: DateTime<Utc>,
}

/// A tool of such a server, as it was last listed.
#[derive(Clone, Debug, PartialEq)]
pub struct McpTool {
    /// As models call it.
    pub tool: String,
    /// Whose it is.
    pub server: String,
    /// As the server calls it.
    pub name: String,
    /// What the server says of it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// The number of this definition. Another definition has another number.
    pub version: i32,
    /// When the definition became another than the one first listed.
    pub changed_at: Option<DateTime<Utc>>,
}

impl Store {
    /// Adds a server with what it lists; false when there is one of this name.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn add_mcp_server(
        &self,
        name: &str,
        transport: &McpTransport,
        listed: &[McpDefinition],
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

    /// Removes a server with its tools, and the rules that let them be called without asking; false when there is none of this name.
    ///
    /// # Errors
    /// When the database is not there.
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
    /// When the database is not there or holds one that this version cannot read.
    pub async fn mcp_servers(&self) -> Result<Vec<McpServer>, StoreError> {
        let rows = query!("SELECT name, transport, created_at FROM mcp_servers ORDER BY name").fetch_all(&self.pool).await?;
        let server = |name, transport, created_at| Ok(McpServer { name, transport: value(transport)?, created_at });
        rows.into_iter().map(|row| server(row.name, row.transport, row.created_at)).collect()
    }

    /// One server; `None` when there is none of this name.
    ///
    /// # Errors
    /// As [`Store::mcp_servers`].
    pub async fn mcp_server(&self, name: &str) -> Result<Option<McpServer>, StoreError> {
        Ok(self.mcp_servers().await?.into_iter().find(|server| server.name == name))
    }

    /// The tools that servers list, by the names models use.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn mcp_tools(&self) -> Result<Vec<McpTool>, StoreError> {
        let tools = sqlx::query_as!(
            McpTool,
            "SELECT tool, server, name, description, parameters, version, changed_at FROM mcp_tools WHERE listed ORDER BY tool"
        );
        Ok(tools.fetch_all(&self.pool).await?)
    }

    /// One of them; `None` when no server lists it.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn mcp_tool(&self, tool: &str) -> Result<Option<McpTool>, StoreError> {
        let found = sqlx::query_as!(
            McpTool,
            "SELECT tool, server, name, description, parameters, version, changed_at FROM mcp_tools WHERE tool = $1 AND listed",
            tool
        );
        Ok(found.fetch_optional(&self.pool).await?)
    }

    /// Keeps what a server lists now, and gives the tools whose definition is another than before. A rule that such a tool need not be
    /// asked about was made for what it was, and is gone.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn list_mcp_tools(
        &self,
        server: &str,
        listed: &[McpDefinition],
        now: DateTime<Utc>,
    ) -> Result<Vec<String>, StoreError> {
        let mut tx = self.pool.begin().await?;
        // One listing of a server after the other.
        query!("SELECT FROM mcp_servers WHERE name = $1 FOR UPDATE", server).fetch_optional(&mut *tx).await?;
        let names: Vec<_> = listed.iter().map(|definition| definition.tool.clone()).collect();
        query!("UPDATE mcp_tools SET listed = FALSE WHERE server = $1 AND listed AND tool <> ALL($2)", server, &names)
            .execute(&mut *tx)
            .await?;
        let mut changed = Vec::new();
        for definition in listed {
            let McpDefinition { tool, name, description, parameters, sha256 } = definition;
            let description = self.clean(description);
            let mut parameters = parameters.clone();
            self.scrubber.clean_json(&mut parameters);
            let known =
                query!("SELECT sha256, listed FROM mcp_tools WHERE tool = $1 FOR UPDATE", tool).fetch_optional(&mut *tx).await?;
            match known {
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
                Some(known) if known.sha256 == *sha256 && known.listed => {}
                Some(known) if known.sha256 == *sha256 => {
                    query!("UPDATE mcp_tools SET listed = TRUE WHERE tool = $1", tool).execute(&mut *tx).await?;
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
