// Português: o cartão de uma aprovação, e a caixa delas.

const approval = {
  title: "level3 pede a sua aprovação",
  in: (title) => `em “${title}”`,
  approve: "Aprovar",
  always: "Sempre para esta capacidade",
  deny: "Negar",
  reason: "Motivo, para o assistente (opcional)",
  reasonLabel: "Motivo da recusa, para o assistente (opcional)",
  sending: { approve: "Aprovando…", always: "Aprovando…", deny: "Negando…" },
  offline: "Sem conexão; a decisão pode ser enviada quando o servidor voltar.",
  unread: "Aprovar funciona depois que o começo deste cartão esteve à vista.",
  folded: (count) => (count === 1 ? "Aprovar funciona depois que o texto dobrado foi aberto e visto." : `Aprovar funciona depois que os ${count} textos dobrados foram abertos e vistos.`),
  rest: "Aprovar funciona depois que todo este cartão esteve à vista.",
  soon: "Aprovar funciona num instante.",
  showAll: (lines) => `Mostrar todas as ${lines} linhas`,
  grants: "A partir daí ela pode",
  noGrants: "Nada fora da sua caixa.",
  why: "Por que você é perguntado:",
  differences: "Chamadas registradas que ela responderia de outro modo",
  recordedCall: "Uma chamada registrada",
  changes: (version) => `O que muda da versão ${version}`,
  changedLines: "Linhas mudadas",
  sourceStays: "O código fica como está.",
  source: (lines, size) => `O código, inteiro: ${lines} ${lines === 1 ? "linha" : "linhas"}, ${size}`,
  theSource: "O código",
  arguments: "Os argumentos",
  noArguments: "Nenhum.",
  exactArguments: "Os argumentos, exatamente",
  otherArguments: "Os outros argumentos, exatamente",
  argument: (name) => `O argumento ${name}, exatamente`,
  sameAsSource: (name) => `O argumento ${name} é o código acima, letra por letra.`,
};

const approvals = {
  waits: "Esperam por você",
  none: "Nada espera",
  noneHelp: "Se o assistente quer algo que precisa da sua palavra, em qualquer conversa, fica aqui até você decidir ou o tempo acabar.",
  decided: "Decididas",
  noDecisions: "Nada foi decidido ainda.",
  missingHelp: "As 200 aprovações mais novas ficam aqui; pode ser uma mais antiga.",
  states: { approved: "Aprovado", denied: "Negado", expired: "Sem resposta a tempo", void: "Já não conta" },
  by: {
    page: "por você, nesta página",
    api: "por você, pela linha de comando ou pela API",
    words: "por você, com uma palavra na conversa",
    voice: "por você, com uma palavra falada",
    instead: "por você, dizendo outra coisa",
    clock: "por ninguém",
  },
};

export default { approval, approvals };
