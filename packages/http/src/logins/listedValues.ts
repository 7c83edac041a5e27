/** Returns the entries of an operator's list without blanks around them, and without empty ones. */
export const listedValues = (entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.map((entry) => entry.trim()).filter((entry) => entry !== "")
