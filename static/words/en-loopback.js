// The words of the test phones in English.

export const loopback = {
  title: "Test phone",
  home: "Relay",
  lead: "A phone that does not exist. An agent that writes to its number over the test channel is heard here, and you answer as the contact.",
  address: "Number of the phone",
  open: "Open",
  text: "Message",
  say: "Say as the contact",
  contact: "Contact",
  agent: "Agent",
  kept: (id) => `Instance ${id} has it.`,
  stranger: "This number has no open conversation: it was counted, and not kept.",
  signIn: "Sign in",
};

export default { loopback };
