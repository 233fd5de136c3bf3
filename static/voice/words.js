// The words of calls, loaded with them.

import { wordsOf } from "../core/words.js";

export const said = await wordsOf("voice");
