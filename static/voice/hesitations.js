// Sounds that say nothing; a letter that is drawn out stands here once. The server reads the line
// of sounds, too: `src/http/vapi/answer.rs`.

const SOUNDS = "u uh um uhm e er em erm hm hum ä äh äm ähm é éh eu euh";

/** The sounds. */
export const HESITATIONS = new Set(SOUNDS.split(" "));
