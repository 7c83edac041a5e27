/** Reads the words of a command line by the table of commands. */
import { exitCodes, Failure, usage } from "../Failure.js"
import { type Command, type Flag, flagName, type Flags, type Group, isGroup } from "./Command.js"

export interface Parsed {
  readonly command: Command
  /** The names on the way to the command. */
  readonly path: ReadonlyArray<string>
  readonly input: Readonly<Record<string, unknown>>
  readonly global: Readonly<Record<string, unknown>>
}

/** A request for help instead of a command. */
export interface HelpRequest {
  readonly path: ReadonlyArray<string>
  readonly entry: Command | Group | undefined
  /** Whether the user asked for it; help that stands in for a missing word is an error. */
  readonly isAsked: boolean
}

type Entries = ReadonlyArray<Command | Group>

const isCalled =
  (word: string) =>
  ({ aliases, name }: Command | Group): boolean =>
    name === word || aliases.includes(word)

/** The number of changes that make one word of the other: a change is of one character, or swaps two that are side by side. */
const distance = (one: string, other: string): number => {
  let before: ReadonlyArray<number> = []
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (const [j, its] of [...other].entries()) {
      const isSwapped = i > 0 && j > 0 && letter === other[j - 1] && one[i - 1] === its
      next.push(
        Math.min(
          (row[j + 1] ?? 0) + 1,
          (next[j] ?? 0) + 1,
          (row[j] ?? 0) + (letter === its ? 0 : 1),
          isSwapped ? (before[j - 1] ?? 0) + 1 : Infinity
        )
      )
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}

/** The name that was most likely meant by a word: one that differs little, or one that the word and a hyphen begin. */
const nearest = (word: string, names: ReadonlyArray<string>): string | undefined =>
  names
    .map((name) => ({ name, far: distance(word, name) }))
    .filter(({ far, name }) => far <= Math.max(1, Math.floor(name.length / 3)))
    .toSorted((one, other) => one.far - other.far)[0]?.name ?? names.find((name) => name.startsWith(`${word}-`))

const unknownWord = (word: string, path: ReadonlyArray<string>, entries: Entries, program: string) => {
  const like = nearest(
    word,
    entries.flatMap(({ aliases, name }) => [name, ...aliases])
  )
  // Before a command, the option may be that of a program around this one
  const all = `"${[program, ...(path.length === 0 ? ["help"] : [...path, "--help"])].join(" ")}" lists the commands.`
  return usage(`"${[...path, word].join(" ")}" is not a command.`, like === undefined ? all : `did you mean "${like}"? ${all}`)
}

const flagOf = (word: string, flags: Flags): readonly [string, Flag<unknown>] | undefined =>
  Object.entries(flags).find(([key, { short }]) => (word.startsWith("--") ? flagName(key) === word.slice(2) : short === word.slice(1)))

/** Divides a word such as `--name=value` or `-nvalue` into the flag and its value. */
const dividedFlag = (word: string): readonly [string, string | undefined] => {
  if (!word.startsWith("--")) return [word.slice(0, 2), word.length > 2 ? word.slice(2).replace(/^=/, "") : undefined]
  const at = word.indexOf("=")
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

/** Collects the values of flags while words are read. */
const collector = (program: string, path: () => ReadonlyArray<string>, flags: () => Flags) => {
  const values = new Map<string, Array<string>>()
  /** Reads a flag; answers the number of words behind it that it took. */
  const take = (word: string, following: string | undefined): number => {
    const [name, own] = dividedFlag(word)
    const found = flagOf(name, flags())
    if (found === undefined) {
      const like = name.startsWith("--") ? nearest(name.slice(2), Object.keys(flags()).map(flagName)) : undefined
      const help = `"${[program, ...path(), "--help"].join(" ")}" lists the options.`
      throw usage(`${name}: is not an option here.`, like === undefined ? help : `did you mean --${like}? ${help}`)
    }
    const [key, flag] = found
    const put = (value: string): void => void values.set(key, [...(values.get(key) ?? []), value])
    if (flag.placeholder === undefined) {
      // Short flags can be joined, as in `-fq`
      const isJoined = own !== undefined && !name.startsWith("--")
      put(isJoined ? "true" : (own ?? "true"))
      return isJoined ? take(`-${own}`, following) : 0
    }
    if (own !== undefined) {
      put(own)
      return 0
    }
    if (following === undefined) throw usage(`${name}: needs a value, ${flag.placeholder}.`)
    put(following)
    return 1
  }
  return { values, take }
}

const readFlags = (flags: Flags, values: ReadonlyMap<string, ReadonlyArray<string>>, env: NodeJS.ProcessEnv): Record<string, unknown> => {
  const read: Record<string, unknown> = {}
  for (const [key, flag] of Object.entries(flags)) {
    const variable = flag.variable === undefined ? undefined : env[flag.variable]
    const given = values.get(key) ?? (variable === undefined || variable === "" ? [] : [variable])
    try {
      read[key] = flag.read(given)
    } catch (error) {
      const name = values.has(key) ? `--${flagName(key)}` : flag.variable
      throw usage(`${name}: ${error instanceof Error ? error.message : String(error)}.`)
    }
  }
  return read
}

const readArguments = ({ args }: Command, words: ReadonlyArray<string>, program: string, path: ReadonlyArray<string>) => {
  const read: Record<string, unknown> = {}
  const left = [...words]
  for (const [key, { need, summary }] of Object.entries(args)) {
    if (need === "list") read[key] = left.splice(0)
    else read[key] = left.shift()
    const isAbsent = need === "list" ? (read[key] as ReadonlyArray<string>).length === 0 : read[key] === undefined
    if (need !== "optional" && isAbsent) {
      throw new Failure({
        message: `${path.join(" ")}: ${flagName(key).toUpperCase()} is missing.`,
        details: [`It is ${summary}.`],
        hint: `"${[program, ...path, "--help"].join(" ")}" has the usage.`,
        code: exitCodes.usage
      })
    }
  }
  if (left.length > 0)
    throw usage(`"${left.join(" ")}": ${left.length === 1 ? "is one word" : "are words"} too many for "${path.join(" ")}".`)
  return read
}

/**
 * Reads a command line. Flags may stand anywhere before the words of another command, which begin behind `--`, or behind the last argument of a command
 * that takes some. Fails with a failure of usage.
 */
export const parse = (
  argv: ReadonlyArray<string>,
  entries: Entries,
  globals: Flags,
  { env, program }: { readonly env: NodeJS.ProcessEnv; readonly program: string }
): Parsed | HelpRequest => {
  const path: Array<string> = []
  const words: Array<string> = []
  let level: Entries = entries
  let group: Group | undefined
  let found: Command | undefined
  let passed: ReadonlyArray<string> = []
  let isHelp = false
  const flags = collector(
    program,
    () => path,
    () => ({ ...globals, ...found?.flags })
  )
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ""
    const takesWords = found?.words !== undefined
    // Without arguments of its own, all that follows is the other command's
    if (found !== undefined && takesWords && Object.keys(found.args).length === 0) {
      passed = argv.slice(word === "--" ? at + 1 : at)
      break
    }
    if (word === "--" && (takesWords || found !== undefined)) {
      if (takesWords) passed = argv.slice(at + 1)
      else words.push(...argv.slice(at + 1))
      break
    }
    if (word === "--help" || word === "-h") isHelp = true
    else if (/^-./.test(word)) at += flags.take(word, argv[at + 1])
    else if (found === undefined) {
      const entry = level.find(isCalled(word))
      if (entry === undefined) {
        if (word === "help" && path.length === 0) {
          isHelp = true
          continue
        }
        throw unknownWord(word, path, level, program)
      }
      path.push(entry.name)
      if (isGroup(entry)) {
        group = entry
        level = entry.commands
      } else found = entry
    } else if (takesWords && words.length >= Object.keys(found.args).length) {
      passed = argv.slice(at)
      break
    } else words.push(word)
  }
  if (isHelp || found === undefined) return { path, entry: found ?? group, isAsked: isHelp }
  return {
    command: found,
    path,
    input: { ...readArguments(found, words, program, path), ...readFlags(found.flags, flags.values, env), words: passed },
    global: readFlags(globals, flags.values, env)
  }
}
