//! Postgres itself: the embedded server or the operator's own, the program's logins, the relay
//! before the agent's connections, dumps. It knows nothing of what is kept in it.

mod address;
mod dump;
pub mod embedded;
pub mod logins;
mod relay;

use std::path::PathBuf;

use sqlx::migrate::MigrateError;
use sqlx::postgres::PgConnectOptions;

use crate::config::Config;
use crate::lasting::Lasting;

pub use dump::{DumpError, Dumped, RoomForDump};
pub use relay::{Relay, TOO_LONG};

use address::Patience;
use embedded::{Embedded, EmbeddedError};
use logins::{LoginError, Logins};

/// The name of the database inside an embedded Postgres.
const EMBEDDED_NAME: &str = "level3";

/// A Postgres that answers, not yet prepared for this program.
pub struct Database {
    embedded: Option<Embedded>,
    /// The folder for sockets of this process.
    home: PathBuf,
    admin: PgConnectOptions,
    name: String,
    create: bool,
}

/// Makes the agent's logins anew while the server runs.
pub struct Repair {
    admin: PgConnectOptions,
    name: String,
}

impl Repair {
    /// Puts all logins back to what they were made as: password, settings, rights.
    ///
    /// # Errors
    /// [`LoginError`], which says what to do.
    pub async fn run(&self) -> Result<(), LoginError> {
        logins::prepare(&self.admin, &self.name, false).await.map(|_| ())
    }
}

/// Why the database cannot be used; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The embedded Postgres did not start.
    #[error("the embedded Postgres cannot be used")]
    Embedded(#[from] EmbeddedError),
    /// `DATABASE_URL` is no address.
    #[error("DATABASE_URL is not a Postgres address like postgres://user:password@host:5432/database")]
    Url(#[source] sqlx::Error),
    /// `DATABASE_URL` is an address of something else.
    #[error("DATABASE_URL begins with `{0}:`; level3 keeps everything in Postgres, so it begins with postgres://")]
    NotPostgres(String),
    /// `DATABASE_URL` names no database.
    #[error(
        "DATABASE_URL names no database; add one, as in postgres://user:password@host:5432/level3. It becomes level3's own: other logins \
         are shut out of it"
    )]
    NoName,
    /// Nobody answers at `DATABASE_URL`.
    #[error(
        "no Postgres answered at DATABASE_URL within {seconds} s ({said}); start it, or unset DATABASE_URL to use an embedded one"
    )]
    Unreachable {
        /// How long it was waited for.
        seconds: u64,
        /// The outcome of the last attempt.
        said: String,
    },
    /// The Postgres at `DATABASE_URL` does not let us in.
    #[error(transparent)]
    Refused(Box<LoginError>),
    /// The logins could not be made.
    #[error("the logins of the server and of the agent cannot be prepared")]
    Logins(#[from] LoginError),
    /// The database was written by a newer version.
    #[error("this database was written by a newer level3 (it has migration {0}); run that version, or restore a backup")]
    Newer(i64),
    /// A migration failed.
    #[error("the database could not be brought up to date")]
    Migration(#[source] MigrateError),
    /// The socket for the agent's connections could not be made.
    #[error("no socket can be made for the agent's connections, in the data folder or in the folder for temporary files")]
    Relay(#[source] std::io::Error),
    /// A query failed while opening.
    #[error("the database did not do what was asked while it was opened")]
    Query(#[from] sqlx::Error),
}

impl Lasting for DatabaseError {
    fn lasts(&self) -> bool {
        match self {
            Self::Embedded(source) => source.lasts(),
            Self::Logins(source) => source.lasts(),
            Self::Refused(source) => source.lasts(),
            Self::Migration(source) => source.lasts(),
            Self::Query(source) => source.lasts(),
            Self::Unreachable { .. } => false,
            Self::Url(_) | Self::NotPostgres(_) | Self::NoName | Self::Newer(_) | Self::Relay(_) => true,
        }
    }
}

impl Database {
    /// Starts the embedded Postgres, or waits for the one at `DATABASE_URL`.
    ///
    /// # Errors
    /// When there is none to use.
    pub async fn open(config: &Config) -> Result<Self, DatabaseError> {
        let Some(url) = &config.database_url else {
            let embedded = Embedded::start(&config.data_dir, config.postgres_bin.as_deref()).await?;
            let admin = embedded.admin();
            let home = config.data_dir.clone();
            return Ok(Self { embedded: Some(embedded), home, admin, name: EMBEDDED_NAME.to_owned(), create: true });
        };
        let (admin, name) = address::target(url)?;
        address::wait_for(&admin, Patience::default(), |why| {
            tracing::warn!(
                host = admin.get_host(),
                port = admin.get_port(),
                why,
                "the Postgres at DATABASE_URL does not answer; waiting"
            );
        })
        .await?;
        Ok(Self { embedded: None, home: config.data_dir.clone(), admin, name, create: false })
    }

    /// The database of a server that runs on this data folder, or the one at `DATABASE_URL`;
    /// nothing is started.
    ///
    /// # Errors
    /// When there is none to use.
    pub async fn running(config: &Config) -> Result<Self, DatabaseError> {
        if config.database_url.is_some() {
            return Self::open(config).await;
        }
        let (home, admin) = (config.data_dir.clone(), embedded::reach(&config.data_dir)?);
        Ok(Self { embedded: None, home, admin, name: EMBEDDED_NAME.to_owned(), create: false })
    }

    /// A database of its own inside a Postgres that is up already, made when missing.
    pub fn inside(admin: PgConnectOptions, name: &str) -> Self {
        Self { embedded: None, home: std::env::temp_dir(), admin, name: name.to_owned(), create: true }
    }

    /// Makes the logins, or puts them back to what they were made as: password, settings, rights.
    ///
    /// # Errors
    /// [`DatabaseError`], which says what to do.
    pub async fn logins(&self) -> Result<Logins, DatabaseError> {
        logins::prepare(&self.admin, &self.name, self.create).await.map_err(|error| match error {
            LoginError::Connect { source, .. } if self.embedded.is_some() => EmbeddedError::Refused { source }.into(),
            error => error.into(),
        })
    }

    /// The program's own login, as it will be once the logins are made.
    ///
    /// # Errors
    /// The name of the database leaves no room for it.
    pub fn app(&self) -> Result<PgConnectOptions, DatabaseError> {
        Ok(logins::expected(&self.admin, &self.name)?.app)
    }

    /// True for a server that this program has just started: it has no sessions of anybody else.
    pub fn is_fresh(&self) -> bool {
        self.embedded.is_some()
    }

    /// Starts what stands between the agent's connections and this database.
    ///
    /// # Errors
    /// When no socket can be made for it.
    pub fn relay(&self) -> Result<Relay, DatabaseError> {
        Relay::start(&self.admin, &self.home).map_err(DatabaseError::Relay)
    }

    /// A way to make the agent's logins anew while the server runs.
    pub fn repair(&self) -> Repair {
        Repair { admin: self.admin.clone(), name: self.name.clone() }
    }

    /// Completes, with how, when the embedded Postgres has ended without being told to; never for
    /// the operator's own.
    pub fn lost(&self) -> impl Future<Output = String> + Send + use<> {
        let embedded = self.embedded.as_ref().map(Embedded::lost);
        async move {
            match embedded {
                Some(lost) => lost.await,
                None => std::future::pending().await,
            }
        }
    }

    /// Stops the embedded Postgres; does nothing to the operator's own.
    ///
    /// # Errors
    /// When it does not stop.
    pub async fn stop(self) -> Result<(), DatabaseError> {
        match self.embedded {
            Some(embedded) => Ok(embedded.stop().await?),
            None => Ok(()),
        }
    }
}

/// The changes that bring a database to the form this program needs, in order.
pub fn migrations() -> sqlx::migrate::Migrator {
    sqlx::migrate!("../../migrations")
}
