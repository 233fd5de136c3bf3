//! One connection with WhatsApp, from the first handshake to its end: builds the library's client,
//! and tells level3 what the client tells us. A broken connection is no end: the library connects
//! again by itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use waproto::whatsapp::device_props::PlatformType;
use whatsapp_rust::bot::{Bot, BotHandle};
use whatsapp_rust::pair_code::PairCodeOptions;
use whatsapp_rust::store::SqliteStore;
use whatsapp_rust::types::events::{ConnectFailureReason, Event, EventHandler, PairingCode, PairingQrCode};
use whatsapp_rust::wacore::store::DevicePropsOverride;
use whatsapp_rust::{Client, TokioRuntime};

use crate::inbound::Inbound;
use crate::life::End;
use crate::protocol::{Report, Start, State, Status};
use crate::server::Server;
use crate::shared::{Shared, in_future, passed};
use crate::{address, outbound};

/// How long the library may take to ask for a pairing code.
const ASKING: Duration = Duration::from_secs(30);

/// How long the library gets to write down what it knows.
const CLOSING: Duration = Duration::from_secs(3);

/// A connection.
pub struct Link {
    /// The library's client.
    pub client: Arc<Client>,
    /// True once messages went both ways.
    pub was_online: bool,
    /// True after the last QR code, while a pairing code may still be typed.
    no_more_codes: bool,
    /// The end of the pairing code.
    code_ends: Option<Instant>,
    /// The number for which a pairing code is wanted.
    pair: Option<String>,
    /// How much longer a phone gets that took the pairing code at its end.
    minute: Duration,
    handle: BotHandle,
    events: mpsc::UnboundedReceiver<Arc<Event>>,
    shared: Arc<Shared>,
}

/// Hands the library's events over in their order.
struct Ear(mpsc::UnboundedSender<Arc<Event>>);

impl EventHandler for Ear {
    fn handle_event(&self, event: Arc<Event>) {
        let _ = self.0.send(event);
    }
}

impl Link {
    /// Begins to connect.
    ///
    /// # Errors
    /// The session cannot be opened.
    pub async fn open(shared: Arc<Shared>, server: &Server, start: &Start) -> anyhow::Result<Self> {
        let session = shared.folder.session()?;
        let store = SqliteStore::new(&session.to_string_lossy()).await?;
        let (told, events) = mpsc::unbounded_channel();
        let device = DevicePropsOverride::new().with_os(&*start.name).with_platform_type(PlatformType::CHROME);
        let builder = Bot::builder()
            .with_backend(store)
            .with_runtime(TokioRuntime)
            .with_http_client(server.http())
            .with_device_props(device)
            .with_inbound_durability_hook(Inbound(Arc::clone(&shared)))
            .with_event_handler(Ear(told))
            .skip_history_sync();
        #[cfg(feature = "test-server")]
        let builder = builder.with_transport_factory(server.transport());
        #[cfg(feature = "test-server")]
        let builder = match server.version() {
            Some(version) => builder.with_version(version),
            None => builder,
        };
        let bot = builder.build().await?;
        let client = bot.client();
        let (was_online, no_more_codes, code_ends, pair) = (false, false, None, start.pair.clone());
        let (minute, handle) = (server.minute(), bot.spawn());
        let link = Self { client, was_online, no_more_codes, code_ends, pair, minute, handle, events, shared };
        link.ask_for_pairing_code();
        Ok(link)
    }

    /// Asks for a pairing code if one is wanted, and not for a device that is linked: the phone
    /// would offer to link another one. The library tells of the code, or of its failure, by an
    /// event.
    fn ask_for_pairing_code(&self) {
        let Some(number) = self.pair.clone().filter(|_| self.client.pn().is_none()) else { return };
        let client = Arc::clone(&self.client);
        tokio::spawn(async move {
            match client.wait_for_socket(ASKING).await {
                Ok(()) => {
                    let options = PairCodeOptions { phone_number: number, ..Default::default() };
                    let _ = client.pair_with_code(options).await;
                }
                Err(error) => log::warn!("there is no pairing code: {error}"),
            }
        });
    }

    /// Waits for the end of the connection, and tells level3 of everything until then. May be
    /// dropped and called again.
    pub async fn next_end(&mut self) -> End {
        loop {
            let unscanned = self.code_ends.filter(|_| self.no_more_codes);
            tokio::select! {
                biased;
                event = self.events.recv() => {
                    let Some(event) = event else { return End::Failed { code: "ended".to_owned() } };
                    if let Some(end) = self.hear(&event) {
                        return end;
                    }
                }
                () = &mut self.handle => return End::Failed { code: "ended".to_owned() },
                () = passed(unscanned) => return End::Unscanned,
            }
        }
    }

    /// Ends the connection, and lets the library write down what it knows.
    pub async fn close(self) {
        let _ = tokio::time::timeout(CLOSING, self.handle.shutdown()).await;
    }

    fn hear(&mut self, event: &Event) -> Option<End> {
        let shared = &self.shared;
        match event {
            Event::Connected(_) => {
                self.was_online = true;
                let address = self.client.pn().as_ref().and_then(address::number);
                shared.tell(Status { address, ..Status::plain(State::Online) });
            }
            Event::PairSuccess(_) => {
                self.no_more_codes = false;
                shared.tell(Status::plain(State::Connecting));
            }
            Event::Disconnected(_) => {
                shared.nobody_answers();
                shared.tell(Status::plain(State::Connecting));
                // A pairing code goes with its connection. After the last QR code that is the end
                // of it.
                if !self.no_more_codes {
                    self.ask_for_pairing_code();
                }
            }
            Event::PairingQrCode(code) => {
                self.no_more_codes = false;
                show(shared, code);
            }
            Event::PairingCode(code) => {
                self.code_ends = Some(Instant::now() + code.timeout + self.minute);
                shared.tell(pairing_code(code));
            }
            // The code is no good any more, say because the phone typed another one and fell
            // silent.
            Event::PairingCodeRefresh(refresh) if !refresh.force_manual => {
                self.code_ends = Some(Instant::now() + 2 * ASKING);
                self.ask_for_pairing_code();
            }
            Event::PairingCodeRefresh(_) => {
                self.code_ends = Some(Instant::now());
                log::warn!("WhatsApp takes the pairing code no longer: start the channel again for another one");
            }
            Event::PairingCodeError(error) => {
                self.code_ends = Some(Instant::now());
                log::warn!("there is no pairing code: {}", error.error);
            }
            // A pairing code may still be typed: the connection stays until that ends, too.
            Event::PairingQrCodesExhausted(codes) if !codes.disconnected => self.no_more_codes = true,
            Event::ClientOutdated(_) => return Some(self.outdated(ConnectFailureReason::ClientOutdated)),
            Event::ConnectFailure(failure) if failure.reason == ConnectFailureReason::BadUserAgent => {
                return Some(self.outdated(failure.reason));
            }
            Event::PairError(_) => log::warn!("a phone scanned the code, and the pairing failed: try the next code"),
            Event::ServerAck(ack) => outbound::acknowledged(shared, ack),
            Event::Receipt(receipt) => outbound::receipt(shared, receipt),
            other => return end(other),
        }
        None
    }

    /// WhatsApp takes no client like ours, which gave itself out as this version of WhatsApp Web.
    fn outdated(&self, reason: ConnectFailureReason) -> End {
        let device = self.client.persistence_manager().get_device_snapshot();
        let web = format!("{}.{}.{}", device.app_version_primary, device.app_version_secondary, device.app_version_tertiary);
        End::Outdated { code: code(reason), web }
    }
}

/// The end that an event means, if it means one.
fn end(event: &Event) -> Option<End> {
    match event {
        Event::PairingQrCodesExhausted(_) => Some(End::Unscanned),
        Event::LoggedOut(out) if out.reason == ConnectFailureReason::AccountLocked => Some(End::Locked),
        Event::LoggedOut(out) => Some(End::LoggedOut { code: code(out.reason) }),
        Event::TemporaryBan(ban) => {
            let expire = ban.expire.to_std().unwrap_or_default();
            Some(End::Banned { expire, reason: ban.code.to_string() })
        }
        Event::StreamReplaced(_) => Some(End::Replaced),
        // A ban that names no end: as one without end, it is looked at once a day.
        Event::ConnectFailure(failure) if failure.reason == ConnectFailureReason::TempBanned => {
            Some(End::Banned { expire: Duration::MAX, reason: "it does not say until when".to_owned() })
        }
        // The library connects again by itself after 500 and 503.
        Event::ConnectFailure(failure) if !failure.reason.should_reconnect() => Some(End::Failed { code: code(failure.reason) }),
        _ => None,
    }
}

/// WhatsApp's number for a reason.
fn code(reason: ConnectFailureReason) -> String {
    reason.code().to_string()
}

fn show(shared: &Shared, code: &PairingQrCode) {
    shared.tell(Status::plain(State::NeedsScan));
    shared.reports.say(&Report::Qr { text: code.code.clone(), until: in_future(code.timeout) });
}

/// A code of eight characters in two halves, as the phone shows the boxes.
fn pairing_code(code: &PairingCode) -> Status {
    let (first, second) = code.code.split_at_checked(4).unwrap_or((&code.code, ""));
    Status { pairing_code: Some(format!("{first}-{second}")), ..Status::plain(State::NeedsScan) }.until(in_future(code.timeout))
}
