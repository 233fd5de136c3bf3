//! Pieces of answers on their way to a client: which of them it is shown, and that they stand
//! before the record of their step.

use super::{Socket, SocketEnd};
use crate::domain::ConversationId;
use crate::facts::StepAnswered;
use crate::store::{Announced, TheirSignals};
use crate::wire::ServerFrame;

impl Socket {
    /// Shows the pieces of a step that are here, and what came before them: its record comes next.
    pub(super) async fn show_pieces_of(
        &mut self,
        conversation: ConversationId,
        answered: &StepAnswered,
        deltas: &mut TheirSignals<Announced<ServerFrame>>,
    ) -> Result<(), SocketEnd> {
        while let Some(delta) = deltas.now() {
            let place = match &*delta {
                ServerFrame::Delta { conversation, turn, step, .. } => Some((*conversation, turn.0, *step)),
                ServerFrame::Notice { conversation, turn, .. } => Some((*conversation, turn.0, 0)),
                _ => None,
            };
            if place.is_some_and(|(of, turn, step)| of == conversation && (turn, step) > (answered.turn.0, answered.number)) {
                deltas.put_back(delta);
                break;
            }
            if self.follows(&delta) {
                self.pass(delta.frame_json()).await?;
            }
        }
        Ok(())
    }

    pub(super) fn follows(&self, delta: &ServerFrame) -> bool {
        match delta {
            ServerFrame::Delta { conversation, .. } | ServerFrame::Notice { conversation, .. } => {
                self.positions.contains_key(conversation)
            }
            _ => false,
        }
    }
}
