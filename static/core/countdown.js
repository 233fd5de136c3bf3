// A focus timer as a clock. Pure.

/** The milliseconds that are left of `timer`, as the server gives it, at `now`. */
export function leftOf({ state, ends_at: endsAt, left_ms: leftMs }, now) {
  if (state === "running") return Math.max(0, Date.parse(endsAt) - now);
  return state === "paused" ? leftMs : 0;
}

/** Milliseconds as a clock shows them, begun seconds as whole ones: 24:59, or 1:05:00 from an hour on. */
export function clockOf(ms) {
  const seconds = Math.ceil(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
