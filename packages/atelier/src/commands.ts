/** What the program does for each of its words. Each part is loaded when it is needed. */
import { calledAs } from "./called.js"
import { overview } from "./overview.js"
import { printed } from "./printed.js"
import * as startFlags from "./startFlags.js"
import { isWord, type Word } from "./words.js"

/** Does what a word and those behind it ask for, and returns the exit code. */
type Command = (words: ReadonlyArray<string>) => Promise<number>

const commands: Readonly<Record<Word, Command>> = {
  serve: async (words) => {
    startFlags.begin()
    return (await import("./run.js")).run(words)
  },
  proxy: async (words) => (await import("./proxy.js")).run(words),
  provisionerd: async (words) => (await import("./provisionerd.js")).run(words),
  migrate: async (words) => (await import("./migrate.js")).run(words),
  backup: async (words) => (await import("./backup.js")).backup(words),
  restore: async (words) => (await import("./backup.js")).restore(words),
  doctor: async (words) => (await import("./doctor.js")).run(words),
  "reset-password": async (words) => (await import("./resetPassword.js")).run(words),
  reencrypt: async (words) => (await import("./reencrypt.js")).run(words)
}

/** Does what the words of a command line ask for, and returns the exit code. Without a word it serves. */
export const run: Command = (words) => {
  const [word = "", ...rest] = words
  if (rest.length === 0 && (word === "--help" || word === "-h")) return printed(overview(calledAs(process.env)))
  return isWord(word) ? commands[word](rest) : commands.serve(words)
}
