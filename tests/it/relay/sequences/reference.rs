//! A small reference of Relay, written from its document and ADR 50 and from nothing in `src`: no
//! database, no events, no queue but a list.

use std::collections::VecDeque;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Agent,
    Operator,
    Contact,
}

/// A message of a transcript.
#[derive(Clone, Debug)]
pub struct Note {
    pub talk: usize,
    pub by: Author,
    /// `-` of the contact's.
    pub state: &'static str,
    /// The turn that wrote it, or was the first to see it.
    pub turn: Option<u32>,
    made: i64,
    tried: Option<i64>,
    not_before: i64,
}

/// An instance.
#[derive(Clone, Debug)]
pub struct Talk {
    pub contact: usize,
    pub state: &'static str,
    from: Option<&'static str>,
    follow_ups: i32,
    most: i32,
    every: i64,
    heartbeat: Option<i64>,
    wish: Option<i64>,
    /// The turns that are not over; the first may be at work.
    pub turns: VecDeque<u32>,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Answered,
    Unanswered,
    Broken,
}

/// The whole of it. Times are seconds.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    pub now: i64,
    pub talks: Vec<Talk>,
    pub notes: Vec<Note>,
    /// The contacts' messages that are known: contact and id.
    known: Vec<(usize, u32)>,
    turns: u32,
}

/// The words for a step that was done, and for one that was refused.
pub const DONE: &str = "done";
pub const REFUSED: &str = "refused";

impl Reference {
    /// Nothing yet, at this time.
    pub fn at(now: i64) -> Self {
        Self { now, ..Self::default() }
    }

    fn over(&self, talk: usize) -> bool {
        ["COMPLETED", "ABANDONED", "FAILED"].contains(&self.talks[talk].state)
    }

    fn rests(&self, talk: usize) -> bool {
        self.over(talk) || ["PAUSED", "QUEUED", "NEEDS_HUMAN_INTERVENTION"].contains(&self.talks[talk].state)
    }

    fn has_place(&self, talk: usize, contact: usize) -> bool {
        let it = &self.talks[talk];
        it.contact == contact && !self.over(talk) && it.state != "QUEUED" && it.from != Some("QUEUED")
    }

    /// The instance that has the contact.
    fn place(&self, contact: usize) -> Option<usize> {
        (0..self.talks.len()).find(|talk| self.has_place(*talk, contact))
    }

    /// How many instances have the contact.
    pub fn places(&self, contact: usize) -> usize {
        (0..self.talks.len()).filter(|talk| self.has_place(*talk, contact)).count()
    }

    fn first_queued(&self, contact: usize) -> Option<usize> {
        self.talks.iter().position(|talk| talk.contact == contact && talk.state == "QUEUED")
    }

    fn ask(&mut self, talk: usize) {
        self.turns += 1;
        self.talks[talk].turns.push_back(self.turns);
    }

    fn start_next(&mut self, contact: usize) {
        if let (None, Some(next)) = (self.place(contact), self.first_queued(contact)) {
            self.talks[next].state = "CREATED";
            self.ask(next);
        }
    }

    fn end(&mut self, talk: usize, state: &'static str) {
        let it = &mut self.talks[talk];
        (it.state, it.from, it.heartbeat) = (state, None, None);
        self.start_next(self.talks[talk].contact);
    }

    /// The contact has the word; what it said before is taken now.
    fn wait_for_reply(&mut self, talk: usize) {
        let now = self.now;
        let it = &mut self.talks[talk];
        (it.state, it.from) = ("WAITING_FOR_REPLY", None);
        it.heartbeat = Some(now + it.wish.take().unwrap_or(it.every));
        if self.notes.iter().any(|note| note.talk == talk && note.by == Author::Contact && note.turn.is_none()) {
            self.talks[talk].follow_ups = 0;
            self.hear(talk);
        }
    }

    fn hear(&mut self, talk: usize) {
        let it = &mut self.talks[talk];
        (it.state, it.heartbeat) = ("WAITING_FOR_AGENT", None);
        self.ask(talk);
    }

    fn say(&mut self, talk: usize, by: Author, turn: Option<u32>) {
        let state = if by == Author::Contact { "-" } else { "queued" };
        self.notes.push(Note { talk, by, state, turn, made: self.now, tried: None, not_before: i64::MIN });
    }

    pub fn order(&mut self, contact: usize, most: i32, every: i64) -> &'static str {
        let busy = self.place(contact).is_some() || self.first_queued(contact).is_some();
        let state = if busy { "QUEUED" } else { "CREATED" };
        let (from, heartbeat, wish, turns) = (None, None, None, VecDeque::new());
        self.talks.push(Talk { contact, state, from, follow_ups: 0, most, every, heartbeat, wish, turns });
        if !busy {
            self.ask(self.talks.len() - 1);
        }
        DONE
    }

    pub fn pause(&mut self, talk: usize) -> &'static str {
        if self.over(talk) || self.talks[talk].state == "NEEDS_HUMAN_INTERVENTION" {
            return REFUSED;
        }
        let it = &mut self.talks[talk];
        if it.state != "PAUSED" {
            (it.from, it.state, it.heartbeat) = (Some(it.state), "PAUSED", None);
            it.turns.clear();
        }
        DONE
    }

    pub fn resume(&mut self, talk: usize) -> &'static str {
        let it = &mut self.talks[talk];
        let to = match (it.state, it.from) {
            ("NEEDS_HUMAN_INTERVENTION", _) => "ACTIVE",
            ("PAUSED", Some(from)) => from,
            _ => return REFUSED,
        };
        (it.state, it.from) = (to, None);
        match to {
            "WAITING_FOR_REPLY" => self.wait_for_reply(talk),
            "QUEUED" => self.start_next(self.talks[talk].contact),
            _ => self.ask(talk),
        }
        DONE
    }

    pub fn cancel(&mut self, talk: usize) -> &'static str {
        if self.over(talk) {
            return REFUSED;
        }
        self.talks[talk].turns.clear();
        for note in self.notes.iter_mut().filter(|note| note.talk == talk && note.state == "queued") {
            note.state = "failed";
        }
        self.end(talk, "FAILED");
        DONE
    }

    pub fn send(&mut self, talk: usize) -> &'static str {
        if self.over(talk) || ["PAUSED", "QUEUED"].contains(&self.talks[talk].state) {
            return REFUSED;
        }
        self.say(talk, Author::Operator, None);
        match self.talks[talk].state {
            "CREATED" => self.talks[talk].state = "ACTIVE",
            "NEEDS_HUMAN_INTERVENTION" => {
                self.talks[talk].state = "ACTIVE";
                self.ask(talk);
            }
            _ => {}
        }
        DONE
    }

    pub fn reply(&mut self, contact: usize, id: u32) -> &'static str {
        if self.known.contains(&(contact, id)) {
            return "again";
        }
        let Some(talk) = self.place(contact) else { return "stranger" };
        self.known.push((contact, id));
        self.say(talk, Author::Contact, None);
        self.talks[talk].follow_ups = 0;
        if self.talks[talk].state == "WAITING_FOR_REPLY" {
            self.hear(talk);
        }
        "kept"
    }

    /// The instances whose contact was silent until now, in their order.
    pub fn due(&self) -> Vec<usize> {
        let silent = |talk: &usize| self.talks[*talk].heartbeat.is_some_and(|at| at <= self.now);
        let mut due: Vec<_> = (0..self.talks.len()).filter(silent).collect();
        due.sort_by_key(|talk| (self.talks[*talk].heartbeat, *talk));
        due
    }

    pub fn silence(&mut self, talk: usize) {
        let (now, every) = (self.now, self.talks[talk].every);
        let ours = || self.notes.iter().filter(|note| note.talk == talk && note.by != Author::Contact);
        let waits = ours().any(|note| ["queued", "sending"].contains(&note.state));
        let held = ours().filter(|note| note.tried > Some(note.made + 60)).filter_map(|note| note.tried).max();
        let left = if waits { Some(now) } else { held };
        let more = left.map_or(0, |left| (every - (now - left)).clamp(0, every));
        let it = &mut self.talks[talk];
        // The machine slept.
        let late = it.heartbeat.is_some_and(|due| now - due > 60);
        let more = if late { more.max(60) } else { more };
        if more > 0 {
            it.heartbeat = Some(now + more);
            return;
        }
        (it.state, it.heartbeat) = ("HEARTBEAT_SCHEDULED", None);
        if it.follow_ups >= it.most { self.end(talk, "ABANDONED") } else { self.ask(talk) }
    }

    /// A turn begins, or begins again: it reads what came.
    pub fn take_up(&mut self, talk: usize) {
        if self.rests(talk) {
            return;
        }
        let it = &mut self.talks[talk];
        if it.state == "WAITING_FOR_AGENT" {
            it.state = "ACTIVE";
        }
        let turn = it.turns.front().copied();
        for note in self.notes.iter_mut().filter(|note| note.talk == talk && note.by == Author::Contact && note.turn.is_none()) {
            note.turn = turn;
        }
    }

    pub fn write(&mut self, talk: usize) -> &'static str {
        let turn = self.talks[talk].turns.front().copied();
        let written = self.notes.iter().filter(|note| note.by == Author::Agent && note.turn == turn).count();
        if self.rests(talk) || written >= 5 {
            return REFUSED;
        }
        self.say(talk, Author::Agent, turn);
        match self.talks[talk].state {
            "CREATED" => self.talks[talk].state = "ACTIVE",
            "HEARTBEAT_SCHEDULED" => {
                let heard = self.notes.iter().any(|note| note.talk == talk && note.by == Author::Contact && note.turn == turn);
                self.talks[talk].follow_ups += i32::from(!heard);
                self.wait_for_reply(talk);
            }
            _ => {}
        }
        DONE
    }

    pub fn complete(&mut self, talk: usize) -> &'static str {
        if self.rests(talk) || ["CREATED", "HEARTBEAT_SCHEDULED"].contains(&self.talks[talk].state) {
            return REFUSED;
        }
        self.end(talk, "COMPLETED");
        DONE
    }

    pub fn hand_over(&mut self, talk: usize) -> &'static str {
        if self.rests(talk) {
            return REFUSED;
        }
        (self.talks[talk].state, self.talks[talk].heartbeat) = ("NEEDS_HUMAN_INTERVENTION", None);
        DONE
    }

    pub fn wish(&mut self, talk: usize, seconds: i64) -> &'static str {
        if self.rests(talk) {
            return REFUSED;
        }
        let at = self.now + seconds;
        let it = &mut self.talks[talk];
        if it.state == "WAITING_FOR_REPLY" {
            it.heartbeat = Some(at)
        } else {
            it.wish = Some(seconds)
        }
        DONE
    }

    pub fn end_turn(&mut self, talk: usize, end: End) {
        let turn = self.talks[talk].turns.pop_front();
        let (state, more) = (self.talks[talk].state, !self.talks[talk].turns.is_empty());
        if self.rests(talk) || state == "WAITING_FOR_AGENT" && more {
            return;
        }
        match end {
            End::Broken => self.end(talk, "FAILED"),
            End::Answered if !self.owes(talk, turn) => {
                if state == "ACTIVE" {
                    self.wait_for_reply(talk);
                }
            }
            End::Answered | End::Unanswered => {
                self.hand_over(talk);
            }
        }
    }

    /// True if a turn should have written.
    fn owes(&self, talk: usize, turn: Option<u32>) -> bool {
        if ["CREATED", "HEARTBEAT_SCHEDULED"].contains(&self.talks[talk].state) {
            return true;
        }
        let seen = || self.notes.iter().filter(|note| note.talk == talk && (note.by != Author::Contact || note.turn.is_some()));
        let by_it = |by: bool| seen().any(|note| note.turn == turn && (note.by == Author::Contact) == by);
        let open = match seen().next_back().map(|note| note.by) {
            None | Some(Author::Contact) => true,
            Some(Author::Agent) => by_it(true),
            Some(Author::Operator) => false,
        };
        open && !by_it(false)
    }

    /// The message that goes next: the first of each contact, and of these the first that may.
    pub fn next_to_send(&self) -> Option<usize> {
        let contact = |note: &Note| self.talks[note.talk].contact;
        let busy = |who: usize| self.notes.iter().any(|note| contact(note) == who && note.state == "sending");
        let mut seen = Vec::new();
        for (number, note) in self.notes.iter().enumerate() {
            let waits = note.state == "queued" && self.talks[note.talk].state != "PAUSED";
            if !waits || seen.contains(&contact(note)) {
                continue;
            }
            seen.push(contact(note));
            if note.not_before <= self.now && !busy(contact(note)) {
                return Some(number);
            }
        }
        None
    }

    pub fn claim(&mut self, note: usize) {
        (self.notes[note].state, self.notes[note].tried) = ("sending", Some(self.now));
    }

    /// An attempt ends so, or a peer says so later.
    pub fn hears(&mut self, note: usize, state: &'static str) -> &'static str {
        let before: &[&str] = match state {
            "unknown" => &["sending"],
            "queued" | "sent" => &["sending", "unknown"],
            "read" => &["sending", "unknown", "sent", "delivered"],
            _ => &["sending", "unknown", "sent"],
        };
        let it = &mut self.notes[note];
        if !before.contains(&it.state) {
            return REFUSED;
        }
        it.state = state;
        if state == "queued" {
            (it.tried, it.not_before) = (None, self.now + 5);
        }
        DONE
    }

    /// A person decides about a message of which nobody knows.
    pub fn decide(&mut self, note: usize, state: &'static str) -> &'static str {
        if self.notes[note].state != "unknown" {
            return REFUSED;
        }
        (self.notes[note].state, self.notes[note].not_before) = (state, i64::MIN);
        DONE
    }

    /// The process dies: nobody knows of what was being sent.
    pub fn die(&mut self) {
        for note in self.notes.iter_mut().filter(|note| note.state == "sending") {
            note.state = "unknown";
        }
    }

    /// All of it in lines, as the database is written down, too.
    pub fn lines(&self) -> Vec<String> {
        let talk = |it: &Talk| {
            let heartbeat = it.heartbeat.map_or_else(|| "-".to_owned(), |at| at.to_string());
            let (contact, state, from) = (it.contact, it.state, it.from.unwrap_or("-"));
            let wish = it.wish.map_or_else(|| "-".to_owned(), |seconds| seconds.to_string());
            let (follow_ups, turns) = (it.follow_ups, it.turns.len());
            format!("{contact} {state} {from} follow-ups {follow_ups} heartbeat {heartbeat} wish {wish} turns {turns}")
        };
        let note = |it: &Note| {
            let by = format!("{:?}", it.by).to_lowercase();
            format!("message of {} by {by} {} {}", it.talk, it.state, if it.turn.is_some() { "turn" } else { "none" })
        };
        self.talks.iter().map(talk).chain(self.notes.iter().map(note)).collect()
    }
}
