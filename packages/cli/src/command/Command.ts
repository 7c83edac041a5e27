/** What commands take and do. The parser, the help, the completion and the manual are made of this table. */
import { Failure, exitCodes } from "../Failure.js"
import type { Session } from "../Session.js"

export interface Flag<A> {
  readonly summary: string
  readonly short?: string | undefined
  /** Absent for a flag without a value. */
  readonly placeholder?: string | undefined
  readonly choices?: ReadonlyArray<string> | undefined
  /** What the value stands for, for completion. */
  readonly kind?: Kind | undefined
  /** The variable of the environment that stands in for the flag. */
  readonly variable?: string | undefined
  readonly isList: boolean
  /** Reads what was given, in its order. Fails with what is wrong with it. */
  readonly read: (values: ReadonlyArray<string>) => A
}

interface Words {
  readonly short?: string
  readonly kind?: Kind
  readonly variable?: string
}

/** A flag without a value. */
export const toggle = (summary: string, words: Words = {}): Flag<boolean> => ({
  ...words,
  summary,
  isList: false,
  read: (values) => values.length > 0 && values.at(-1) !== "false"
})

const one =
  <A>(read: (value: string) => A) =>
  (values: ReadonlyArray<string>): A | undefined => {
    const value = values.at(-1)
    return value === undefined ? undefined : read(value)
  }

export const text = (placeholder: string, summary: string, words: Words = {}): Flag<string | undefined> => ({
  ...words,
  summary,
  placeholder,
  isList: false,
  read: one((value) => value)
})

/** A flag that may be repeated. */
export const texts = (placeholder: string, summary: string, words: Words = {}): Flag<ReadonlyArray<string>> => ({
  ...words,
  summary,
  placeholder,
  isList: true,
  read: (values) => values
})

/** A number without a fraction, not negative. */
export const whole = (placeholder: string, summary: string, words: Words = {}): Flag<number | undefined> => ({
  ...words,
  summary,
  placeholder,
  isList: false,
  read: one((value) => {
    if (!/^\d{1,9}$/.test(value)) throw new Error("must be a number that is not negative")
    return Number(value)
  })
})

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `90s`, `30m`, `1h30m` or `7d` as milliseconds. */
export const readDuration = (value: string): number => {
  if (!/^(?:\d{1,6}[smhd])+$/.test(value)) throw new Error("must be a duration such as 90s, 30m, 1h30m or 7d")
  return [...value.matchAll(/(\d+)([smhd])/g)].reduce((sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0)
}

/** A duration in milliseconds. */
export const duration = (summary: string, words: Words = {}): Flag<number | undefined> => ({
  ...words,
  summary,
  placeholder: "DURATION",
  isList: false,
  read: one(readDuration)
})

export const choice = <const A extends string>(choices: ReadonlyArray<A>, summary: string, words: Words = {}): Flag<A | undefined> => ({
  ...words,
  summary,
  placeholder: choices.join("|"),
  choices,
  isList: false,
  read: one((value) => {
    const found = choices.find((each) => each === value)
    if (found === undefined) throw new Error(`must be one of ${choices.join(", ")}`)
    return found
  })
})

export type Flags = Readonly<Record<string, Flag<unknown>>>

/** What a place of the command line stands for: completion asks the service for it. */
export type Kind = "workspace" | "template" | "context" | "file" | "other"

export interface Argument<A> {
  readonly summary: string
  readonly kind: Kind
  readonly need: "required" | "optional" | "list"
  readonly choices?: ReadonlyArray<string> | undefined
  readonly type?: A
}

export const required = (summary: string, kind: Kind = "other"): Argument<string> => ({ summary, kind, need: "required" })
/** One of several words, which the command checks. */
export const oneOf = (choices: ReadonlyArray<string>, summary: string): Argument<string> => ({
  summary,
  kind: "other",
  need: "required",
  choices
})
export const optional = (summary: string, kind: Kind = "other"): Argument<string | undefined> => ({ summary, kind, need: "optional" })
/** At least one. */
export const several = (summary: string, kind: Kind = "other"): Argument<ReadonlyArray<string>> => ({ summary, kind, need: "list" })

export type Arguments = Readonly<Record<string, Argument<unknown>>>

type FlagValues<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer A> ? A : never }
type ArgumentValues<A extends Arguments> = { readonly [K in keyof A]: A[K] extends Argument<infer B> ? B : never }

/** What a command is given: its arguments and flags by name, and the words of another command behind them. */
export type Input<A extends Arguments, F extends Flags> = ArgumentValues<A> & FlagValues<F> & { readonly words: ReadonlyArray<string> }

/** An exit code; 0 unless given. */
export type Outcome = Promise<number | void>

export interface Command {
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly summary: string
  /** Paragraphs behind the summary. */
  readonly description: ReadonlyArray<string>
  readonly args: Arguments
  readonly flags: Flags
  /** What the words behind the arguments are, such as `COMMAND`; absent if the command takes none. */
  readonly words: string | undefined
  readonly examples: ReadonlyArray<string>
  /** Left out of the help. */
  readonly isHidden: boolean
  readonly run: (input: Readonly<Record<string, unknown>>, session: Session) => Outcome
}

export interface Group {
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly summary: string
  readonly commands: ReadonlyArray<Command>
}

export interface Definition<A extends Arguments, F extends Flags> {
  readonly name: string
  readonly aliases?: ReadonlyArray<string>
  readonly summary: string
  readonly description?: ReadonlyArray<string>
  readonly args?: A
  readonly flags?: F
  readonly words?: string
  readonly examples?: ReadonlyArray<string>
  readonly isHidden?: boolean
  /** Loads what does the work with its first use. */
  readonly run: (input: Input<A, F>, session: Session) => Outcome
}

export const command = <A extends Arguments = Record<never, never>, F extends Flags = Record<never, never>>({
  aliases = [],
  args,
  description = [],
  examples = [],
  flags,
  isHidden = false,
  run,
  words,
  ...rest
}: Definition<A, F>): Command => ({
  ...rest,
  aliases,
  args: args ?? {},
  description,
  examples,
  flags: flags ?? {},
  isHidden,
  words,
  // The parser has read the input by the same table
  run: (input, session) => run(input as Input<A, F>, session)
})

/** The name of a flag on the command line: `dryRun` is `--dry-run`. */
export const flagName = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

export const isGroup = (entry: Command | Group): entry is Group => "commands" in entry

/** Refuses a value that a flag or an argument must have. */
export const missing = (name: string): Failure =>
  new Failure({ message: `${name}: is missing, and there is no terminal to ask for it.`, code: exitCodes.usage })
