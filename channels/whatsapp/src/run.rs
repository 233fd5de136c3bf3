//! The program: waits for `start`, and keeps one connection after the other until level3 closes the
//! input.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;
use whatsapp_rust::chrono::Utc;

use crate::ban::Ban;
use crate::folder::Folder;
use crate::journal::Journal;
use crate::life::{self, End, Next, Row};
use crate::lines::{Heard, Reports};
use crate::link::Link;
use crate::protocol::{Order, Outgoing, Report, Start, State, Status, VERSION};
use crate::server::Server;
use crate::shared::{Shared, in_future, passed, written};
use crate::{address, consent, outbound};

/// The version of whatsapp-rust that this program is built with, for the words about an outdated
/// client.
const LIBRARY: &str = "0.7.0";

/// Runs until level3 closes the input.
///
/// # Errors
/// Words for the log: a line was wrong, or the folder cannot be used.
pub async fn run(mut orders: Receiver<Heard>, reports: Reports, server: Server) -> Result<(), String> {
    let start = match orders.recv().await {
        None => return Ok(()),
        Some(Heard::Order(Order::Start(start))) => start,
        Some(Heard::Order(_)) => return Err("the first line has to be `start`".to_owned()),
        Some(Heard::Wrong(why)) => return Err(why),
    };
    if start.version != VERSION {
        let reason =
            format!("this program speaks version {VERSION} of the protocol, and level3 {}: build it again", start.version);
        reports.say(&Report::Status(Status::because(State::Outdated, "version", reason)));
        return Ok(());
    }
    let folder = Folder::open(&start.folder, &start.media).map_err(|error| format!("the folder cannot be used: {error}"))?;
    let journal = Journal::open(&folder.journal()).map_err(|error| format!("the journal cannot be used: {error}"))?;
    let shared = Arc::new(Shared::new(reports, folder, journal));
    let mut program = Program { orders, shared, server, start };
    if !consent::given(program.shared.folder.root()) {
        program.shared.tell(without_consent(&program.start.folder));
        return program.idle(None).await.map(|_| ());
    }
    program.connections().await
}

fn without_consent(folder: &str) -> Status {
    let command = format!("level3-whatsapp consent --folder '{folder}'");
    Status::because(State::LoggedOut, "consent", format!("nobody has agreed to the risk yet: `{command}` shows it and asks"))
}

struct Program {
    orders: Receiver<Heard>,
    shared: Arc<Shared>,
    server: Server,
    start: Start,
}

impl Program {
    async fn connections(&mut self) -> Result<(), String> {
        let mut row = Row::default();
        if self.sit_out().await? {
            return Ok(());
        }
        loop {
            self.shared.tell(Status::plain(State::Connecting));
            let (end, online) = self.connection().await?;
            let what;
            (row, what) = life::next(row, online, &end);
            self.shared.nobody_answers();
            let pause = match &what {
                Next::Pause(pause) => Some(self.scaled(*pause)),
                _ => None,
            };
            let until = pause.map(in_future);
            self.keep_ban(&end, until.as_deref());
            if let Some(status) = status(&end, until.as_deref()) {
                self.shared.tell(status);
            }
            let folder = &self.shared.folder;
            let changed = match what {
                Next::Leave => return Ok(()),
                Next::Anew => folder.put_aside(Utc::now().timestamp()),
                Next::Forget => folder.forget(),
                Next::Rest | Next::Pause(_) => Ok(()),
            };
            changed.map_err(|error| format!("the session cannot be put away: {error}"))?;
            let leave = match what {
                Next::Anew => false,
                _ => self.idle(pause).await?,
            };
            if leave {
                return Ok(());
            }
        }
    }

    /// Waits for the end of a ban of which an earlier run was told: true if the program is to end.
    async fn sit_out(&mut self) -> Result<bool, String> {
        let Some((ban, left)) = Ban::read(&self.shared.folder.ban(), Utc::now()) else { return Ok(false) };
        self.shared.tell(banned(&ban.reason).until(ban.until));
        self.idle(Some(left)).await
    }

    /// Keeps a ban before anybody hears of it. One that cannot be kept is still waited for by this
    /// run.
    fn keep_ban(&self, end: &End, until: Option<&str>) {
        let (End::Banned { reason, .. }, Some(until)) = (end, until) else { return };
        let ban = Ban { at: written(Utc::now()), until: until.to_owned(), reason: reason.clone() };
        if let Err(error) = ban.keep(&self.shared.folder.ban()) {
            log::error!("the ban's end cannot be kept, so a program that is started again does not know of it: {error}");
        }
    }

    /// One connection: how it ended, and whether it had been online.
    async fn connection(&mut self) -> Result<(End, bool), String> {
        let mut link = match Link::open(Arc::clone(&self.shared), &self.server, &self.start).await {
            Ok(link) => link,
            Err(error) => {
                log::error!("the session cannot be opened: {error:#}");
                return Ok((End::Unreadable, false));
            }
        };
        let end = loop {
            tokio::select! {
                end = link.next_end() => break end,
                heard = self.orders.recv() => match heard {
                    None => break End::Closed,
                    Some(Heard::Wrong(why)) => return Err(why),
                    Some(Heard::Order(Order::Logout)) => {
                        link.client.logout().await;
                        break End::Logout;
                    }
                    Some(Heard::Order(order)) => self.obey(order, Some(&link)),
                },
            }
        };
        let online = link.was_online;
        link.close().await;
        Ok((end, online))
    }

    /// Without a connection, for so long, or for good: true if the program is to end.
    async fn idle(&mut self, pause: Option<Duration>) -> Result<bool, String> {
        let mut end = pause.map(|pause| Instant::now() + pause);
        loop {
            tokio::select! {
                () = passed(end) => return Ok(false),
                heard = self.orders.recv() => match heard {
                    None => return Ok(true),
                    Some(Heard::Wrong(why)) => return Err(why),
                    Some(Heard::Order(Order::Logout)) => {
                        self.shared.folder.forget().map_err(|error| format!("the session cannot be deleted: {error}"))?;
                        self.shared.tell(logged_out());
                        end = None;
                    }
                    Some(Heard::Order(order)) => self.obey(order, None),
                },
            }
        }
    }

    fn obey(&self, order: Order, link: Option<&Link>) {
        let client = link.map(|link| Arc::clone(&link.client));
        match order {
            Order::Send(order) => self.send(order, client),
            Order::Accepted { from, id } => self.shared.accepted(from, id),
            Order::Typing { to, on } => {
                if let (Some(client), Ok(to)) = (client, address::jid(&to)) {
                    tokio::spawn(async move {
                        let chat = client.chatstate();
                        let shown = if on { chat.send_composing(&to).await } else { chat.send_paused(&to).await };
                        if let Err(error) = shown {
                            log::warn!("typing could not be shown: {error}");
                        }
                    });
                }
            }
            Order::Start(_) | Order::Logout => log::warn!("an order was left out: it has no meaning now"),
        }
    }

    fn send(&self, order: Outgoing, client: Option<Arc<whatsapp_rust::Client>>) {
        tokio::spawn(outbound::send(Arc::clone(&self.shared), client, order));
    }

    /// A pause in minutes as long as this build takes minutes to be.
    fn scaled(&self, pause: Duration) -> Duration {
        self.server.minute().mul_f64(pause.as_secs_f64() / 60.0)
    }
}

fn logged_out() -> Status {
    Status::because(State::LoggedOut, "logout", "the session was ended, and its credentials were deleted")
}

fn banned(reason: &str) -> Status {
    Status::because(State::Locked, "402", format!("WhatsApp has banned this number for a time ({reason})"))
}

/// The words about an outdated client. The first release that will do is not known here, so they
/// say which ones will not.
fn outdated(web: &str) -> String {
    format!(
        "WhatsApp takes no client of this version: level3-whatsapp {} with whatsapp-rust {LIBRARY}, \
         which says it is WhatsApp Web {web}. Get a release of level3 whose channels/whatsapp/Cargo.toml \
         names a whatsapp-rust after {LIBRARY}, and build the program anew",
        env!("CARGO_PKG_VERSION")
    )
}

/// The words for level3 about an end.
fn status(end: &End, until: Option<&str>) -> Option<Status> {
    let until = |status: Status| match until {
        Some(until) => status.until(until.to_owned()),
        None => status,
    };
    Some(match end {
        End::Closed => return None,
        End::Logout => logged_out(),
        End::LoggedOut { code } => {
            Status::because(State::LoggedOut, code, "the phone or WhatsApp ended the link: scan the new code to link again")
        }
        End::Locked => until(Status::because(
            State::Locked,
            "403",
            "WhatsApp has locked this account: open WhatsApp on the phone, it says why",
        )),
        End::Banned { reason, .. } => until(banned(reason)),
        End::Outdated { code, web } => Status::because(State::Outdated, code, outdated(web)),
        End::Replaced => until(Status::because(State::Locked, "replaced", "another program uses this session: end it")),
        End::Unscanned => Status::because(
            State::LoggedOut,
            "unscanned",
            "no phone scanned any of the codes: start the channel again for new ones",
        ),
        End::Unreadable => until(Status::because(
            State::Connecting,
            "session",
            "the session in whatsapp-session cannot be opened, and the log says why: mend it, or move the folder away and link again",
        )),
        End::Failed { code } => {
            until(Status::because(State::Connecting, code, "WhatsApp ended the connection; the next attempt comes later"))
        }
    })
}

#[cfg(test)]
mod tests;
