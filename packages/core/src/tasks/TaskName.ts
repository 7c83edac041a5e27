/** Names of tasks that are made from their prompts. workspaces.md §9.1 no. 4. */
import { Effect, Random } from "effect"
import * as Name from "../platform/texts/Name.js"

/** Characters of a name before its suffix: together they have as many as a name may have. */
const maximumStem = 27

/** Characters of a display name. */
const maximumDisplay = 64

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, " ").trim()

/** At most `limit` characters of a text, whole words of it unless the first one is longer. */
const cutAtWord = (text: string, limit: number): string => {
  const characters = Array.from(text)
  if (characters.length <= limit) return text
  const cut = characters.slice(0, limit).join("")
  if (characters[limit] === " ") return cut
  const space = cut.lastIndexOf(" ")
  return space <= 0 ? cut : cut.slice(0, space)
}

/** The beginning of a prompt as a name; empty if it has no letter or digit. */
export const stemOf = (prompt: string): string =>
  cutAtWord(oneLine(prompt), maximumStem)
    .toLowerCase()
    .replaceAll(" ", "-")
    .replaceAll(/[^a-z0-9-]/g, "")
    .replaceAll(/-+/g, "-")
    .replaceAll(/^-|-$/g, "")

/** The beginning of a prompt as a display name; empty if the prompt is blank. */
export const displayNameOf = (prompt: string): string => {
  const line = oneLine(prompt)
  const whole = Array.from(line).length <= maximumDisplay
  const [first = "", ...rest] = Array.from(whole ? line : `${cutAtWord(line, maximumDisplay - 1).trimEnd()}…`)
  return first.toUpperCase() + rest.join("")
}

/** A name and a display name for a prompt. Names of one prompt differ by a suffix of 4 hexadecimal digits. */
export const generatedNames = (prompt: string): Effect.Effect<{ readonly name: string; readonly display_name: string }> =>
  Effect.gen(function* () {
    const suffix = yield* Random.nextIntBetween(0, 0x1_0000)
    const stem = stemOf(prompt) || (yield* Name.random("-")).slice(0, maximumStem)
    return {
      name: `${stem}-${suffix.toString(16).padStart(4, "0")}`,
      display_name: displayNameOf(prompt) || displayNameOf(stem.replaceAll("-", " "))
    }
  })
