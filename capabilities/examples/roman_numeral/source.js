const numerals = [
  [1000, 'M'], [900, 'CM'], [500, 'D'], [400, 'CD'], [100, 'C'], [90, 'XC'],
  [50, 'L'], [40, 'XL'], [10, 'X'], [9, 'IX'], [5, 'V'], [4, 'IV'], [1, 'I'],
];

async function roman_numeral(params) {
  let rest = params.number;
  let written = '';
  for (const [value, numeral] of numerals) {
    while (rest >= value) {
      written += numeral;
      rest -= value;
    }
  }
  console.log(`${params.number} is ${written}`);
  return written;
}
