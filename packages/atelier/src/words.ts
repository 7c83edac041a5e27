/** The words of the program that are the server's, with what the help says of each. Other words are those of the command line `@atelier/cli`. */
export const words = {
  serve: "serves the service; what the program does without a word",
  proxy: "serves a workspace proxy of a server elsewhere",
  provisionerd: "runs the builds of a server elsewhere on this machine",
  migrate: "brings the database up to date, and ends",
  backup: "copies the database while servers use it",
  restore: "makes a database of a copy",
  doctor: "checks what the server needs, and names what to do",
  "reset-password": "sets the password of a user",
  reencrypt: "encrypts what is stored with a new key"
} as const satisfies Readonly<Record<string, string>>

export type Word = keyof typeof words

export const isWord = (word: string): word is Word => Object.hasOwn(words, word)

/** The options of every command of the command line, in both forms. Before the command's word, they are a call of the command line too. */
const optionsOfCommands: ReadonlySet<string> = new Set(["-o", "--output", "-q", "--quiet", "--debug", "--context", "--url"])

/** Whether the server's program is called, not the command line. */
export const isOwn = ([word = ""]: ReadonlyArray<string>): boolean => {
  if (!word.startsWith("-")) return word === "" || isWord(word)
  const name = word.startsWith("--") ? word.replace(/=.*/s, "") : word.slice(0, 2)
  return !optionsOfCommands.has(name)
}
