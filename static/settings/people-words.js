// The words about users, loaded with the settings.

import { wordsOf } from "../core/words.js";

export const people = await wordsOf("people");
