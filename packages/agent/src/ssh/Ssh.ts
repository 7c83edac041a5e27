/** SSH into the workspace, on streams that the server opens. agents-and-apps.md §17b. */
import type { ByteStream, ReverseStream, StreamError } from "@atelier/agent-protocol"
import { Effect, Runtime } from "effect"
import type { Duplex } from "node:stream"
import { setFlagsFromString } from "node:v8"
import type { Brand } from "../Brand.js"
import type { Place } from "../environment/Place.js"
import type { Marks } from "../scripts/Marks.js"
import * as ProcessTree from "../scripts/ProcessTree.js"
import { load } from "../streams/Pseudoterminal.js"
import { streamSocket } from "../streams/serveStream.js"
import type { Client, Host, Login, Terminal, TerminalOrder } from "./Host.js"

/** Sessions that are open, by what uses them. */
export type SessionCounts = Readonly<Record<Client, number>>

export interface Ssh {
  /** Serves SSH on a stream until either side ends it. */
  readonly serve: (stream: ByteStream, request: ReverseStream.SshRequest) => Effect.Effect<void, StreamError>
  readonly counts: () => SessionCounts
  /** Ends all connections that were begun before, and what their programs have left behind. */
  readonly end: Effect.Effect<void>
}

/** What the agent knows for logins of its workspace. */
export interface Settings {
  readonly place: Effect.Effect<Place>
  readonly marks: Marks
  readonly brand: Brand
  readonly home: string
  /** What a login shell shows first. */
  readonly greeting: Effect.Effect<string>
}

/**
 * Loads the server with the first connection: it is as large as a fifth of the agent, and most agents never have one. From then on V8's young generation keeps its size:
 * almost no object survives it, and it would grow from 8 to 32 MiB with the first large copy.
 */
const loaded = Effect.promise(async () => {
  const server = await import("./server.js")
  // V8 takes compiled code of a module with unchanged flags alone
  setFlagsFromString("--semi-space-growth-factor=1")
  return server
})

const openTerminal = ({ cols, directory, rows, term, ...program }: TerminalOrder): Effect.Effect<Terminal, Error> =>
  Effect.gen(function* () {
    const open = yield* load
    const { onOutput, pause, pty } = yield* open({ ...program, directory, cols, rows, term })
    return {
      pid: pty.pid,
      onOutput,
      pause,
      onExit: (take) => void pty.onExit(({ exitCode, signal }) => take(exitCode, signal ?? 0)),
      // The library writes bytes as they are, which its types do not describe
      write: (bytes) => pty.write(bytes as unknown as string),
      resize: (cols, rows) => pty.resize(cols, rows),
      hangUp: () => pty.kill("SIGHUP")
    } satisfies Terminal
  }).pipe(Effect.mapError(({ message }) => new Error(message)))

export const make = ({ brand, greeting, home, marks, place }: Settings): Effect.Effect<Ssh> =>
  Effect.map(Effect.runtime(), (runtime) => {
    const run = Runtime.runPromise(runtime)
    const counts: Record<Client, number> = { ssh: 0, vscode: 0, jetbrains: 0 }
    const open = new Set<Duplex>()
    let own = marks.within()

    const login = async (): Promise<Login> => {
      const { directory, shell, variables } = await run(place)
      return { directory, shell, variables, home, greeting: () => run(greeting) }
    }
    const host: Host = {
      login,
      openTerminal: (order) => run(openTerminal(order)),
      mark: () => own.next(),
      begin: (client) => {
        counts[client] += 1
        let isOpen = true
        return () => {
          if (isOpen) counts[client] -= 1
          isOpen = false
        }
      },
      clientVariable: `${brand.environmentName}_SSH_SESSION_TYPE`
    }

    return {
      counts: () => ({ ...counts }),
      end: Effect.suspend(() => {
        const before = own
        own = marks.within()
        for (const socket of open) socket.destroy()
        return ProcessTree.terminateMarked(before)
      }),
      serve: (stream, { client = "ssh", host_key }) =>
        Effect.gen(function* () {
          const { serve } = yield* loaded
          const socket = yield* streamSocket(stream)
          yield* Effect.acquireRelease(
            Effect.sync(() => open.add(socket)),
            () => Effect.sync(() => open.delete(socket))
          )
          yield* Effect.promise(() => serve(socket, { hostKey: host_key, client, host }))
        }).pipe(Effect.scoped)
    } satisfies Ssh
  })
