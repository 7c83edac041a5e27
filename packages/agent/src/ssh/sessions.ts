/** Sessions of a client: shells, commands and SFTP. */
import { constants } from "node:os"
import type { ServerChannel, Session } from "ssh2"
import { listenForAgent } from "./agentForward.js"
import type { Client } from "./Client.js"
import { Sent } from "./environment.js"
import type { Client as ClientKind } from "./Host.js"
import { Output } from "./Output.js"
import { type Program, type Screen, start } from "./programs.js"
import { serveSftp } from "./sftp/Sftp.js"

const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name)

const kinds: ReadonlySet<string> = new Set<ClientKind>(["ssh", "vscode", "jetbrains"])

const isKind = (text: string): text is ClientKind => kinds.has(text)

/** Characters of a terminal's type. */
const termPattern = /^[\w.+-]{1,64}$/

const serveSession = (
  client: Client,
  session: Session,
  agentPath: () => Promise<string> | undefined,
  askAgent: () => void,
  leave: () => void
) => {
  const { host, options } = client
  const sent = new Sent()
  let kind = options.client
  let screen: Screen | undefined
  let program: Program | undefined
  let isOver = false

  const over = (): void => {
    if (isOver) return
    isOver = true
    forget()
    leave()
    program?.end()
  }
  const forget = client.onEnd(over)
  session.once("close", over)

  session.on("env", (accept, reject, { key, val }) => {
    const isMarker = key === host.clientVariable && isKind(val)
    if (isMarker) kind = val
    if (isMarker || sent.take(key, val)) accept?.()
    else reject?.()
  })
  session.on("pty", (accept, _, { cols, rows, term }) => {
    screen = { cols, rows, term: termPattern.test(term ?? "") ? (term ?? "") : "xterm-256color" }
    accept?.()
  })
  session.on("auth-agent", (accept) => {
    askAgent()
    accept?.()
  })
  session.on("window-change", (accept, _, { cols, rows }) => {
    if (screen !== undefined) screen = { ...screen, cols, rows }
    if (screen !== undefined) program?.resize(screen)
    accept?.()
  })
  session.on("signal", (accept, reject, { name }) => {
    const full = `SIG${name}`
    if (!isSignal(full)) return reject?.()
    program?.signal(full)
    accept?.()
  })

  /** Counts a session until its end, and tells when its channel has closed. */
  const begin = (channel: ServerChannel): (() => void) => {
    const end = host.begin(kind)
    channel.once("close", () => {
      end()
      over()
    })
    channel.on("error", () => undefined)
    return end
  }

  const run = async (channel: ServerChannel, command: string | undefined): Promise<void> => {
    const ended = begin(channel)
    const output = new Output(channel, client.socket)
    // Its user is told by the program that misses it
    const agent = await agentPath()?.catch(() => undefined)
    const variables = agent === undefined ? sent.variables : new Map([...sent.variables, ["SSH_AUTH_SOCK", agent]])
    const before = screen
    const started = await start({ host, output, over: ended }, { command, screen, variables })
    program = started
    if (isOver) started?.end()
    // The client may have changed it since
    if (screen !== undefined && screen !== before) started?.resize(screen)
  }

  const failed =
    (channel: ServerChannel) =>
    (cause: unknown): void => {
      channel.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\r\n`)
      channel.exit(126)
      channel.end()
    }

  session.on("shell", (accept) => {
    const channel = accept()
    run(channel, undefined).catch(failed(channel))
  })
  session.on("exec", (accept, _, { command }) => {
    const channel = accept()
    run(channel, command).catch(failed(channel))
  })
  session.on("subsystem", (accept, reject, { name }) => {
    if (name !== "sftp") return reject()
    const channel = accept()
    begin(channel)
    serveSftp(new Output(channel, client.socket), host.login).catch(failed(channel))
  })
}

/** Serves the sessions of a client's connection. They share its forwarded agent. */
export const serveSessions = (client: Client): void => {
  let agent: Promise<string> | undefined
  const askAgent = (): void => {
    agent ??= listenForAgent(client)
    agent.catch(() => undefined)
  }
  client.connection.on("session", (accept, reject) => {
    const leave = client.channels.take()
    if (leave === undefined) return reject()
    serveSession(client, accept(), () => agent, askAgent, leave)
  })
}
