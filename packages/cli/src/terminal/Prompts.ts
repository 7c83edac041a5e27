/** Questions on a terminal. */
import { createInterface } from "node:readline"
import { Failure, exitCodes, Interrupted } from "../Failure.js"
import { plain } from "./text.js"

export interface Prompts {
  /** Whether there is a terminal to ask on. */
  readonly canAsk: boolean
  readonly line: (question: string, standard?: string) => Promise<string>
  /** Asks for a text that is not shown. */
  readonly secret: (question: string) => Promise<string>
  readonly confirm: (question: string) => Promise<boolean>
  /** Asks for one of several values; answers its value. */
  readonly choose: (
    question: string,
    options: ReadonlyArray<{ readonly name: string; readonly value: string }>,
    standard?: string
  ) => Promise<string>
}

const noTerminal = (question: string): Failure =>
  new Failure({ message: `There is no terminal to ask on: ${question}`, hint: "give the value as an option.", code: exitCodes.usage })

const interruption = 3
const endOfInput = 4
const backspaces = [8, 127]
const eraseLine = 21
const suspend = 26

export const makePrompts = (stdin: NodeJS.ReadStream, stderr: NodeJS.WriteStream, signal: AbortSignal): Prompts => {
  const canAsk = stdin.isTTY === true && stderr.isTTY === true

  const line = (question: string, standard = ""): Promise<string> => {
    if (!canAsk) return Promise.reject(noTerminal(question))
    return new Promise((resolve, reject) => {
      const reader = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 0 })
      const suffix = standard === "" ? "" : ` [${plain(standard)}]`
      let answer: string | undefined
      reader.once("SIGINT", () => reader.close())
      // Node pauses it when the shell lets the program go on
      reader.on("SIGCONT", () => reader.resume())
      reader.once("close", () => {
        if (answer !== undefined) return resolve(answer.trim() === "" ? standard : answer.trim())
        stderr.write("\n")
        return reject(new Interrupted())
      })
      reader.question(`${plain(question)}${suffix}: `, (given) => {
        answer = given
        reader.close()
      })
      signal.addEventListener("abort", () => reader.close(), { once: true })
    })
  }

  const secret = (question: string): Promise<string> => {
    if (!canAsk) return Promise.reject(noTerminal(question))
    return new Promise((resolve, reject) => {
      let answer: Array<string> = []
      const end = (error?: Error): void => {
        stdin.off("data", read)
        process.off("SIGCONT", show)
        signal.removeEventListener("abort", abort)
        stdin.setRawMode(false)
        stdin.pause()
        stderr.write("\n")
        if (error === undefined) resolve(answer.join(""))
        else reject(error)
      }
      const abort = (): void => end(new Interrupted())
      const show = (): void => {
        stdin.setRawMode(true)
        stderr.write(`${plain(question)}: `)
      }
      // The shell gets its terminal back as it was, until it lets the program go on
      const stop = (): void => {
        stdin.setRawMode(false)
        stderr.write("\n")
        process.kill(process.pid, "SIGTSTP")
      }
      const read = (bytes: Buffer): void => {
        for (const character of bytes.toString("utf8")) {
          const code = character.codePointAt(0) ?? 0
          if (character === "\r" || character === "\n") return end()
          if (code === interruption || (code === endOfInput && answer.length === 0)) return abort()
          if (backspaces.includes(code)) answer = answer.slice(0, -1)
          else if (code === eraseLine) answer = []
          else if (code === suspend) stop()
          else if (code >= 32) answer.push(character)
        }
      }
      show()
      process.on("SIGCONT", show)
      stdin.on("data", read)
      stdin.resume()
      signal.addEventListener("abort", abort, { once: true })
    })
  }

  const choose: Prompts["choose"] = async (question, options, standard) => {
    if (!canAsk) throw noTerminal(question)
    const at = options.findIndex(({ value }) => value === standard)
    stderr.write(`${plain(question)}\n${options.map(({ name }, index) => `  ${index + 1}. ${plain(name)}\n`).join("")}`)
    for (;;) {
      const given = await line("Number or name", at < 0 ? "" : String(at + 1))
      const found = options[Number(given) - 1] ?? options.find(({ name, value }) => name === given || value === given)
      if (found !== undefined) return found.value
      stderr.write(`"${plain(given)}" is none of them. Give a number or a name of the list.\n`)
    }
  }

  return {
    canAsk,
    line,
    secret,
    choose,
    confirm: async (question) => /^y(?:es)?$/i.test(await line(`${question} (y/N)`))
  }
}

/** Reads the standard input to its end, up to 1 MiB, without the last line break. */
export const readAll = async (stdin: NodeJS.ReadStream): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Uint8Array)
    size += bytes.length
    if (size > 1024 * 1024) throw new Failure({ message: "The standard input has more than 1 MiB.", code: exitCodes.usage })
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "")
}
