// A refusal of the server, said at the field of a form where it belongs.

/**
 * Says at its field what an error of `api` is about; false if it is about none of `fields`, which are those of `ui/forms.js` by their names
 * in the interface.
 */
export function saidAtField(error, fields) {
  const { field: name, says } = error.at ?? {};
  if (!Object.hasOwn(fields, name)) return false;
  const { wrong, control } = fields[name];
  wrong(says);
  control.focus();
  return true;
}
