/** The deployments that the user has logged in to. Each one is a file, so that two programs never overwrite each other's. */
import { randomUUID } from "node:crypto"
import { readdir, readFile, rm } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { exitCodes, Failure, usage } from "../Failure.js"
import type { KeyStore } from "./KeyStore.js"
import { writeWhole } from "./wholeFile.js"

/** What lets the program get new tokens for a login through the browser or by a code (RFC 6749 §6). */
export interface Grant {
  readonly refreshToken: string
  readonly clientId: string
  /** Milliseconds since 1970, by the clock of this machine. */
  readonly expiresAt: number
}

/** A login without its secrets. */
export interface Login {
  readonly url: string
  readonly username: string
  /** The word in the names of headers. */
  readonly brand: string
}

export interface Context extends Login {
  readonly token: string
  readonly grant?: Grant | undefined
}

/** Where the secrets of a context are. */
export type Place = "file" | "key store"

export interface Contexts {
  readonly directory: string
  readonly names: () => Promise<ReadonlyArray<string>>
  /** A context without its secrets. */
  readonly describe: (name: string) => Promise<Login | undefined>
  /** @throws Failure if the system's key store does not give the secrets */
  readonly read: (name: string) => Promise<Context | undefined>
  /** Keeps a context, in the given place or where it is. A system without a key store keeps it in a file. Returns the place. */
  readonly write: (name: string, context: Context, place?: Place) => Promise<Place>
  readonly remove: (name: string) => Promise<void>
  /** The name of the context that commands use unless another is named. */
  readonly current: () => Promise<string | undefined>
  readonly use: (name: string) => Promise<void>
  /** Works while no other process does so for the same context. */
  readonly alone: <A>(name: string, signal: AbortSignal, work: () => Promise<A>) => Promise<A>
  /** Waits for the end of such work. A program that ends before would lose a login whose tokens are on their way. */
  readonly settled: () => Promise<void>
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

/** What a file has: the secrets, or their name in the system's key store. */
interface Kept extends Login {
  readonly secrets: string | Pick<Context, "token" | "grant">
}

const broken = (path: string): Failure => new Failure({ message: `${path}: is not a context.`, hint: "remove the file and log in again." })

const objectIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return Object(JSON.parse(text))
  } catch {
    return undefined
  }
}

const secretsIn = (value: Readonly<Record<string, unknown>>): Pick<Context, "token" | "grant"> | undefined => {
  const { grant, token } = value
  if (!isText(token)) return undefined
  const { clientId, expiresAt, refreshToken }: Readonly<Record<string, unknown>> = Object(grant)
  return isText(refreshToken) && isText(clientId)
    ? { token, grant: { refreshToken, clientId, expiresAt: Number(expiresAt) || 0 } }
    : { token }
}

const keptIn = (text: string, path: string): Kept => {
  const value = objectIn(text) ?? {}
  const { brand, keyStore, url, username } = value
  const secrets = isText(keyStore) ? keyStore : secretsIn(value)
  if (!isText(url) || secrets === undefined) throw broken(path)
  return { url, secrets, username: isText(username) ? username : "", brand: isText(brand) ? brand : "Service" }
}

const locked = (name: string): Failure =>
  new Failure({
    message: `The system's key store does not give the token of "${name}".`,
    hint: "unlock it, or log in again with --no-key-store to keep the token in a file.",
    code: exitCodes.notLoggedIn
  })

export const makeContexts = (directory: string, keyStore: KeyStore): Contexts => {
  const folder = join(directory, "contexts")
  const working = new Set<Promise<unknown>>()
  const fileOf = (name: string): string => join(folder, `${checkName(name)}.json`)
  const currentFile = join(directory, "current")
  const kept = async (name: string): Promise<Kept | undefined> => {
    const text = await textOf(fileOf(name))
    return text === undefined ? undefined : keptIn(text, fileOf(name))
  }
  /** The name of the secrets in the key store, also of a file that cannot be read otherwise. */
  const idOf = async (name: string): Promise<string | undefined> => {
    const { keyStore: id } = objectIn((await textOf(fileOf(name))) ?? "") ?? {}
    return isText(id) ? id : undefined
  }
  return {
    directory,
    names: async () => {
      const files = await readdir(folder).catch((error: unknown) => {
        if (isMissing(error)) return []
        throw error
      })
      return files.flatMap((file) => /^([^.].*)\.json$/.exec(file)?.[1] ?? []).toSorted()
    },
    describe: async (name) => {
      const found = await kept(name)
      return found && { url: found.url, username: found.username, brand: found.brand }
    },
    read: async (name) => {
      for (;;) {
        const found = await kept(name)
        if (found === undefined) return undefined
        const { secrets, ...login } = found
        if (typeof secrets !== "string") return { ...login, ...secrets }
        const given = secretsIn(objectIn((await keyStore.get(secrets)) ?? "") ?? {})
        if (given !== undefined) return { ...login, ...given }
        // Another process may have renewed the login between the two, which gives its secrets another name
        if ((await idOf(name)) === secrets) throw locked(name)
      }
    },
    write: async (name, { grant, token, ...login }, place) => {
      const before = await idOf(name)
      const wanted = place ?? (before === undefined ? "file" : "key store")
      // A name of its own: a file of before goes on to name what belongs to it
      const id = randomUUID()
      const isStored = wanted === "key store" && (await keyStore.put(id, `Atelier: ${name}`, JSON.stringify({ token, grant })))
      const value = isStored ? { ...login, keyStore: id } : { ...login, token, grant }
      await writeWhole(fileOf(name), `${JSON.stringify(value, null, 2)}\n`)
      if (before !== undefined) await keyStore.remove(before)
      return isStored ? "key store" : "file"
    },
    remove: async (name) => {
      const id = await idOf(name)
      await rm(fileOf(name), { force: true })
      if (id !== undefined) await keyStore.remove(id)
      if ((await textOf(currentFile))?.trim() === name) await rm(currentFile, { force: true })
    },
    current: async () => {
      const name = (await textOf(currentFile))?.trim()
      return name === undefined || name === "" ? undefined : name
    },
    use: (name) => writeWhole(currentFile, `${checkName(name)}\n`),
    alone: async (name, signal, work) => {
      const { alone } = await import("./fileLock.js")
      const done = alone(join(folder, `.${checkName(name)}.lock`), signal, work)
      working.add(done)
      try {
        return await done
      } finally {
        working.delete(done)
      }
    },
    settled: async () => void (await Promise.allSettled(working))
  }
}
