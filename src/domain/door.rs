//! The doors by which messages come in, as the ids of messages say them. A client of `/chat` gives
//! its messages ids of its own. The program makes those of every other door, with the door in
//! front, and no client may give one of these: so no message is taken for one of another door.

use std::fmt;

/// A door for whose messages the program makes the ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDoor {
    /// A channel, with an order for the operator.
    Channel,
    /// A call with Law by Vapi.
    Vapi,
    /// The interface for clients of OpenAI's.
    V1,
}

impl MessageDoor {
    const ALL: [Self; 3] = [Self::Channel, Self::Vapi, Self::V1];

    /// Begins each of its ids. Stored ids begin so: it never changes.
    fn mark(self) -> &'static str {
        match self {
            Self::Channel => "operator/",
            Self::Vapi => "vapi-",
            Self::V1 => "v1-",
        }
    }

    /// The id of one of its messages.
    pub fn id(self, own: impl fmt::Display) -> String {
        format!("{}{own}", self.mark())
    }

    /// The part of an id behind the door; `None` if the message did not come by this one.
    pub fn own(self, id: &str) -> Option<&str> {
        id.strip_prefix(self.mark())
    }

    /// The door that an id names; `None` for one that a client may give.
    pub fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|door| door.own(id).is_some())
    }
}

#[cfg(test)]
mod tests;
