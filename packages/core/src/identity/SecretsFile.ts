/** Reads many secrets from one text: `.env` lines, or one flat object of texts in JSON or YAML. Refusals never show what is read. identity.md §11. */
import { Either } from "effect"

/** How the text is written. */
export const secretsFileFormats = ["env", "json", "yaml"] as const
export type SecretsFileFormat = (typeof secretsFileFormats)[number]

/** A key and its value. */
export type SecretsFileEntry = readonly [key: string, value: string]

/** Entries of one text. */
const maximumEntries = 50

type Read = Either.Either<string, string>
type Entries = Either.Either<ReadonlyArray<SecretsFileEntry>, string>

/** U+2028 and U+2029 are text: a `.` for the rest of a line needs the flag `s`, or it is tried again from each place, which takes minutes. */
const lineBreak = /\r\n|\n|\r/

/** The entries in their order, or what is wrong. Keys are different, and no value is anything but text. */
export const parseSecretsFile = (format: SecretsFileFormat, content: string): Entries => {
  const text = content.replace(/^\uFEFF/, "")
  const entries = format === "env" ? parseEnv(text) : format === "json" ? parseJson(text) : parseYaml(text)
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

const at = (line: number, flaw: string): string => `line ${line + 1} ${flaw}`

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
  return quoted === undefined ? Either.left("has a double quote without its counterpart at the end") : unescaped(quoted, envEscapes)
}

const envEscapes: ReadonlyMap<string, string> = new Map(Object.entries({ n: "\n", t: "\t", r: "\r", "\\": "\\", '"': '"' }))

/** A text with its escapes replaced; `escapes` has the character of each letter. */
const unescaped = (quoted: string, escapes: ReadonlyMap<string, string>): Read => {
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

const jsonText = (written: string): Read => Either.try({ try: () => String(JSON.parse(written)), catch: () => "is no text" })

/** Plain words that are no texts in YAML: nulls, booleans, numbers, dates, merge keys. */
const otherThanText =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|<<|[-+]?(?:0x[\da-fA-F_]+|0o?[0-7_]+|0b[01_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)|\d{4}-\d{1,2}-\d{1,2}(?:[Tt ].*)?)$/s

/** What a plain text cannot begin with. */
const indicator = /^(?:[-?:](?=\s|$)|[[\]{},#&*!|>'"%@`])/

/**
 * The part of YAML that a flat object of texts needs: plain and quoted texts of one line, and block texts (`|`, `>`). The rest is refused
 * rather than taken for something else.
 */
const parseYaml = (text: string): Entries => {
  if (/^\s*\{/.test(text)) return parseJson(text)
  const lines = text.split(lineBreak)
  if (lines.at(-1) === "") lines.pop()
  const entries: Array<SecretsFileEntry> = []
  let index = 0
  while (index < lines.length && entries.length <= maximumEntries) {
    const line = lines[index] ?? ""
    const number = index++
    if (/^\s*(?:#.*)?$/s.test(line) || (/^---\s*$/.test(line) && entries.length === 0)) continue
    const keyEnd = yamlKeyEnd(line)
    if (keyEnd === undefined) return Either.left(at(number, "is not KEY: VALUE"))
    const written = line.slice(keyEnd).replace(":", "").trim()
    const [, style, chomp = ""] = /^([|>])([-+]?)(?:\s+#.*)?$/s.exec(written) ?? []
    let value: Read
    if (style === undefined) value = yamlText(written)
    else {
      const begin = index
      while (index < lines.length && !/^\S/.test(lines[index] ?? "")) index++
      value = blockText(lines.slice(begin, index), style === ">", chomp)
    }
    const entry = Either.all([yamlText(line.slice(0, keyEnd)), value])
    if (Either.isLeft(entry)) return Either.left(at(number, entry.left))
    entries.push(entry.right)
  }
  return Either.right(entries)
}

/** Where the key of a line ends, or undefined where there is none. */
const yamlKeyEnd = (line: string): number | undefined => {
  const quoted = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/s.exec(line)
  if (quoted !== null) return /^\s*:(?:\s|$)/.test(line.slice(quoted[0].length)) ? quoted[0].length : undefined
  const end = line.search(/:(?:\s|$)/)
  return end < 1 || /^\s/.test(line) || /\s#/.test(line.slice(0, end)) ? undefined : end
}

const yamlEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    n: "\n",
    t: "\t",
    r: "\r",
    "\\": "\\",
    '"': '"',
    "/": "/",
    b: "\b",
    f: "\f",
    v: "\v",
    a: "\x07",
    e: "\x1b",
    "0": "\0",
    " ": " "
  })
)

/** A key or a value of one line, with the comment behind it. */
const yamlText = (written: string): Read => {
  const [, single] = /^'((?:[^']|'')*)'\s*(?:(?<=\s)#.*)?$/s.exec(written) ?? []
  if (single !== undefined) return Either.right(single.replaceAll("''", "'"))
  const [, double] = /^"((?:[^"\\]|\\.)*)"\s*(?:(?<=\s)#.*)?$/s.exec(written) ?? []
  if (double !== undefined) {
    const numbered = double.replaceAll(/(\\\\)|\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2}))/g, (all, escaped, long: string, short: string) =>
      escaped === undefined ? literal(String.fromCharCode(Number.parseInt(long ?? short, 16))) : all
    )
    return unescaped(numbered, yamlEscapes)
  }
  const plain = written.replace(/(?:^|\s)#.*$/s, "").trim()
  if (indicator.test(plain)) return Either.left("has a value that is no text of one line")
  if (plain === "" || otherThanText.test(plain)) return Either.left("has a key or value that is no text: put it in quotes")
  return /:(?:\s|$)/.test(plain) ? Either.left("has a key in the place of a value") : Either.right(plain)
}

/** A character as it survives unescaping. */
const literal = (character: string): string => (character === "\\" || character === '"' ? `\\${character}` : character)

/** A block of lines; `chomp` says what becomes of line breaks at its end: one stays, none (`-`) or all (`+`). */
const blockText = (lines: ReadonlyArray<string>, folded: boolean, chomp: string): Read => {
  // Readers differ in what they take such lines for
  if (lines.some((line) => line !== "" && line.trim() === "")) return Either.left("has a block with a line of nothing but spaces")
  const indent = /^ */.exec(lines.find((line) => line.trim() !== "") ?? "")?.[0].length ?? 0
  if (lines.some((line) => line.trim() !== "" && !line.startsWith(" ".repeat(indent))))
    return Either.left("has a block that is not indented evenly")
  if (indent === 0) return Either.left("has a block without lines")
  const content = lines.map((line) => line.slice(indent))
  while (content.at(-1) === "") content.pop()
  const trailing = lines.length - content.length + 1
  const text = folded ? fold(content) : content.join("\n")
  return Either.right(chomp === "-" ? text : chomp === "+" ? text + "\n".repeat(trailing) : `${text}\n`)
}

/** Lines of a folded block: one break between lines that are not indented further is a space, and of several one is dropped. */
const fold = (lines: ReadonlyArray<string>): string => {
  let text = ""
  let breaks = 0
  let previous: string | undefined
  for (const line of lines) {
    if (line === "") {
      breaks++
      continue
    }
    const keeps = /^[ \t]/.test(line) || (previous !== undefined && /^[ \t]/.test(previous))
    if (previous === undefined) text = "\n".repeat(breaks)
    else text += keeps ? "\n".repeat(breaks + 1) : breaks === 0 ? " " : "\n".repeat(breaks)
    text += line
    previous = line
    breaks = 0
  }
  return text
}
