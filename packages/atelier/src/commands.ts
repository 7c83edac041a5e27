/** The words of the program. Each part is loaded when it is needed. */
import { calledAs } from "./called.js"
import * as startFlags from "./startFlags.js"

/** A word of the program; `run` returns the exit code. */
interface Command {
  /** What the help says of it. */
  readonly description: string
  readonly run: (words: ReadonlyArray<string>) => Promise<number>
}

export const commands = {
  serve: {
    description: "serves the service; what the program does without a word",
    run: async (words) => {
      startFlags.begin()
      return (await import("./run.js")).run(words)
    }
  },
  proxy: {
    description: "serves a workspace proxy of a server elsewhere",
    run: async (words) => (await import("./proxy.js")).run(words)
  },
  provisionerd: {
    description: "runs the builds of a server elsewhere on this machine",
    run: async (words) => (await import("./provisionerd.js")).run(words)
  }
} as const satisfies Readonly<Record<string, Command>>

const isCommand = (word: string): word is keyof typeof commands => Object.hasOwn(commands, word)

const usageError = 2

/** Does what the words of a command line ask for, and returns the exit code. */
export const run = async (words: ReadonlyArray<string>): Promise<number> => {
  const [word = "", ...rest] = words
  if (word === "" || word.startsWith("-")) return commands.serve.run(words)
  if (isCommand(word)) return commands[word].run(rest)
  const called = calledAs(process.env)
  process.stderr.write(`There is no command ${JSON.stringify(word)} (${called} --help lists them)\n`)
  return usageError
}
