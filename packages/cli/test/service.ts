/** A service with workspaces on this machine, and the command line as a process that uses it. */
import { type Client, createClient } from "@atelier/client"
import * as users from "@atelier/client/users"
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Postgres } from "@atelier/storage-postgres"
import { starterTemplates } from "@atelier/templates"
import { spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { WebSocket } from "ws"
import { lastingDatabaseUrl, sqlite } from "../../../test/store/databases.js"
import { freePort } from "../../atelier/test/Server.js"
import { runIn, type Surroundings } from "../src/run.js"

export const program = fileURLToPath(new URL("../dist/program.js", import.meta.url))
const agent = fileURLToPath(new URL("../../agent/dist/program.cjs", import.meta.url))

export const password = "correct horse battery"

/** How a command ended, and what it printed. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface Service {
  readonly url: string
  /** The folder for the files of a test. */
  readonly directory: string
  /** The variables of the command line's environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Writes a file, and makes the folders above it. */
  readonly write: (file: string, text: string) => Promise<void>
  /** A client of the first user, ada. */
  readonly ada: Client
  readonly atelier: Atelier.Atelier
  /** Runs the command line with the login of ada, without a terminal, in this process: to start another takes twenty times as long. */
  readonly run: (args: ReadonlyArray<string>, options?: Omit<RunOptions, "cwd">) => Promise<Ended>
  /** Runs the command line as a process. */
  readonly runProgram: (args: ReadonlyArray<string>, options?: RunOptions) => Promise<Ended>
  /** Starts the command line, for tests that speak with it while it runs. */
  readonly start: (args: ReadonlyArray<string>, options?: RunOptions) => ReturnType<typeof spawn>
  /** The words of all command lines that were run. */
  readonly given: ReadonlyArray<ReadonlyArray<string>>
  readonly close: () => Promise<void>
}

const text = async (stream: NodeJS.ReadableStream | null): Promise<string> => {
  const chunks: Array<Buffer> = []
  if (stream !== null) for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString("utf8")
}

const environmentIn = (directory: string): Readonly<Record<string, string>> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: directory,
  XDG_CONFIG_HOME: join(directory, "config"),
  BROWSER: "true"
})

/** Starts the command line as a process, with its configuration in a folder. */
export const commandLine =
  (directory: string) =>
  (args: ReadonlyArray<string>, { cwd = directory, env = {} }: RunOptions = {}) =>
    spawn(process.execPath, [program, ...args], { cwd, env: { ...environmentIn(directory), ...env } })

/** Runs the command line in this process, with its configuration in a folder. */
const runHere = async (directory: string, args: ReadonlyArray<string>, { env = {}, stdin = "" }: RunOptions = {}): Promise<Ended> => {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const read = Promise.all([text(streams.stdout), text(streams.stderr)])
  streams.stdin.end(stdin)
  // Streams that are no terminal
  const surroundings = { env: { ...environmentIn(directory), ...env }, ...streams } as unknown as Surroundings
  const code = await runIn(surroundings, args, "atelier")
  streams.stdout.end()
  streams.stderr.end()
  const [stdout, stderr] = await read
  return { code, stdout, stderr }
}

/** Waits for the end of a process. */
export const ended = async (child: ReturnType<typeof spawn>, stdin = ""): Promise<Ended> => {
  const exit = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)))
  child.stdin?.on("error", () => {})
  child.stdin?.end(stdin)
  const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}

/** Runs every command as a process, on both databases: that takes six times as long. The command line speaks HTTP alone, so the suite does without. */
export const isThorough = process.env["COMMAND_LINE"] === "processes"

export const startService = async (database: "SQLite" | "PostgreSQL"): Promise<Service> => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-cli-"))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const atelier = await Atelier.make({
    accessUrl: url,
    storage: database === "SQLite" ? sqlite : Postgres.layer({ url: await lastingDatabaseUrl(), maxConnections: 5 }),
    provisioner: LocalProvisioner.layer({ directory: join(directory, "workspaces"), agent: { command: [process.execPath, agent] } }),
    starterTemplates: starterTemplates(),
    options: { wildcardAccessUrl: `*.localhost:${port}`, allowWorkspaceRenames: true },
    logLevel: "none"
  })
  const server = createServer(atelier.handler).on("upgrade", atelier.upgrade)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  await users.createFirstUser(createClient({ baseUrl: url }), { body: { email: "ada@example.com", username: "ada", password } })
  const given: Array<ReadonlyArray<string>> = []
  const begin = commandLine(directory)
  const start: Service["start"] = (args, options) => {
    given.push(args)
    return begin(args, options)
  }
  const runProgram: Service["runProgram"] = (args, options = {}) => ended(start(args, options), options.stdin)
  const ada = { ...atelier.client({ user: "ada" }), WebSocket: WebSocket as never }
  return {
    url,
    directory,
    environment: environmentIn(directory),
    write: async (file, text) => {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    },
    ada,
    atelier,
    run: (args, options) => {
      if (isThorough) return runProgram(args, options)
      given.push(args)
      return runHere(directory, args, options)
    },
    given,
    runProgram,
    start,
    close: async () => {
      // Their agents outlive the service
      for (const sandbox of await ada.sandboxes.list()) await sandbox.delete({ wait: true })
      server.close()
      server.closeAllConnections()
      await atelier.dispose()
      await rm(directory, { recursive: true, force: true })
    }
  }
}
