/** Reads a secret that its user types or pipes in. */
import { text } from "node:stream/consumers"

const backspace = new Set(["\b", "\u007F"])
const ends = new Set(["\r", "\n", "\u0004"])
const interrupt = "\u0003"

/** A line that is typed at a terminal, which does not show it. */
const typed = (question: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { stderr, stdin } = process
    let line = ""
    const end = (settle: () => void): void => {
      stdin.off("data", take).setRawMode(false).pause()
      stderr.write("\n")
      settle()
    }
    const take = (chunk: Buffer): void => {
      for (const character of chunk.toString()) {
        if (ends.has(character)) return end(() => resolve(line))
        if (character === interrupt) return end(() => reject(new Error("it was interrupted")))
        line = backspace.has(character) ? line.slice(0, -1) : line + character
      }
    }
    stderr.write(question)
    stdin.setRawMode(true).on("data", take).resume()
  })

/** The line at the terminal, or what is piped in, without the end of its line. */
export const secretInput = async (question: string): Promise<string> =>
  process.stdin.isTTY ? typed(question) : (await text(process.stdin)).replace(/\r?\n$/, "")
