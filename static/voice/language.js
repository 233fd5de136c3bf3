// The language in which a person talks with Law. Pure.

/** The languages in which text is cut into sentences, see `sentences.js`: each with the tag of the country that most of its speakers live in. */
const TAGS = { en: "en-US", de: "de-DE", fr: "fr-FR", es: "es-ES", pt: "pt-BR" };

/** The languages that a person may choose for calls. */
export const TALKED = Object.keys(TAGS);

/**
 * The tag for ears, mouth and the cut of sentences. `wanted` is the language that the person chose for calls, `page` the one that they chose for
 * the page, `known` are the tags of their browser, the best first.
 */
export function tagOf({ wanted, page, known = [] }) {
  const language = wanted ?? page;
  if (language === undefined) return known[0] ?? TAGS.en;
  return known.find((tag) => tag.toLowerCase().split("-")[0] === language) ?? TAGS[language] ?? language;
}
