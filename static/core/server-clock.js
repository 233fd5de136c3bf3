// The server's clock. Times that are counted down are the server's, and the clock of this machine
// may be wrong by hours.

/** The server says its time in whole seconds, and the word takes a while: less than this is no difference. In milliseconds. */
const SAME = 2000;
const HALF_A_SECOND = 500;

let ahead = 0;

/** The server has said what time it is, as the header `Date` of an answer; `now` is what the clock here says. Anything else is not heard. */
export function hearTime(date, now = Date.now()) {
  const difference = Date.parse(date ?? "") + HALF_A_SECOND - now;
  if (Math.abs(difference - ahead) >= SAME) ahead = Math.abs(difference) < SAME ? 0 : difference;
}

/** The time at the server, in milliseconds, as far as it is known. */
export const serverNow = (now = Date.now()) => now + ahead;
