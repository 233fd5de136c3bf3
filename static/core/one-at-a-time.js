// Loads what several things ask for, without doing it twice at once.

/** Calls `load` again and again, one at a time: what is asked for while one is under way is one more time after it. */
export function oneAtATime(load) {
  let under;
  let again = false;
  return function ask() {
    if (under) {
      again = true;
      return under;
    }
    const run = async () => {
      do {
        again = false;
        await load();
      } while (again);
    };
    under = run().finally(() => (under = undefined));
    return under;
  };
}
