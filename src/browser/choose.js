// Chooses the option of a list by its text or its value. False if there is none, or several.
function (text) {
  const fits = [...this.options].filter((one) => one.text.trim() === text || one.value === text);
  if (fits.length !== 1 || fits[0].disabled) return false;
  this.value = fits[0].value;
  for (const kind of ["input", "change"]) this.dispatchEvent(new Event(kind, { bubbles: true }));
  return true;
}
