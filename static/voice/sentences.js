// Text that is still being written, cut into sentences that can be spoken at once. Pure.

/** Browsers stop in the middle of longer utterances without a word. */
export const MOST_CHARACTERS = 180;

/** Words with a full stop that end no sentence, by language. */
const SHORT = {
  en: "mr mrs ms dr prof st vs etc e.g i.e approx no jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m",
  de: "z.b d.h u.a bzw ca dr prof hr fr nr str usw evtl ggf inkl jan feb mär apr jun jul aug sep okt nov dez s.o",
  fr: "m mme mlle dr p.ex c.-à-d env no av janv févr avr juil sept oct nov déc etc",
  es: "sr sra srta dr dra p.ej ud uds aprox núm pág ene feb mar abr jun jul ago sep sept oct nov dic etc ee.uu",
  pt: "sr sra dr dra prof profa p.ex ex núm pág av aprox jan fev mar abr jun jul ago set out nov dez etc",
};
const ENDS = /[.!?…]+["'”’»)\]]*(?=\s)|[。！？]+|\n+/gu;

/** Cuts what `push(text)` brings into whole sentences; `flush()` gives the rest. `lang` is a tag such as `de-AT`; `shorten` cuts a long one. */
export function createCutter(lang = "en", shorten = pieces) {
  const language = lang.slice(0, 2).toLowerCase();
  const short = new Set((SHORT[language] ?? SHORT.en).split(" "));
  let rest = "";

  /** True if the sentence ends at the marks `marks`, behind `before` and in front of `after`. */
  function ends(before, marks, after) {
    if (!/^[.…]/.test(marks)) return !/^\s*\p{Ll}/u.test(after) || marks.includes("\n");
    if (/^\s*\p{Ll}/u.test(after)) return false;
    if (!/^\.["'”’»)\]]*$/.test(marks)) return true;
    const word = /[^\s(“"«¿¡]*$/u.exec(before)[0].toLowerCase();
    if (short.has(word) || /^\p{L}$/u.test(word)) return false;
    // “Am 3. Mai”: in German a number with a full stop is an ordinal.
    return !(language === "de" && /^\d{1,2}$/.test(word));
  }

  function cut(isWhole) {
    const found = [];
    let from = 0;
    for (const { 0: marks, index } of rest.matchAll(ENDS)) {
      const behind = index + marks.length;
      const after = rest.slice(behind);
      // The word behind a full stop says whether a sentence ends there, so it is waited for.
      if (!isWhole && !marks.includes("\n") && after.trim() === "" && /[.…]/.test(marks)) break;
      if (!ends(rest.slice(from, index), marks, after)) continue;
      found.push(rest.slice(from, behind));
      from = behind;
    }
    rest = rest.slice(from);
    return found;
  }

  const spoken = (sentences) => sentences.map((text) => text.trim()).filter((text) => /[\p{L}\p{N}]/u.test(text)).flatMap(shorten);
  return {
    push(text) {
      rest += text;
      return spoken(cut(false));
    },
    flush() {
      const found = cut(true);
      const last = rest;
      rest = "";
      return spoken([...found, last]);
    },
  };
}

/** A sentence in pieces that are short enough, cut behind a comma if there is one, else between words. */
export function pieces(text) {
  const all = [];
  let rest = text;
  while (rest.length > MOST_CHARACTERS) {
    const room = rest.slice(0, MOST_CHARACTERS);
    const comma = Math.max(...[", ", "; ", ": ", " – ", " — "].map((mark) => room.lastIndexOf(mark)));
    const space = room.lastIndexOf(" ");
    const at = comma > MOST_CHARACTERS / 3 ? comma + 1 : space > 0 ? space : wholeCharacters(room);
    all.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === "" ? all : [...all, rest];
}

/** The place to cut a text without any space: not within a character of two halves. */
const wholeCharacters = (room) => (/[\uD800-\uDBFF]$/.test(room) ? room.length - 1 : room.length);
