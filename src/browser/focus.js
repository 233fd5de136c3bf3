// Focuses a field and selects its text, so that what is typed replaces it. Says if the focus stayed where it belongs.
function () {
  this.focus();
  if (this.localName === "input" || this.localName === "textarea") {
    this.select();
  } else {
    this.ownerDocument.getSelection().selectAllChildren(this);
  }
  const active = this.getRootNode().activeElement;
  return active === this && !(this.localName === "input" && this.type === "password");
}
