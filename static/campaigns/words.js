// The words of this place, loaded with it.

import { wordsOf } from "../core/words.js";

export const { campaigns } = await wordsOf("campaigns");
