/** A look at a template file on this machine. */
import { LineCounter, parseDocument } from "yaml"

/** Looks at the text of a template file: whether it is YAML, and has what every template has. Returns what is wrong, with the lines. */
export const checkText = (text: string, file: string): ReadonlyArray<string> => {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const wrong = document.errors.map(({ message, pos: [at] }) => `${file}:${lineCounter.linePos(at).line}: ${message}`)
  if (wrong.length > 0) return wrong
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  return typeof value === "object" && value !== null && !Array.isArray(value) ? [] : [`${file}: must have fields, such as agents.`]
}
