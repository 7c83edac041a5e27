/** The fields that differ from those before. A form sends these alone, so that it keeps the changes of other users. */
export const changedOf = <Before extends object, Fields extends { readonly [Name in keyof Fields & keyof Before]: Before[Name] }>(
  before: Before,
  fields: Fields
): Partial<Fields> => {
  const known = new Map<string, unknown>(Object.entries(before))
  const changed = Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(known.get(name)))
  // Of the same names and values
  return Object.fromEntries(changed) as Partial<Fields>
}
