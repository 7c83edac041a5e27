/** A process of several that serve one address, as the services and the other processes see it. */
import type { ProcessGroupService } from "@atelier/core/insights"
import { StartError, reasonOf, Timestamp, type Worker as BackgroundWorker } from "@atelier/core/platform"
import { Effect, Runtime, type Scope } from "effect"
import { once } from "node:events"
import type { Worker } from "../cluster/Worker.js"
import { makeServer } from "../node/makeServer.js"
import type { Listener } from "../server/listener/NodeListener.js"

/** The option that says where other machines reach this process goes before its socket. */
export const localAddressOf = (worker: Worker | undefined): string => (worker === undefined ? "" : `unix:${worker.socket}`)

export const processGroupOf = (worker: Worker | undefined): ProcessGroupService | undefined =>
  worker === undefined
    ? undefined
    : {
        number: worker.number,
        members: Effect.sync(() =>
          worker.states().map(({ activity, number, pid, since, starts }) => ({
            number,
            pid: pid ?? null,
            activity,
            since: Timestamp.fromMillis(since),
            starts
          }))
        ),
        measuredByOthers: Effect.map(
          Effect.promise(() => worker.ask()),
          (answers) => answers.map(({ number, value }) => ({ number, families: value }))
        ),
        answer: (families) => Effect.map(Effect.runtime<never>(), (runtime) => worker.answer(() => Runtime.runPromise(runtime)(families)))
      }

/**
 * Which of several processes does the background work: of those that serve, the one with the lowest number. While it starts again, the next one does. The scope
 * ends the watch.
 */
export const backgroundTurn = ({
  number,
  onStates,
  states
}: Pick<Worker, "number" | "onStates" | "states">): Effect.Effect<BackgroundWorker.Turn, never, Scope.Scope> =>
  Effect.gen(function* () {
    const turn = yield* Effect.makeLatch(false)
    const isHere = (): boolean => {
      const first = states().find(({ activity }) => activity === "serving")
      // At the start of the server, the first process is alone
      return (first?.number ?? 1) === number
    }
    const look = (): void => {
      if (isHere()) turn.unsafeOpen()
      else turn.unsafeClose()
    }
    const stop = onStates(look)
    yield* Effect.addFinalizer(() => Effect.sync(stop))
    look()
    return { isHere, here: turn.await }
  })

/** Serves streams of the other processes of this machine, and nothing else, at the worker's socket. Returns how it ends. */
export const listenForOthers = async ({ socket: path }: Worker, { upgrade }: Pick<Listener, "upgrade">): Promise<() => void> => {
  const server = makeServer()
  server.on("request", (_request, response) => void response.writeHead(404, { connection: "close" }).end())
  server.on("upgrade", (request, socket, head) => {
    if (request.url?.startsWith("/internal/replicas/") === true) upgrade(request, socket, head)
    else socket.destroy()
  })
  server.listen(path)
  await once(server, "listening").catch((error: unknown) => {
    throw new StartError({ option: "worker", value: path, reason: reasonOf(error) })
  })
  return () => {
    server.close()
    server.closeAllConnections()
  }
}
