/** Parameters of a request's URL, read strictly: an encoding that is not UTF-8 is refused, where URLSearchParams would change the path. */
import { FileError } from "./FileError.js"

const decode = (text: string, name: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"))
  } catch {
    throw new FileError(400, `The parameter "${name}" is not encoded as UTF-8.`)
  }
}

export class Query {
  private readonly values = new Map<string, string>()

  constructor(search: string) {
    for (const pair of search.split("&")) {
      const [name = "", ...rest] = pair.split("=")
      // The first value counts, as with URLSearchParams
      if (name !== "" && !this.values.has(name)) this.values.set(name, rest.join("="))
    }
  }

  /** The text of a parameter; undefined where it is absent. */
  text(name: string): string | undefined {
    const value = this.values.get(name)
    return value === undefined ? undefined : decode(value, name)
  }

  flag(name: string): boolean {
    const value = this.text(name) ?? "false"
    if (value !== "true" && value !== "false") throw new FileError(400, `The parameter "${name}" must be true or false.`)
    return value === "true"
  }

  /** A whole number between bounds. */
  number<A>(
    name: string,
    { least, most, otherwise }: { readonly least: number; readonly most: number; readonly otherwise: A }
  ): number | A {
    const value = this.text(name)
    if (value === undefined) return otherwise
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    if (number >= least && number <= most) return number
    throw new FileError(400, `The parameter "${name}" must be a whole number from ${least} to ${most}.`)
  }
}

const octal = /^[0-7]{1,4}$/

/** Permission bits as octal digits, such as `0644`. */
export const modeOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!octal.test(text)) throw new FileError(400, `The mode must be one to four octal digits, such as 0644.`)
  return Number.parseInt(text, 8)
}
