/** Finds the places that the log of a build names. */
import { plainText } from "../../../ui/text/ansi.js"

export interface Place {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** `template.yaml:12:9: message`, as this service's engines write it. */
const direct = /^(?:Error: )?(\S.*?):(\d+)(?::(\d+))?: (.*)$/
/** `on main.tf line 12, in resource …:`, as Terraform writes it below the message. */
const below = /\bon (\S+) line (\d+)/
const heading = /^\W*(?:Error|Warning): (.+)$/

const maximumPlaces = 50

/** The places in files of the source, each once. Lines may have the signs of terminals. */
export const placesIn = (lines: ReadonlyArray<string>, paths: ReadonlySet<string>): ReadonlyArray<Place> => {
  const places = new Map<string, Place>()
  let message = ""
  for (const raw of lines.flatMap((each) => each.split("\n"))) {
    const text = plainText(raw).trim()
    message = heading.exec(text)?.[1] ?? message
    const [, path = "", line, column, said = ""] = direct.exec(text) ?? []
    const [, other = "", otherLine] = below.exec(text) ?? []
    const place: Place | undefined = paths.has(path)
      ? { path, line: Number(line), column: Number(column ?? 1), message: said }
      : paths.has(other)
        ? { path: other, line: Number(otherLine), column: 1, message }
        : undefined
    if (place !== undefined) places.set(`${place.path}:${place.line}:${place.column} ${place.message}`, place)
    if (places.size === maximumPlaces) break
  }
  return [...places.values()]
}
