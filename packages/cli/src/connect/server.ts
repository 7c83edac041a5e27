/** `server`: starts the package `atelier`, which has the server, where it is installed. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { Failure } from "../Failure.js"
import type { Session } from "../Session.js"

/** The program of the package, seen from this one or from the folder that the user is in. */
const programOf = (): string | undefined => {
  for (const place of [import.meta.url, pathToFileURL(join(process.cwd(), "package.json")).href]) {
    try {
      return join(dirname(createRequire(place).resolve("atelier/package.json")), "dist", "program.cjs")
    } catch {
      continue
    }
  }
  return undefined
}

export const server = async ({ words }: { readonly words: ReadonlyArray<string> }, { signal }: Session): Promise<number> => {
  const program = programOf()
  if (program === undefined) {
    throw new Failure({
      message: "The package atelier, which has the server, is not installed here.",
      hint: '"npx atelier serve" runs it, and "npm install --global atelier" installs it.'
    })
  }
  const child = spawn(process.execPath, [program, ...words], { stdio: "inherit" })
  // A signal for the terminal's group reaches the server too; one for this program alone is passed on
  signal.addEventListener("abort", () => child.kill("SIGTERM"))
  const [code, name]: ReadonlyArray<unknown> = await once(child, "exit")
  return typeof code === "number" ? code : 128 + ((constants.signals as Readonly<Record<string, number>>)[String(name)] ?? 0)
}
