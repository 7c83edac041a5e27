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

/** What the tests look at of an agent. */
export interface Agent {
  readonly id: string
  readonly status: string
  readonly lifecycle_state: string
  readonly logs_length: number
  readonly apps: ReadonlyArray<{ readonly slug: string; readonly health: string }>
}

/** What the tests look at of a workspace. */
export interface Workspace {
  readonly id: string
  readonly health: { readonly healthy: boolean; readonly failing_agents: ReadonlyArray<string> }
  readonly latest_build: {
    readonly status: string
    readonly build_number: number
    readonly job: { readonly status: string; readonly error?: string; readonly completed_at?: string | null }
    readonly resources: ReadonlyArray<{ readonly agents?: ReadonlyArray<Agent> }>
  }
}

export interface Answer<A> {
  readonly status: number
  readonly body: A
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

/** Calls the API as one user. */
export class Client {
  constructor(
    readonly url: string,
    readonly token: string
  ) {}

  /** The type says what the caller expects the answer's body to be. */
  async call<A = undefined>(method: string, path: string, body?: unknown): Promise<Answer<A>> {
    const response = await fetch(`${this.url}/api/v2${path}`, {
      method,
      headers: { "Service-Session-Token": this.token, ...(body instanceof Uint8Array ? { "Content-Type": "application/x-tar" } : {}) },
      ...(body === undefined ? {} : { body: body instanceof Uint8Array ? new Blob([new Uint8Array(body)]) : JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
  }

  /** As `call`, for an answer that has to have this status. */
  async expect<A = undefined>(status: number, method: string, path: string, body?: unknown): Promise<A> {
    const answer = await this.call<A>(method, path, body)
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** The first user, made on an empty server, logged in. */
  static async first(url: string): Promise<Client> {
    const anonymous = new Client(url, "")
    const password = "correct horse battery"
    await anonymous.expect(201, "POST", "/users/first", { email: "ada@example.com", username: "ada", password })
    const { session_token } = await anonymous.expect<{ readonly session_token: string }>(201, "POST", "/users/login", {
      email: "ada@example.com",
      password
    })
    return new Client(url, session_token)
  }

  /** Reads a workspace's server-sent events until one satisfies the condition; the stream is opened again when the server went away. */
  async untilWorkspace(id: string, condition: (workspace: Workspace) => boolean, patience = 240_000): Promise<Workspace> {
    const deadline = AbortSignal.timeout(patience)
    let last: Workspace | undefined
    while (!deadline.aborted) {
      try {
        const response = await fetch(`${this.url}/api/v2/workspaces/${id}/watch`, {
          headers: { "Service-Session-Token": this.token },
          signal: deadline
        })
        if (response.status === 410) return await this.expect<Workspace>(200, "GET", `/workspaces/${id}?include_deleted=true`)
        if (!response.ok || response.body === null) throw new Error(`watch answered ${response.status}`)
        let pending = ""
        for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
          pending += chunk
          const events = pending.split("\n\n")
          pending = events.pop() ?? ""
          for (const event of events) {
            if (!event.startsWith("event: data")) continue
            const workspace: Workspace = JSON.parse(event.slice(event.indexOf("data: {") + 6))
            last = workspace
            if (condition(workspace)) return workspace
          }
        }
      } catch (error) {
        if (deadline.aborted) break
        if (!(error instanceof TypeError)) throw error
        // The connection was refused or cut: the server is starting
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    throw new Error(`the workspace did not get there; it is ${JSON.stringify(last?.latest_build, null, 1)}`)
  }
}
