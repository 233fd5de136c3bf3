// An approval in its conversation, with its styles: they come with the first one.

import { styles } from "../core/styles.js";
import "../ui/approval.js";

await styles(import.meta.url, "../ui/approval.css");
