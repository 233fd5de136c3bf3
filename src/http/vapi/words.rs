//! The words that the server says itself at the first door, beside those of the turn.

use crate::domain::todo::{LongMessage, MOST_INPUT_TOKENS, QuotaReached};
use crate::domain::voice::VoiceLanguage;

/// No word of the answer has come for a while.
pub(super) fn moment(language: VoiceLanguage) -> &'static str {
    match language {
        VoiceLanguage::English => "One moment. ",
        VoiceLanguage::Portuguese => "Um momento. ",
    }
}

/// The server ends, or cannot read the answer.
pub(super) fn away(language: VoiceLanguage) -> &'static str {
    match language {
        VoiceLanguage::English => "I am being restarted. Give me a moment and say that again.",
        VoiceLanguage::Portuguese => "Estou sendo reiniciado. Espere um momento e diga isso de novo.",
    }
}

/// A limit of the person's tier is reached.
pub(super) fn limit(reached: QuotaReached, language: VoiceLanguage) -> String {
    match (language, reached) {
        (VoiceLanguage::English, reached) => reached.to_string(),
        (VoiceLanguage::Portuguese, QuotaReached::Messages) => "Você chegou ao limite de mensagens de hoje.".to_owned(),
        (VoiceLanguage::Portuguese, QuotaReached::MessagesOfTier) => {
            "Você chegou ao limite de mensagens de hoje. Mude de plano para ter mais!".to_owned()
        }
        (VoiceLanguage::Portuguese, QuotaReached::Voice) => "Você já usou os seus minutos de voz deste mês.".to_owned(),
    }
}

/// The person said more at once than a message may have.
pub(super) fn too_long(long: LongMessage, language: VoiceLanguage) -> String {
    match language {
        VoiceLanguage::English => long.to_string(),
        VoiceLanguage::Portuguese => {
            format!(
                "A sua mensagem tem cerca de {} tokens, e {MOST_INPUT_TOKENS} é o máximo. Diga isso em menos palavras.",
                long.0
            )
        }
    }
}

/// A question has to be answered first.
pub(super) fn behind(language: VoiceLanguage) -> &'static str {
    match language {
        VoiceLanguage::English => "There is still a question open. Say yes or no to that one first.",
        VoiceLanguage::Portuguese => "Ainda há uma pergunta aberta. Responda sim ou não a ela primeiro.",
    }
}
