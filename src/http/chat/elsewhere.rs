//! News from outside of the conversations that a client follows: lists that changed, approvals that
//! wait, and commits of other servers.

use super::{Socket, SocketEnd};
use crate::domain::{ApprovalId, ConversationId};
use crate::facts::{Event, EventRecord};
use crate::store::Hint;
use crate::wire::{ChangedList, ServerFrame};

impl Socket {
    /// Shows everything that was missed, and tells of anything that may have happened elsewhere, as
    /// some of it was not heard.
    pub(super) async fn read_on(&mut self, main: ConversationId) -> Result<(), SocketEnd> {
        self.catch_up_all().await?;
        for list in ChangedList::ALL {
            self.send(&ServerFrame::Changed { list }).await?;
        }
        self.tell_waiting(main).await
    }

    /// Tells the client which approvals wait in conversations that it does not follow, if that has
    /// changed since it was last told. A client sees those of the main conversation when it
    /// resumes.
    pub(super) async fn tell_waiting(&mut self, main: ConversationId) -> Result<(), SocketEnd> {
        let waiting = self.theirs.waiting_approvals().await?;
        self.tell_those(waiting, main).await
    }

    /// The same after an event of this server. The event says all of it, so the database is not
    /// asked: every socket of the user hears the event.
    pub(super) async fn follow_question(&mut self, record: &EventRecord, main: ConversationId) -> Result<(), SocketEnd> {
        let mut waiting = self.waiting.clone();
        match &record.event {
            Event::ApprovalRequested(asked) => waiting.push((asked.approval, record.conversation)),
            Event::ApprovalDecided(decided) => waiting.retain(|(approval, _)| *approval != decided.approval),
            _ => return Ok(()),
        }
        // The socket may have read the approval before it heard the event.
        waiting.sort_unstable();
        waiting.dedup();
        self.tell_those(waiting, main).await
    }

    async fn tell_those(
        &mut self,
        mut waiting: Vec<(ApprovalId, ConversationId)>,
        main: ConversationId,
    ) -> Result<(), SocketEnd> {
        waiting.retain(|(_, conversation)| *conversation != main && !self.positions.contains_key(conversation));
        if waiting == self.waiting {
            return Ok(());
        }
        let approvals = waiting.iter().map(|(approval, _)| *approval).collect();
        self.waiting = waiting;
        self.send(&ServerFrame::Waiting { approvals }).await
    }

    /// Tells the client which list changed by an event of a conversation that it does not follow.
    pub(super) async fn tell_changed(&mut self, conversation: ConversationId, kind: &str) -> Result<(), SocketEnd> {
        match ChangedList::of(kind) {
            // A contact's, a campaign's or a program's conversation is on no list.
            Some(ChangedList::Conversations) if !self.theirs.may_list(conversation, &self.visitor.mains()) => Ok(()),
            Some(list) => self.send(&ServerFrame::Changed { list }).await,
            None => Ok(()),
        }
    }

    /// Shows the event that another server committed, and those missed before it, if this socket
    /// follows the conversation. Of a change that is no event it is told in any case: no frame of
    /// the conversation shows that.
    pub(super) async fn hear(&mut self, hint: Option<Hint>, main: ConversationId) -> Result<(), SocketEnd> {
        let Some(hint) = hint else { return self.read_on(main).await };
        match self.positions.get(&hint.conversation) {
            Some(position) if hint.sequence > *position => self.catch_up(hint.conversation).await?,
            Some(_) if hint.is_event() => {}
            Some(_) | None => self.tell_changed(hint.conversation, &hint.kind).await?,
        }
        match hint.kind.as_str() {
            "approval_requested" | "approval_decided" => self.tell_waiting(main).await,
            _ => Ok(()),
        }
    }
}
