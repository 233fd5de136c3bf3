// The words of this place, loaded with it.

import { wordsOf } from "../core/words.js";

export const { tasks, heartbeat } = await wordsOf("tasks");
