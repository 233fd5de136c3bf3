// A long conversation, for tests and for the bench: 1,000 turns, which are 2,000 messages, and a
// call in every fourth.

import { callFrames, turnFrames } from "./talk.mjs";

const TEXT = "The assistant looked at **two places**, and found `nothing` that would have to be changed. ";

/** The assistant's words: a line, a list, code or a table, so that rows differ in height as they do in life. */
function answerOf(turn) {
  const more = ["", "\n\n- one\n- two\n- three", "\n\n```js\nconst a = 1;\nconst b = 2;\n```", "\n\n| n | roman |\n|--:|---|\n| 4 | IV |"][turn % 4];
  return `Answer ${turn}. ${TEXT.repeat(1 + (turn % 5))}${more}`;
}

/** Its frames. */
export function longFrames(turns = 1000) {
  return Array.from({ length: turns }, (_, index) => {
    const turn = index + 1;
    const steps = turn % 4 === 0 ? [...callFrames(turn, 2 * turn), ...callFrames(turn, 2 * turn + 1)] : [];
    return turnFrames(turn, `Message ${turn}. Look once more, and say what you find.`, answerOf(turn), steps);
  }).flat();
}

/** A text of so many pieces, as a model writes them: paragraphs, lists, headings, code. */
export function streamedPieces(count) {
  const part = `${TEXT.repeat(3)}\n\n${TEXT.repeat(2)}\n\n- a point of the list\n- another one\n\n## A heading\n\n\`\`\`js\nfunction add(a, b) {\n  return a + b;\n}\n\`\`\`\n\n`;
  const words = part.match(/\s*\S+|\s+$/g);
  return Array.from({ length: count }, (_, index) => words[index % words.length]);
}
