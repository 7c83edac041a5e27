/** Debian's OpenSSH as a client of workspaces. */
import { execFile, execFileSync, spawn, type SpawnOptionsWithoutStdio } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { onTestFinished } from "vitest"
import type { AgentServer, RunningAgent } from "../agents/AgentServer.js"

const run = promisify(execFile)

const proxy = fileURLToPath(new URL("sshProxy.mjs", import.meta.url))

/** Whether a program is installed. */
export const has = (program: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

/** A port that no program listens on. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** What a connection to a port, or to a socket of the file system, is sent until its end. */
export const received = (to: number | string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    const socket = typeof to === "number" ? connect(to, "127.0.0.1") : connect(to)
    socket
      .on("data", (bytes) => (text += bytes.toString()))
      .on("end", () => resolve(text))
      .on("error", reject)
  })

/** Connects through a SOCKS5 proxy to a port of its machine. RFC 1928. */
export const throughSocks = (proxy: number, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const answers: Array<Buffer> = []
    const socket = connect(proxy, "127.0.0.1", () => socket.write(Buffer.of(5, 1, 0)))
    socket.once("data", () => socket.write(Buffer.of(5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255)))
    socket.on("data", (bytes) => answers.push(bytes))
    socket.on("end", () => resolve(Buffer.concat(answers).subarray(12).toString()))
    socket.on("error", reject)
  })

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A new directory for the time of the test. */
export const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "atelier-ssh-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A user with OpenSSH, and the workspaces of a server. */
export const openSsh = (server: AgentServer, { id }: Pick<RunningAgent, "id">, token = server.owner().token, query = "") => {
  const folder = aFolder()
  const url = `${server.url.replace("http", "ws")}/api/v2/workspaceagents/${id}/ssh${query}`
  const options = [
    `ProxyCommand=${process.execPath} ${proxy} ${url}`,
    `UserKnownHostsFile=${join(folder, "known_hosts")}`,
    "StrictHostKeyChecking=accept-new",
    "LogLevel=ERROR",
    "ControlPath=none",
    "PasswordAuthentication=no"
  ].flatMap((option) => ["-o", option])
  const base = ["-F", "none", ...options]
  const env: NodeJS.ProcessEnv = { ...process.env, TOKEN: token }
  const command = ["ssh", ...base].map((part) => (/^[\w./=-]+$/.test(part) ? part : `'${part}'`)).join(" ")

  const start = (program: string, args: ReadonlyArray<string>, more: SpawnOptionsWithoutStdio = {}) => {
    const child = spawn(program, args, { env, ...more })
    onTestFinished(() => void child.kill("SIGKILL"))
    let stdout = ""
    let stderr = ""
    child.stdin.on("error", () => undefined)
    child.stdout.on("data", (bytes: Buffer) => (stdout += bytes.toString("latin1")))
    child.stderr.on("data", (bytes: Buffer) => (stderr += bytes.toString("latin1")))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
    })
    /** Waits for output that matches. */
    const until = (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(stdout)) resolve(stdout)
        }
        child.stdout.on("data", look)
        child.once("close", () => reject(new Error(`ended with ${JSON.stringify(stdout)} and ${JSON.stringify(stderr)}`)))
        look()
      })
    return { child, ended, errors: () => stderr, until }
  }

  return {
    base,
    command,
    env,
    folder,
    start,
    /** Runs `ssh` to its end. */
    ssh: (args: ReadonlyArray<string>, input = ""): Promise<Ended> => {
      const { child, ended } = start("ssh", [...base, ...args])
      child.stdin.end(input)
      return ended
    },
    /** Runs another program of OpenSSH, or one that is led to it; fails unless it succeeds. */
    run: (program: string, args: ReadonlyArray<string>) => run(program, args, { env, cwd: folder })
  }
}
