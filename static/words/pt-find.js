// Português: palavras buscadas numa conversa, e lugares nela que um endereço indica.

export default {
  find: {
    label: "Buscar nesta conversa",
    looking: "Procurando…",
    none: "Nada encontrado",
    of: (at, count) => `${at} de ${count}`,
    previous: "O anterior",
    next: "O seguinte",
    close: "Fechar",
    notThere: "Este lugar não está na conversa.",
    notLoaded: (why) => `O que vem antes não pôde ser carregado. ${why}`,
  },
};
