/** The standalone server as its users have it: a process of its own, reached over HTTP. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** The program in this repository. */
const built = fileURLToPath(new URL("../dist/program.js", import.meta.url))

/** A port of the loopback address that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  if (address === null || typeof address === "string") throw new Error("no port")
  return address.port
}

export interface ServerOptions {
  /** 0 takes a free one. */
  readonly port: number
  /** `sqlite:FILE` or `postgres://…`. */
  readonly database: string
  readonly workspacesDirectory: string
  readonly args?: ReadonlyArray<string>
  /** The Node binary; the one that runs the tests unless given. */
  readonly node?: string
  /** The server's file; the one in this repository unless given. */
  readonly program?: string
}

/** A running server. */
export class Server {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    private readonly output: Array<string>
  ) {}

  /** Starts a server and waits until it says that it listens. */
  static async start(options: ServerOptions): Promise<Server> {
    const child = spawn(
      options.node ?? process.execPath,
      [
        options.program ?? built,
        "--http-address",
        `127.0.0.1:${options.port}`,
        "--database",
        options.database,
        "--workspaces-directory",
        options.workspacesDirectory,
        "--drain-grace",
        "0",
        ...(options.args ?? [])
      ],
      { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env["PATH"] ?? "" } }
    )
    const output: Array<string> = []
    child.stderr.on("data", (chunk: Buffer) => output.push(chunk.toString()))
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).on("line", (line) => {
        output.push(`${line}\n`)
        const listening = /^Atelier listens on (http:\/\/[\d.:]+)/.exec(line)?.[1]
        if (listening !== undefined) resolve(listening)
      })
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${output.join("")}`)))
    })
    return new Server(child, url, output)
  }

  /** What it wrote so far, for a failing test's message. */
  get log(): string {
    return this.output.join("")
  }

  /** Ends it like a crash: no handler of its own runs. */
  async kill(): Promise<void> {
    await this.end("SIGKILL")
  }

  /** Asks it to end and waits. Answers its exit code. */
  async stop(): Promise<number | null> {
    return this.end("SIGTERM")
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode
    const exited = once(this.child, "exit")
    this.child.kill(signal)
    await exited
    return this.child.exitCode
  }
}
