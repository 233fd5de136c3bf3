// Português: o temporizador e as perguntas de Lea e Law, que se encontram em todo lugar.

export default {
  question: {
    yes: "Sim",
    no: "Não",
    byWord: "Sim ou não também pode ser dito. Qualquer outra coisa recusa, e é ouvida.",
    sending: "Enviando a sua resposta…",
    offline: "Sem conexão; uma resposta pode ser enviada quando o servidor voltar.",
    answers: { approved: "Sim", denied: "Não", expired: "Ninguém respondeu a tempo, então nada foi feito.", void: "Esta pergunta não vale mais." },
    instead: "Você disse outra coisa, então nada foi feito.",
  },
  timer: {
    label: "Temporizador",
    running: "Foco",
    paused: "Em pausa",
    of: (minutes) => (minutes === 1 ? "de 1 minuto" : `de ${minutes} minutos`),
    left: (clock) => `faltam ${clock}`,
    pause: "Pausar",
    resume: "Continuar",
    stop: "Parar",
    failed: (reason) => `O temporizador não mudou. ${reason}`,
    notDone: "Isto não foi feito.",
  },
};
