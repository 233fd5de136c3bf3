// Sets the value of a field that is filled in by parts, as a date is. False if it is no value of such a field: nothing has happened then.
function (text) {
  const probe = this.ownerDocument.createElement("input");
  probe.type = this.type;
  probe.value = text;
  if (probe.value !== text) return false;
  this.focus();
  this.value = text;
  for (const kind of ["input", "change"]) this.dispatchEvent(new Event(kind, { bubbles: true }));
  return true;
}
