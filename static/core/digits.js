// The digits of a number in JSON, and whether they are kept. Pure.

/** True for a number that the server would keep as another one: no double has its digits, and no whole number of 64 bits. */
export function isLost(number) {
  if (value(number) === value(Number(number))) return false;
  const isWhole = /^-?\d+$/.test(number);
  return !(isWhole && BigInt(number) >= -(2n ** 63n) && BigInt(number) < 2n ** 64n);
}

/** A number as its digits without zeros around them, and the place of the first: the same for each way to write it. */
function value(number) {
  const [, sign, whole, part = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  if (whole === undefined) return String(number);
  const digits = (whole + part).replace(/^0+/, "");
  const place = digits.length - part.length + Number(power);
  return digits === "" ? "0" : `${sign}${digits.replace(/0+$/, "")}e${place}`;
}
