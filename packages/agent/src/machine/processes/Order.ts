/** What a caller of the API has the agent run. */
import { Effect, Schema } from "effect"
import { isAbsolute, resolve } from "node:path"
import type { Place } from "../../environment/Place.js"
import { Refused } from "../Route.js"

const Milliseconds = Schema.Number.pipe(Schema.int(), Schema.positive())

const Size = Schema.Number.pipe(Schema.int(), Schema.between(1, 0xffff))

const program = {
  program: Schema.optional(Schema.String),
  args: Schema.optional(Schema.Array(Schema.String)),
  command: Schema.optional(Schema.String),
  cwd: Schema.optional(Schema.String),
  env: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  timeout_ms: Schema.optional(Milliseconds)
}

/** A program whose end the caller waits for. */
export const Command = Schema.Struct({
  ...program,
  stdin: Schema.optional(Schema.String),
  encoding: Schema.optional(Schema.Literal("utf8", "base64")),
  max_output_bytes: Schema.optional(Schema.Number.pipe(Schema.int(), Schema.nonNegative()))
})
export type Command = typeof Command.Type

/** The columns and rows of a terminal. */
export const TerminalSize = Schema.Struct({ cols: Size, rows: Size })
export type TerminalSize = typeof TerminalSize.Type

/** A program that stays. */
export const Order = Schema.Struct({ ...program, pty: Schema.optional(TerminalSize), stdin: Schema.optional(Schema.Boolean) })
export type Order = typeof Order.Type

/** A program as the system starts it. */
export interface Program {
  readonly file: string
  /** Whether the file is the shell of a line. */
  readonly isShell: boolean
  readonly args: ReadonlyArray<string>
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
}

const hasNul = (texts: ReadonlyArray<string>): boolean => texts.some((text) => text.includes("\0"))

/**
 * The program of an order. It runs where and with what a login into the workspace would: a shell's line by a login shell, a program itself without a
 * shell.
 */
export const programOf = (
  { args = [], command, cwd = "", env = {}, program: file }: Command | Order,
  { directory, shell, variables }: Place
): Effect.Effect<Program, Refused> => {
  if ((file === undefined || file === "") === (command === undefined))
    return Refused.field("program", "either program or command must be given")
  if (hasNul([file ?? "", command ?? "", cwd, ...args, ...Object.entries(env).flat()])) {
    return new Refused({ status: 400, message: "Texts for a process must not contain the character U+0000." })
  }
  if (Object.keys(env).some((name) => name === "" || name.includes("=")))
    return Refused.field("env", "names must not be empty or contain =")
  const isShell = file === undefined || file === ""
  return Effect.succeed({
    file: isShell ? shell : file,
    isShell,
    args: command === undefined ? args : ["-l", "-c", command],
    directory: isAbsolute(cwd) ? cwd : resolve(directory, cwd),
    environment: { ...variables, ...env }
  })
}
