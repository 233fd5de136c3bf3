// The words of the page, in the language that a person chose. A word that a language has not yet is
// shown in English.

import en from "../words/en.js";
import { setting } from "./settings.js";

/** The languages there are: how each calls itself, which way it is written, and where its words are. */
export const LANGUAGES = {
  en: { name: "English", dir: "ltr", load: async () => ({ default: en }) },
  pt: { name: "Português", dir: "ltr", load: () => import("../words/pt.js") },
};

/** The language that is shown. */
export const language = Object.hasOwn(LANGUAGES, setting("language")) ? setting("language") : "en";

/** The locale of dates, times and numbers: the language that is shown, as it is spoken where the reader is, if their browser says so. */
export const locale = globalThis.navigator?.languages?.find((each) => each.split("-")[0] === language) ?? language;

/** The words by name: texts, or functions that make one. */
export const words = over(en, (await LANGUAGES[language].load()).default);

/** The reason of a failure for a person. Errors of the page and refusals of the server say it themselves; the browser's, and faults of the page, are in words for a developer. */
export const reasonOf = ({ constructor, message }) => (constructor === Error ? message : words.failed.here);

/** The words of a part that loads them when it is opened: those of `words/en-NAME.js`, and over them those of the language. */
export async function wordsOf(name) {
  const { default: base } = await import(`../words/en-${name}.js`);
  const own = language === "en" ? undefined : await import(`../words/${language}-${name}.js`).catch(() => undefined);
  return over(base, own?.default ?? base);
}

function over(base, changes) {
  const all = { ...base };
  for (const [name, value] of Object.entries(changes)) {
    all[name] = typeof value === "object" && !Array.isArray(value) ? over(base[name] ?? {}, value) : value;
  }
  return all;
}
