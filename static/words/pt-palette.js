// Português: a paleta, e o diálogo que nomeia as teclas.

export default {
  palette: {
    title: "Ir ou fazer",
    placeholder: "Ir a um lugar, uma conversa, uma mensagem ou uma capacidade",
    none: "Nada encontrado.",
    notAsked: "Nada corresponde aqui. As mensagens não puderam ser pesquisadas.",
    place: "Lugar",
    conversation: "Conversa",
    capability: "Capacidade",
    action: "Ação",
  },
  shortcuts: {
    title: "Atalhos",
    palette: "Ir ou fazer",
    help: "Mostrar isto",
    new: "Nova conversa",
    search: "Buscar conversas",
    find: "Buscar nesta conversa",
    write: "Ao campo de mensagem",
    stop: "Parar o que corre; duas vezes se há algo escrito",
    turns: "Entre as mensagens",
    list: "Esconder a lista, ou mostrá-la",
  },
};
