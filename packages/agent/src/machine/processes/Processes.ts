/** The processes that callers of the API have started in the workspace. agents-and-apps.md §17a. */
import { Duration, Effect, Schema, type Scope } from "effect"
import type { Place } from "../../environment/Place.js"
import type { Marks } from "../../scripts/Marks.js"
import { bodyReader, limitOf, Refused, type Route, send, type Served, type SocketRoute } from "../Route.js"
import { execRoute } from "./Exec.js"
import { isSignal, signalGroup } from "./Group.js"
import * as KeptProcesses from "./KeptProcesses.js"
import { Order, TerminalSize } from "./Order.js"
import * as Running from "./Running.js"
import type { Source } from "./Source.js"
import { serve } from "./stream.js"

/** Milliseconds that a call waits for the end of a process without a word of the caller. */
const usualWait = 30_000

const Signal = Schema.Struct({ signal: Schema.String })

const readOrder = bodyReader(Order)
const readSignal = bodyReader(Signal)
const readSize = bodyReader(TerminalSize)

const hasEnded = new Refused({ status: 409, message: "The process has ended." })

const hasNoTerminal = new Refused({ status: 409, message: "The process has no terminal." })

/** A whole number of a query; fails for any other text. */
const numberIn = (query: URLSearchParams, name: string, otherwise: number): Effect.Effect<number, Refused> => {
  const text = query.get(name)
  if (text === null || text === "") return Effect.succeed(otherwise)
  return /^\d{1,15}$/.test(text) ? Effect.succeed(Number(text)) : Refused.field(name, "must be a whole number that is not negative")
}

const keptRoutes = ({ all, get, remove, start }: KeptProcesses.KeptProcesses): ReadonlyArray<Route> => {
  const running = (id: string | undefined): Effect.Effect<Source, Refused> =>
    Effect.flatMap(get(id), (kept) => (kept.running === undefined ? hasEnded : Effect.succeed(kept.running)))
  return [
    {
      method: "POST",
      path: "/processes",
      handle: ({ request, response }) =>
        Effect.gen(function* () {
          const kept = yield* start(request, yield* readOrder(request))
          send(response, 201, kept.view)
        })
    },
    {
      method: "GET",
      path: "/processes",
      handle: ({ response }) => Effect.sync(() => send(response, 200, { processes: all().map(({ view }) => view) }))
    },
    {
      method: "GET",
      path: "/processes/:process",
      handle: ({ parameters, response }) => Effect.map(get(parameters["process"]), ({ view }) => send(response, 200, view))
    },
    {
      method: "GET",
      path: "/processes/:process/wait",
      handle: ({ parameters, query, request, response }) =>
        Effect.gen(function* () {
          const longest = limitOf(request, "x-limit-command-ms", usualWait)
          const time = yield* numberIn(query, "timeout_ms", Math.min(usualWait, longest))
          if (time > longest) return yield* Refused.field("timeout_ms", `must be at most ${longest}`)
          const kept = yield* get(parameters["process"])
          yield* Effect.timeoutOption(kept.whenOver, Duration.millis(time))
          send(response, 200, kept.view)
        })
    },
    {
      method: "POST",
      path: "/processes/:process/signal",
      handle: ({ parameters, request, response }) =>
        Effect.gen(function* () {
          const { signal } = yield* readSignal(request)
          if (!isSignal(signal)) return yield* Refused.field("signal", "must be the name of a signal, such as SIGTERM")
          const { pid } = yield* running(parameters["process"])
          if (!signalGroup(pid, signal)) return yield* hasEnded
          send(response, 204)
        })
    },
    {
      method: "POST",
      path: "/processes/:process/resize",
      handle: ({ parameters, request, response }) =>
        Effect.gen(function* () {
          const size = yield* readSize(request)
          const { isTerminal, resize } = yield* running(parameters["process"])
          if (!isTerminal) return yield* hasNoTerminal
          resize(size)
          send(response, 204)
        })
    },
    {
      method: "DELETE",
      path: "/processes/:process",
      handle: ({ parameters, response }) => Effect.map(remove(parameters["process"]), () => send(response, 204))
    }
  ]
}

const streamRoute = ({ get }: KeptProcesses.KeptProcesses): SocketRoute => ({
  path: "/processes/:process/stream",
  open: ({ parameters, query }) =>
    Effect.gen(function* () {
      const offset = yield* numberIn(query, "offset", 0)
      const kept = yield* get(parameters["process"])
      const viewer = yield* kept.watch(offset)
      return (socket) => serve(socket, kept, viewer)
    })
})

export interface Processes extends Served {
  /** Ends all processes that were started before, and all that they have started. */
  readonly end: Effect.Effect<void>
}

/** The routes of processes. What they follow ends with the scope. */
export const make = (place: Effect.Effect<Place>, marks: Marks): Effect.Effect<Processes, never, Scope.Scope> =>
  Effect.gen(function* () {
    const running = Running.make(marks)
    const kept = yield* KeptProcesses.make(place, running)
    return {
      routes: [execRoute(place, running), ...keptRoutes(kept)],
      sockets: [streamRoute(kept)],
      end: running.end
    }
  })
