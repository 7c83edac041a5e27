/** The standalone server as its users have it: a process of its own, reached over HTTP. */
import { type ChildProcess, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { within } from "./within.js"

/** The program in this repository. */
const built = fileURLToPath(new URL("../dist/program.cjs", import.meta.url))

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1")
  const isListening = await once(server, "listening").then(
    () => true,
    () => false
  )
  if (isListening) await once(server.close(), "close")
  return isListening
}

/**
 * The first of some ports in a row that were free a moment ago. They lie below those that Linux gives to connections of clients, which keep them for
 * a minute after their end.
 */
export const freePorts = async (count: number): Promise<number> => {
  const first = randomInt(20_000, 32_000)
  for (let port = first; port < first + count; port++) if (!(await isFree(port))) return freePorts(count)
  return first
}

/** A port of the loopback address that was free a moment ago. */
export const freePort = (): Promise<number> => freePorts(1)

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
  static start(options: ServerOptions): Promise<Server> {
    const { args = [], database, node = process.execPath, port, program = built, workspacesDirectory } = options
    const place = ["--http-address", `127.0.0.1:${port}`, "--database", database, "--workspaces-directory", workspacesDirectory]
    return Server.spawn([node, program, ...place, "--drain-grace", "0", ...args], /^Atelier listens on (http:\/\/[\d.:]+)/)
  }

  /** Starts a workspace proxy of a server and waits until it says that it listens. */
  static startProxy({
    port,
    primary,
    token,
    accessUrl = `http://127.0.0.1:${port}`
  }: {
    readonly port: number
    readonly primary: string
    readonly token: string
    /** Where its visitors reach it; where it listens unless given. */
    readonly accessUrl?: string
  }): Promise<Server> {
    const place = ["--http-address", `127.0.0.1:${port}`, "--access-url", accessUrl, "--primary-access-url", primary]
    return Server.spawn([process.execPath, built, "proxy", ...place], /^The workspace proxy listens on .*, reached at (\S+)/, {
      ATELIER_TOKEN: token
    })
  }

  /** Starts a server with these arguments alone, and waits for a line that matches; the first group of the match is the address. */
  static launch(args: ReadonlyArray<string>, greeting: RegExp): Promise<Server> {
    return Server.spawn([process.execPath, built, ...args], greeting)
  }

  private static async spawn(
    [program = "", ...args]: ReadonlyArray<string>,
    greeting: RegExp,
    environment: Readonly<Record<string, string>> = {}
  ): Promise<Server> {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env["PATH"] ?? "", ...environment } })
    const output: Array<string> = []
    child.stderr.on("data", (chunk: Buffer) => output.push(chunk.toString()))
    const greeted = new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).on("line", (line) => {
        output.push(`${line}\n`)
        const listening = greeting.exec(line)?.[1]
        if (listening !== undefined) resolve(listening)
      })
      child.once("exit", (code) => reject(new Error(`the program ended with ${code}:\n${output.join("")}`)))
    })
    try {
      return new Server(child, await within("the program says that it listens", greeted, { more: () => output.join("") }), output)
    } catch (error) {
      child.kill("SIGKILL")
      throw error
    }
  }

  get pid(): number | undefined {
    return this.child.pid
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
    try {
      await within(`the program ends by ${signal}`, exited, { more: () => this.log })
    } finally {
      this.child.kill("SIGKILL")
    }
    return this.child.exitCode
  }
}
