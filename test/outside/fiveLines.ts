/** The lines of the README that run code, as they stand there. */
import type { Client } from "@atelier/client"
import { readFile } from "node:fs/promises"

export interface Results {
  readonly stdout: string
  readonly exitCode: number
  readonly preview: string
}

/** Runs the lines with a client, and answers the values that they name. */
export const fiveLines = async (client: Client): Promise<Results> => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8")
  const [, lines = ""] = /```js\n([^]*?)```/.exec(readme) ?? []
  const run = new Function("client", `return (async () => {\n${lines}\nreturn { stdout, exitCode, preview }\n})()`)
  return run(client)
}
