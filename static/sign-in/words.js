// The words of the page on which one signs in. It is shown before anybody is known, so it imports
// nothing of the other places.

const WORDS = {
  en: {
    signIn: "Sign in",
    name: "Name",
    password: "Password",
    newPassword: "Choose a password",
    newLead: "It has 12 to 128 characters. This link works once.",
    again: "The same again",
    set: "Set password and sign in",
    differ: "The two passwords are not the same.",
    length: "A password has 12 to 128 characters.",
    wrong: "The name or the password is wrong.",
    over: "This link does not work any more. Ask for a new one.",
    wait: (minutes) => (minutes === 1 ? "Too many tries. Wait a minute, then try again." : `Too many tries. Wait ${minutes} minutes, then try again.`),
    unreachable: "The server does not answer. Try again.",
  },
  pt: {
    signIn: "Entrar",
    name: "Nome",
    password: "Senha",
    newPassword: "Escolha uma senha",
    newLead: "Ela tem de 12 a 128 caracteres. Este link funciona uma vez.",
    again: "A mesma de novo",
    set: "Definir senha e entrar",
    differ: "As duas senhas não são iguais.",
    length: "Uma senha tem de 12 a 128 caracteres.",
    wrong: "O nome ou a senha está errado.",
    over: "Este link não funciona mais. Peça um novo.",
    wait: (minutes) => (minutes === 1 ? "Tentativas demais. Espere um minuto e tente de novo." : `Tentativas demais. Espere ${minutes} minutos e tente de novo.`),
    unreachable: "O servidor não responde. Tente de novo.",
  },
};

/** The words in the language that was chosen on this machine, else in English. */
export const words = WORDS[document.documentElement.lang] ?? WORDS.en;
