//! The least that anything here can cost on this machine in this minute: statements of the same
//! Postgres, a bare call of wasmtime, the model asked directly, a frame there and back on loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use sqlx::{ConnectOptions, PgConnection};
use tungstenite::{Message, WebSocket};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

use super::house::House;
use super::model::Model;
use super::postgres::{Postgres, administrator};
use super::report::Report;
use super::settings::Settings;
use super::times::Times;

const COMPONENT: &str = include_str!("../../../../capabilities/examples/echo/source.wat");

const TABLES: &str = "CREATE TABLE IF NOT EXISTS public.floor_rows (n bigint);
    DROP TABLE IF EXISTS public.floor_queue;
    CREATE TABLE public.floor_queue (id bigint PRIMARY KEY, owner bigint);
    CREATE INDEX ON public.floor_queue (id) WHERE owner IS NULL;
    INSERT INTO public.floor_queue SELECT n FROM generate_series(1, 10000) n;
    ANALYZE public.floor_queue;";
const VERSION: &str = "SELECT current_setting('server_version') || ', fsync ' || current_setting('fsync')";
const INSERT: &str = "INSERT INTO public.floor_rows VALUES ($1) RETURNING n";
const SELECT: &str = "SELECT id FROM public.floor_queue WHERE id = $1";
const CLAIM: &str = "UPDATE public.floor_queue SET owner = $1 WHERE id = (
    SELECT id FROM public.floor_queue WHERE owner IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id";

pub struct Floors {
    postgres: Option<Postgres>,
    direct: Direct,
    echo: WebSocket<TcpStream>,
}

/// Takes one of them once.
type Floor = fn(&mut Floors) -> Duration;

impl Floors {
    /// The model is asked what the server asked it in a simple turn.
    pub fn prepare(house: &House, model: &Model) -> Self {
        let mut client = house.client();
        client.turn(house.conversation(), "simple");
        let direct = Direct::new(model);
        let mut floors = Self { postgres: None, direct, echo: echo() };
        floors.connect(house);
        floors
    }

    /// Goes to the Postgres of a house that was started since.
    pub fn connect(&mut self, house: &House) {
        let mut postgres = Postgres::open(&house.data, "postgres");
        postgres.run(TABLES);
        postgres.number(INSERT, &[0]);
        self.postgres = Some(postgres);
    }

    /// One insert, committed.
    pub fn insert(&mut self) -> Duration {
        self.statement(INSERT)
    }

    fn statement(&mut self, statement: &'static str) -> Duration {
        let postgres = self.postgres.as_mut().expect("connected");
        let began = Instant::now();
        postgres.number(statement, &[1]);
        began.elapsed()
    }

    fn echoed(&mut self) -> Duration {
        let began = Instant::now();
        self.echo.send(Message::text("x".repeat(200))).expect("sent");
        self.echo.read().expect("it comes back");
        began.elapsed()
    }

    /// Measures all of them before anything else.
    pub fn alone(&mut self, settings: &Settings, report: &mut Report) {
        report.say("postgres", &self.postgres.as_mut().expect("connected").text(VERSION));
        let count = settings.times(300);
        let all: [(&str, Floor); 5] = [
            ("insert of one row, committed, fsync on", |floors| floors.statement(INSERT)),
            ("select of one row by its key", |floors| floors.statement(SELECT)),
            ("claim: update of the first free of 10,000 rows, skip locked, committed", |floors| floors.statement(CLAIM)),
            ("the model asked directly with the request of a simple turn", |floors| {
                let told = floors.direct.ask();
                told.ended - told.began
            }),
            ("a frame of 200 bytes to a websocket on loopback and back", Self::echoed),
        ];
        for (what, measure) in all {
            let mut times = Times::default();
            measure(self);
            for _ in 0..count {
                times.add(measure(self));
            }
            report.row("floors", &[what, &times.words()]);
        }
        report.row("floors", &["bare wasmtime: a fresh instance of a small component, one call", &bare(count).words()]);
    }

    /// Commits a second of inserts alone, on so many connections at once.
    pub fn commits(&self, house: &House, connections: usize, lasting: Duration) -> f64 {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let options = administrator(&house.data, "postgres");
        let connect = async {
            let mut opened = Vec::new();
            for _ in 0..connections {
                opened.push(options.connect().await.expect("Postgres answers"));
            }
            opened
        };
        let opened = runtime.block_on(connect);
        let began = Instant::now();
        let insert = |mut connection: PgConnection| async move {
            let mut count = 0_u32;
            while began.elapsed() < lasting {
                let one = sqlx::query_scalar::<_, i64>(INSERT).bind(1_i64);
                one.fetch_one(&mut connection).await.expect("Postgres answers");
                count += 1;
            }
            count
        };
        let inserting: Vec<_> = opened.into_iter().map(|connection| runtime.spawn(insert(connection))).collect();
        let counts = inserting.into_iter().map(|inserting| runtime.block_on(inserting).expect("it counts"));
        let count: u32 = counts.sum();
        f64::from(count) / began.elapsed().as_secs_f64()
    }
}

/// The model's answer to a request without a server between.
pub struct Told {
    pub began: Instant,
    /// The times at which the tokens were there.
    pub tokens: Vec<Instant>,
    pub ended: Instant,
}

/// A connection to the model, kept open, and a request for it.
pub struct Direct {
    stream: TcpStream,
    request: Vec<u8>,
}

impl Direct {
    /// With the request that the model saw last.
    pub fn new(model: &Model) -> Self {
        let body = model.seen().request.clone();
        let head =
            format!("POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\r\n", model.address, body.len());
        let stream = TcpStream::connect(model.address).expect("the model listens");
        stream.set_nodelay(true).expect("a socket");
        Self { stream, request: [head.into_bytes(), body].concat() }
    }

    pub fn ask(&mut self) -> Told {
        let (mut tokens, mut seen, mut answer) = (Vec::new(), 0, Vec::new());
        let mark = br#""content":""#;
        let began = Instant::now();
        self.stream.write_all(&self.request).expect("sent");
        while !answer.ends_with(b"\r\n0\r\n\r\n") {
            let mut piece = [0; 16 << 10];
            let length = self.stream.read(&mut piece).expect("an answer");
            assert_ne!(length, 0, "the model goes on");
            let now = Instant::now();
            answer.extend_from_slice(&piece[..length]);
            while let Some(at) = answer[seen..].windows(mark.len()).position(|window| window == mark) {
                seen += at + mark.len();
                tokens.push(now);
            }
        }
        Told { began, tokens, ended: Instant::now() }
    }
}

/// A websocket whose other end says everything back.
fn echo() -> WebSocket<TcpStream> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address: SocketAddr = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        stream.set_nodelay(true).expect("a socket");
        let mut socket = tungstenite::accept(stream).expect("a websocket");
        while let Ok(message) = socket.read() {
            if socket.send(message).is_err() {
                break;
            }
        }
    });
    let stream = TcpStream::connect(address).expect("the echo listens");
    stream.set_nodelay(true).expect("a socket");
    tungstenite::client(format!("ws://{address}/"), stream).expect("the socket opens").0
}

fn bare(count: usize) -> Times {
    let engine = Engine::default();
    let component = Component::new(&engine, wat::parse_str(COMPONENT).expect("a component")).expect("a component");
    let linked = Linker::<()>::new(&engine).instantiate_pre(&component).expect("it imports nothing");
    let mut times = Times::default();
    for _ in 0..count {
        let began = Instant::now();
        let mut store = Store::new(&engine, ());
        let instance = linked.instantiate(&mut store).expect("an instance");
        let run = instance.get_typed_func::<(&str,), (Result<String, String>,)>(&mut store, "run").expect("its function");
        let (answer,) = run.call(&mut store, (r#"{"n":4}"#,)).expect("a call");
        times.add(began.elapsed());
        assert_eq!(answer.as_deref(), Ok(r#"{"n":4}"#));
    }
    times
}
