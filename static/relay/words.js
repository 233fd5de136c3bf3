// The words of this place, loaded with it.

import { wordsOf } from "../core/words.js";

export const { relay } = await wordsOf("relay");
