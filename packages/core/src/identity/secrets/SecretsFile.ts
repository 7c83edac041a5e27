/** Reads many secrets from one text: `.env` lines, or one flat object of texts in JSON or YAML. Refusals never show what is read. identity.md §11. */
import { Context, Either } from "effect"

/** How the text is written. */
export const secretsFileFormats = ["env", "json", "yaml"] as const
export type SecretsFileFormat = (typeof secretsFileFormats)[number]

/** A key and its value. */
export type SecretsFileEntry = readonly [key: string, value: string]

/** Entries of one text. */
export const maximumEntries = 50

type Read = Either.Either<string, string>
type Entries = Either.Either<ReadonlyArray<SecretsFileEntry>, string>

/** Reads YAML. */
export class SecretsYaml extends Context.Tag("@atelier/core/SecretsYaml")<
  SecretsYaml,
  {
    /**
     * Returns the entries of one flat object of texts in their order, or an error that quotes no part of the text. Time and memory are
     * proportional to the text, because its author is not trusted. YAML beyond such an object is refused rather than converted.
     */
    readonly read: (text: string) => Entries
  }
>() {}

/** U+2028 and U+2029 are text: a `.` for the rest of a line needs the flag `s`, or it is tried again from each place, which takes minutes. */
const lineBreak = /\r\n|\n|\r/

/** The entries in their order, or what is wrong. Keys are different, and no value is anything but text. */
export const parseSecretsFile = (format: SecretsFileFormat, content: string, yaml: SecretsYaml["Type"]): Entries => {
  const text = content.replace(/^\uFEFF/, "")
  const entries = format === "env" ? parseEnv(text) : format === "json" ? parseJson(text) : yaml.read(text)
  return Either.flatMap(entries, (found) => {
    if (found.length === 0 || found.length > maximumEntries) return Either.left(`must hold 1 to ${maximumEntries} entries`)
    const seen = new Set<string>()
    for (const [index, [key]] of found.entries()) {
      if (seen.has(key)) return Either.left(`entry ${index + 1} has the key of another one`)
      seen.add(key)
    }
    return Either.right(found)
  })
}

const at = (line: number, violation: string): string => `line ${line + 1} ${violation}`

const parseEnv = (text: string): Entries => {
  const entries: Array<SecretsFileEntry> = []
  for (const [index, line] of text.split(lineBreak).entries()) {
    const assignment = line.trim()
    if (assignment === "" || assignment.startsWith("#")) continue
    const parts = /^(?:export\s+)?([^\s=]+)\s*=(.*)$/s.exec(assignment)
    if (parts?.[1] === undefined) return Either.left(at(index, "is not KEY=VALUE"))
    const value = envValue((parts[2] ?? "").trim())
    if (Either.isLeft(value)) return Either.left(at(index, value.left))
    entries.push([parts[1], value.right])
    if (entries.length > maximumEntries) break
  }
  return Either.right(entries)
}

const envValue = (written: string): Read => {
  if (written.startsWith("'")) {
    const [, literal] = /^'([^']*)'$/.exec(written) ?? []
    return literal === undefined ? Either.left("has a single quote without its counterpart at the end") : Either.right(literal)
  }
  if (!written.startsWith('"')) return Either.right(written)
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/s.exec(written) ?? []
  return quoted === undefined ? Either.left("has a double quote without its counterpart at the end") : unescaped(quoted)
}

const escapes: ReadonlyMap<string, string> = new Map(Object.entries({ n: "\n", t: "\t", r: "\r", "\\": "\\", '"': '"' }))

const unescaped = (quoted: string): Read => {
  let unknown = false
  const text = quoted.replaceAll(/\\([\s\S])/g, (_, letter: string) => {
    const character = escapes.get(letter)
    if (character === undefined) unknown = true
    return character ?? ""
  })
  return unknown ? Either.left("has an escape that is not known") : Either.right(text)
}

const notAnObject = "must be one object of texts"

/** Reads the object piece by piece, because a parsed one does not show that a key was there twice. */
const parseJson = (text: string): Entries => {
  const piece = /\s*(?:("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*")\s*(,|\})|(\}))/y
  const entries: Array<SecretsFileEntry> = []
  const opening = /^\s*\{/.exec(text)
  if (opening === null) return Either.left(notAnObject)
  piece.lastIndex = opening[0].length
  while (true) {
    const index = entries.length + 1
    const [, key, value, end, empty] = piece.exec(text) ?? []
    if (empty !== undefined && entries.length === 0) break
    if (key === undefined || value === undefined) return Either.left(`${notAnObject}: entry ${index} is none`)
    const entry = Either.all([jsonText(key), jsonText(value)])
    if (Either.isLeft(entry)) return Either.left(`${notAnObject}: entry ${index} is none`)
    entries.push(entry.right)
    if (entries.length > maximumEntries) return Either.right(entries)
    if (end === "}") break
  }
  return text.slice(piece.lastIndex).trim() === "" ? Either.right(entries) : Either.left(notAnObject)
}

const jsonText = (written: string): Read => Either.try({ try: () => String(JSON.parse(written)), catch: () => "is not a text" })
