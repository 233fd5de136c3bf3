// The faults of values, said at the fields of a form where they belong.

/** An error of the page itself about a field, in the form of those of `api`. */
export const wrongAt = (field, says) => Object.assign(new Error(says), { at: { field, says } });

/**
 * Says at its field what an error is about; false if it is about none of `fields`, which are those of `ui/forms.js` by their names in the
 * interface.
 */
export function saidAtField(error, fields) {
  const { field: name, says } = error.at ?? {};
  if (!Object.hasOwn(fields, name)) return false;
  const { wrong, control } = fields[name];
  wrong(says);
  control.focus();
  return true;
}
