// The words of approvals, which come with the first of them.

import { wordsOf } from "../core/words.js";

export const { approval, approvals } = await wordsOf("approvals");
