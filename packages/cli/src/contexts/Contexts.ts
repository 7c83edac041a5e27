/** The deployments that the user has logged in to. Each one is a file, so that two programs never overwrite each other's. */
import { readdir, readFile, rm } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { Failure, usage } from "../Failure.js"
import { writeWhole } from "./wholeFile.js"

export interface Context {
  readonly url: string
  readonly username: string
  /** The word in the names of headers. */
  readonly brand: string
  readonly token: string
}

export interface Contexts {
  readonly directory: string
  readonly names: () => Promise<ReadonlyArray<string>>
  readonly read: (name: string) => Promise<Context | undefined>
  readonly write: (name: string, context: Context) => Promise<void>
  readonly remove: (name: string) => Promise<void>
  /** The name of the context that commands use unless another is named. */
  readonly current: () => Promise<string | undefined>
  readonly use: (name: string) => Promise<void>
}

/** Names are names of files too. */
export const checkName = (name: string): string => {
  if (!/^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/.test(name)) {
    throw usage(`context: "${name}" must have 1 to 64 letters, digits, dots, hyphens and underscores.`)
  }
  return name
}

/** Where the program keeps its files: `$XDG_CONFIG_HOME/atelier`, or `%APPDATA%\atelier` on Windows. */
export const configDirectory = (env: NodeJS.ProcessEnv): string => {
  const own = env["ATELIER_CONFIG_DIRECTORY"]
  if (own !== undefined && own !== "") return own
  const base = process.platform === "win32" ? env["APPDATA"] : env["XDG_CONFIG_HOME"]
  return join(base === undefined || base === "" ? join(homedir(), ".config") : base, "atelier")
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT"

const textOf = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const contextIn = (text: string, path: string): Context => {
  const broken = new Failure({ message: `${path}: is not a context.`, hint: "remove the file and log in again." })
  let value: Readonly<Record<string, unknown>>
  try {
    value = Object(JSON.parse(text))
  } catch {
    throw broken
  }
  const { brand, token, url, username } = value
  if (!isText(url) || !isText(token)) throw broken
  return {
    url,
    token,
    username: isText(username) ? username : "",
    brand: isText(brand) ? brand : "Service"
  }
}

export const makeContexts = (directory: string): Contexts => {
  const folder = join(directory, "contexts")
  const fileOf = (name: string): string => join(folder, `${checkName(name)}.json`)
  const currentFile = join(directory, "current")
  return {
    directory,
    names: async () => {
      const files = await readdir(folder).catch((error: unknown) => {
        if (isMissing(error)) return []
        throw error
      })
      return files.flatMap((file) => /^([^.].*)\.json$/.exec(file)?.[1] ?? []).toSorted()
    },
    read: async (name) => {
      const text = await textOf(fileOf(name))
      return text === undefined ? undefined : contextIn(text, fileOf(name))
    },
    write: (name, context) => writeWhole(fileOf(name), `${JSON.stringify(context, null, 2)}\n`),
    remove: async (name) => {
      await rm(fileOf(name), { force: true })
      if ((await textOf(currentFile))?.trim() === name) await rm(currentFile, { force: true })
    },
    current: async () => {
      const name = (await textOf(currentFile))?.trim()
      return name === undefined || name === "" ? undefined : name
    },
    use: (name) => writeWhole(currentFile, `${checkName(name)}\n`)
  }
}
