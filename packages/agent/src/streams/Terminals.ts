/** Terminals that outlive the connections of their viewers. agents-and-apps.md §18. */
import { access } from "node:fs/promises"
import { Pty, StreamReset, type ByteStream, type StreamError } from "@atelier/agent-protocol"
import { Clock, Duration, Effect, Either, Option, type Scope } from "effect"
import * as Loop from "../Loop.js"
import type { Marks } from "../scripts/Marks.js"
import * as ProcessTree from "../scripts/ProcessTree.js"
import type { Place } from "../environment/Place.js"
import { load, type NoTerminal, type Pseudoterminal } from "./Pseudoterminal.js"

/** Terminals at a time. */
const maximumTerminals = 128

/** Viewers of one terminal at a time. */
const maximumViewers = 32

/** How long a terminal lives without a viewer. */
const idleTime = Duration.minutes(5)

/** Bytes of the latest output that a new viewer is shown. */
const maximumReplay = 64 * 1024

/** Unread bytes of the fastest viewer above which the program has to wait. */
const pauseAbove = 256 * 1024

/** Unread bytes above which a viewer that keeps up with no other is let go. */
const maximumUnread = 4 * 1024 * 1024

const fallbackSize = 80

/** One connection to a terminal. */
interface Viewer {
  unread: number
  readonly chunks: Array<Uint8Array>
  /** Open when there may be more to send. */
  readonly more: Effect.Latch
  over: "no" | "ended" | "slow"
}

interface Terminal extends Pick<Pseudoterminal, "pause" | "pty"> {
  readonly viewers: Set<Viewer>
  replay: Array<Uint8Array>
  replaySize: number
  isPaused: boolean
  /** Milliseconds since 1970; undefined while there is a viewer. */
  idleSince: number | undefined
}

const broken = (message: string) => new StreamReset({ by: "here", message })

const asStream = <A>(opened: Effect.Effect<A, NoTerminal>) => Effect.mapError(opened, ({ message }) => broken(message))

const loaded = asStream(load)

/** Keeps at least as much of the output as a new viewer is shown. */
const remember = (terminal: Terminal, chunk: Uint8Array): void => {
  terminal.replay.push(chunk)
  terminal.replaySize += chunk.length
  for (;;) {
    const [first] = terminal.replay
    if (first === undefined || terminal.replaySize - first.length < maximumReplay) return
    terminal.replay.shift()
    terminal.replaySize -= first.length
  }
}

/** Lets the program wait while no viewer keeps up with it. */
const balance = (terminal: Terminal): void => {
  const least = Math.min(...[...terminal.viewers].map(({ unread }) => unread))
  const shouldPause = terminal.viewers.size > 0 && least > pauseAbove
  if (shouldPause === terminal.isPaused) return
  terminal.isPaused = shouldPause
  terminal.pause(shouldPause)
}

const show = (terminal: Terminal, chunk: Uint8Array): void => {
  remember(terminal, chunk)
  for (const viewer of terminal.viewers) {
    viewer.chunks.push(chunk)
    viewer.unread += chunk.length
    if (viewer.unread > maximumUnread) viewer.over = "slow"
    viewer.more.unsafeOpen()
  }
  balance(terminal)
}

const view = (terminal: Terminal): Effect.Effect<Viewer, StreamError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      if (terminal.viewers.size >= maximumViewers) return broken(`At most ${maximumViewers} viewers may be at one terminal.`)
      const chunks = terminal.replay.length === 0 ? [] : [Buffer.concat(terminal.replay)]
      const viewer: Viewer = { chunks, unread: terminal.replaySize, more: Effect.unsafeMakeLatch(), over: "no" }
      terminal.viewers.add(viewer)
      terminal.idleSince = undefined
      return Effect.succeed(viewer)
    }),
    (viewer) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        terminal.viewers.delete(viewer)
        if (terminal.viewers.size === 0) terminal.idleSince = now
        balance(terminal)
      })
  )

/** Sends what the terminal shows, until it ends. */
const output = (stream: ByteStream, terminal: Terminal, viewer: Viewer): Effect.Effect<void, StreamError> =>
  Effect.gen(function* () {
    for (;;) {
      viewer.more.unsafeClose()
      if (viewer.over === "slow") return yield* broken("The viewer does not keep up with the terminal.")
      const chunk = viewer.chunks.shift()
      if (chunk === undefined && viewer.over === "ended") return yield* stream.finish
      if (chunk === undefined) yield* viewer.more.await
      else {
        yield* stream.write(chunk)
        viewer.unread -= chunk.length
        balance(terminal)
      }
    }
  })

const handle = ({ pty }: Terminal, { data, height, width }: Pty.Request): void => {
  if (height && width) pty.resize(width, height)
  if (data) pty.write(data)
}

/** Reads what a viewer types, until it goes or sends what is no request. */
const input = (stream: ByteStream, terminal: Terminal, rest: Uint8Array): Effect.Effect<void, StreamError> =>
  Effect.gen(function* () {
    const decoder = new Pty.RequestDecoder()
    let chunk: Option.Option<Uint8Array> = Option.some(rest)
    for (; Option.isSome(chunk); chunk = yield* stream.read) {
      for (const request of decoder.decode(chunk.value)) {
        if (Either.isLeft(request)) return yield* stream.finish
        handle(terminal, request.right)
      }
    }
  })

/** Whether there is such a program. A name without a folder is looked for by the system. */
const exists = (program: string): Effect.Effect<boolean> =>
  program.includes("/")
    ? Effect.promise(() =>
        access(program).then(
          () => true,
          () => false
        )
      )
    : Effect.succeed(true)

const described = (stream: ByteStream) =>
  Effect.gen(function* () {
    const decoder = new Pty.InitDecoder()
    for (;;) {
      const chunk = yield* stream.read
      if (Option.isNone(chunk)) return yield* broken("The stream ended before its terminal was named.")
      const decoded = yield* Effect.mapError(decoder.decode(chunk.value), ({ message }) => broken(message))
      if (Option.isSome(decoded)) return decoded.value
    }
  })

export interface Terminals {
  /** Serves one connection: its first bytes name the terminal, which is started where it does not exist. */
  readonly serve: (stream: ByteStream) => Effect.Effect<void, StreamError>
  /** Ends all terminals that were started before, which tells their viewers, and all that their programs have started. */
  readonly end: Effect.Effect<void>
}

/** Makes the terminals of a workspace. They end with the scope. */
export const make = (place: Effect.Effect<Place>, marks: Marks): Effect.Effect<Terminals, never, Scope.Scope> =>
  Effect.gen(function* () {
    const terminals = new Map<string, Terminal>()
    const clock = yield* Effect.clock
    let own = marks.within()

    const end = (id: string, terminal: Terminal): void => {
      if (terminals.get(id) === terminal) terminals.delete(id)
      terminal.pty.kill()
    }
    const endAll = Effect.sync(() => terminals.forEach((terminal, id) => end(id, terminal)))
    yield* Effect.addFinalizer(() => endAll)

    const sweep = Effect.sync(() => {
      const now = clock.unsafeCurrentTimeMillis()
      for (const [id, terminal] of terminals) {
        if (terminal.idleSince !== undefined && now - terminal.idleSince >= Duration.toMillis(idleTime)) end(id, terminal)
      }
    })
    yield* Loop.start("the end of idle terminals", Effect.delay(sweep, "10 seconds"))

    const start = (init: Pty.Init): Effect.Effect<Terminal, StreamError> =>
      Effect.gen(function* () {
        const { directory, shell, variables } = yield* place
        const launch = yield* loaded
        // Another connection may have been faster
        const known = terminals.get(init.ID)
        if (known !== undefined) return known
        if (terminals.size >= maximumTerminals) return yield* broken(`At most ${maximumTerminals} terminals may be open.`)
        // So that the programs it leaves behind are found when the workspace stops
        const [mark, run] = own.next()
        const args = init.Command === "" ? ["-l"] : ["-c", init.Command]
        const { onOutput, pause, pty } = yield* asStream(
          launch({
            file: shell,
            args,
            directory,
            environment: { ...variables, [mark]: run },
            cols: init.Width || fallbackSize,
            rows: init.Height || fallbackSize
          })
        )
        const terminal: Terminal = {
          pty,
          pause,
          viewers: new Set(),
          replay: [],
          replaySize: 0,
          isPaused: false,
          idleSince: undefined
        }
        terminals.set(init.ID, terminal)
        onOutput((bytes) => show(terminal, bytes))
        pty.onExit(() => {
          if (terminals.get(init.ID) === terminal) terminals.delete(init.ID)
          for (const viewer of terminal.viewers) {
            if (viewer.over === "no") viewer.over = "ended"
            viewer.more.unsafeOpen()
          }
        })
        return terminal
      })

    return {
      end: Effect.suspend(() => {
        const before = own
        own = marks.within()
        return Effect.zipRight(endAll, ProcessTree.terminateMarked(before))
      }),
      serve: (stream) =>
        Effect.gen(function* () {
          const { init, rest } = yield* described(stream)
          const known = terminals.get(init.ID)
          const { shell } = yield* place
          if (known === undefined && !(yield* exists(shell))) {
            // As a line of the terminal, which is all that its user sees
            yield* stream.write(Buffer.from(`The workspace has no shell: ${shell} is not found.\r\n`))
            return yield* stream.finish
          }
          const terminal = known ?? (yield* start(init))
          const viewer = yield* view(terminal)
          if (known !== undefined) handle(terminal, { height: init.Height, width: init.Width })
          const both = Effect.raceFirst(output(stream, terminal, viewer), input(stream, terminal, rest))
          yield* Effect.raceFirst(both, stream.whenBroken)
        }).pipe(Effect.scoped)
    }
  })
