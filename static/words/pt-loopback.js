// The words of the test phones in Portuguese.

export const loopback = {
  title: "Telefone de teste",
  home: "Relay",
  lead: "Um telefone que não existe. Um agente que escreve para o número dele pelo canal de teste é ouvido aqui, e você responde como o contato.",
  address: "Número do telefone",
  open: "Abrir",
  text: "Mensagem",
  say: "Dizer como o contato",
  contact: "Contato",
  agent: "Agente",
  kept: (id) => `A instância ${id} recebeu.`,
  stranger: "Este número não tem conversa aberta: foi contado, e não guardado.",
  signIn: "Entrar",
};

export default { loopback };
