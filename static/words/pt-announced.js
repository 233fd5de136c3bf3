// Português: notícias que um leitor de tela lê em voz alta.

export default {
  announced: {
    capability: (name, version, on) => `A capacidade ${name}, versão ${version}, está ${on ? "ativa" : "desligada"}`,
    approval: (what) => `É preciso a sua aprovação. ${what}`,
    error: (text) => `Erro: ${text}`,
    due: "Uma tarefa venceu",
    again: "Conectado de novo",
    connection: (state) => `Conexão: ${state}`,
  },
};
