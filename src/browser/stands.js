// Reads back what stands in a field after something was typed into it. Null if it is the text; in a field that a page made itself, spaces may be
// others.
function (text) {
  if (!this.isConnected) throw new Error("the field is gone");
  const plain = (what) => what.replace(/\s+/g, " ").trim();
  if (this.localName === "select") {
    const chosen = this.selectedOptions[0];
    if (!chosen) return "";
    return chosen.text.trim() === text || chosen.value === text ? null : chosen.text;
  }
  if (this.localName === "input" || this.localName === "textarea") {
    return this.value === text.replace(/\r\n?/g, "\n") ? null : this.value;
  }
  return plain(this.innerText) === plain(text) ? null : this.innerText;
}
