// JSON whose numbers keep their digits: a double holds about sixteen of them, and forgets that 1.10
// had two places.

if (!JSON.rawJSON) await import("./raw-json.js");

/** A number as its digits say it, which `JSON.stringify` writes as they were. */
class Exact {
  #digits;

  constructor(digits) {
    this.#digits = digits;
  }

  toString() {
    return this.#digits;
  }

  toJSON() {
    return JSON.rawJSON(this.#digits);
  }
}

/** The value of a JSON text. A number that a double would write otherwise is an object, in words its digits. */
export const readJson = (text) => JSON.parse(text, (_, value, { source }) => (typeof value === "number" && source !== String(value) ? new Exact(source) : value));

/** True for a value with nothing inside: a text, a number, a truth, or none. */
export const isPlain = (value) => value === null || typeof value !== "object" || value instanceof Exact;
