/** What commands print: results on the standard output, everything else on the standard error. */
import type { WriteStream } from "node:tty"
import { sizeOf } from "./size.js"
import { type Column, table } from "./table.js"
import { logLine, plain } from "./text.js"

export type Format = "table" | "json" | "jsonl"

export interface Output {
  readonly format: Format
  /** A list: a table, a JSON array, or a line of JSON for each row. `none` is said if there are no rows. */
  readonly list: <A>(rows: ReadonlyArray<A>, columns: ReadonlyArray<Column<A>>, none?: string) => void
  /** One thing: its fields line by line, or as JSON. */
  readonly one: (value: unknown, fields: ReadonlyArray<readonly [string, string]>) => void
  /** One of many that come one after the other: a line of text, or of JSON. */
  readonly row: (value: unknown, text: string) => void
  /** A text as it is, whatever the format. */
  readonly raw: (text: string) => void
  /** Tells what has happened; `--quiet` leaves it out. */
  readonly say: (text: string) => void
  readonly warn: (text: string) => void
  readonly debug: (text: string) => void
  /** A line of a log beside the result. */
  readonly log: (text: string) => void
  /** Shows what the program waits for until the promise ends: on a terminal with a sign of life, and as the text is then. */
  readonly waiting: <A>(text: string | (() => string), promise: Promise<A>) => Promise<A>
  /** Whether results may have colours. */
  readonly hasColours: boolean
}

export interface OutputOptions {
  readonly format: Format
  readonly isQuiet: boolean
  readonly isDebug: boolean
  readonly env: NodeJS.ProcessEnv
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
/** Milliseconds until a wait is shown, and between two pictures. */
const patience = 1_000
const pause = 100

/** A table is made for the usual width where there is no terminal. */
const widthOf = (stream: Partial<WriteStream>): number => Math.max(20, sizeOf(stream.isTTY === true ? stream : {}).cols)

/** Whether sequences for a terminal may be written. `NO_COLOR` turns colours off (no-color.org), and lines that move with them. */
const hasColours = (stream: Partial<WriteStream>, env: NodeJS.ProcessEnv): boolean =>
  stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"

export const makeOutput = ({ env, format, isDebug, isQuiet, stderr, stdout }: OutputOptions): Output => {
  const print = (text: string): void => void stdout.write(text)
  const tell = (text: string): void => {
    clear()
    stderr.write(`${text}\n`)
  }
  let shown = false
  const clear = (): void => {
    if (shown) stderr.write("\r\u001b[K")
    shown = false
  }
  return {
    format,
    hasColours: hasColours(stdout, env),
    list: (rows, columns, none) => {
      if (format === "json") print(`${JSON.stringify(rows, null, 2)}\n`)
      else if (format === "jsonl") print(rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
      else if (rows.length === 0 && none !== undefined) {
        if (!isQuiet) tell(none)
      } else print(`${table(rows, columns, widthOf(stdout)).join("\n")}\n`)
    },
    one: (value, fields) => {
      if (format === "json") print(`${JSON.stringify(value, null, 2)}\n`)
      else if (format === "jsonl") print(`${JSON.stringify(value)}\n`)
      else {
        const left = Math.max(0, ...fields.map(([name]) => name.length))
        print(fields.map(([name, text]) => `${name.padEnd(left)}  ${plain(text)}\n`).join(""))
      }
    },
    row: (value, text) => print(`${format === "table" ? text : JSON.stringify(value)}\n`),
    raw: print,
    say: (text) => {
      if (!isQuiet) tell(text)
    },
    warn: (text) => tell(`Warning: ${text}`),
    debug: (text) => {
      if (isDebug) tell(text)
    },
    log: (text) => {
      if (!isQuiet) tell(logLine(text, hasColours(stderr, env)))
    },
    waiting: async (text, promise) => {
      if (isQuiet) return promise
      const isLive = hasColours(stderr, env)
      let frame = 0
      const show = (): void => {
        const now = typeof text === "string" ? text : text()
        if (!isLive) return tell(`${now} …`)
        stderr.write(`\r\u001b[K${frames[frame++ % frames.length]} ${now}`.slice(0, widthOf(stderr) + 3))
        shown = true
      }
      let again: NodeJS.Timeout | undefined
      const first = setTimeout(() => {
        show()
        if (isLive) again = setInterval(show, pause)
      }, patience)
      try {
        return await promise
      } finally {
        clearTimeout(first)
        clearInterval(again)
        clear()
      }
    }
  }
}
