/** Talks with the apps of tasks through their agents, on Node's HTTP client. workspaces.md §9.5. */
import { AgentDialer } from "@atelier/core/network"
import { service, withoutTrailingSlashes } from "@atelier/core/platform"
import { TaskAppFailure, type TaskAppRequest, TaskApps } from "@atelier/core/tasks"
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import { agentExchange } from "./agentExchange.js"
import { agentSocket } from "./agentSocket.js"

/** How long a request may take, from the connection to the last byte of the answer. */
const timeout = "30 seconds"

/** The body of the answer to a request over a socket. */
const exchange = (socket: Duplex, { base, body, method, path }: TaskAppRequest): Effect.Effect<string, TaskAppFailure> =>
  agentExchange(socket, { method, path: `${withoutTrailingSlashes(base.pathname)}${path}`, host: base.host, body }).pipe(
    Effect.mapError(({ message }) => new TaskAppFailure({ message })),
    Effect.filterOrFail(
      ({ status }) => status >= 200 && status <= 299,
      ({ status }) => new TaskAppFailure({ message: `It answered ${method} ${path} with the status ${status}.` })
    ),
    Effect.map(({ text }) => text)
  )

const parsed = (text: string): Effect.Effect<unknown, TaskAppFailure> =>
  text === ""
    ? Effect.succeed(undefined)
    : Effect.try({ try: (): unknown => JSON.parse(text), catch: () => new TaskAppFailure({ message: "Its answer is not JSON." }) })

export const layer = service(
  TaskApps,
  Effect.map(AgentDialer, ({ dial }) =>
    TaskApps.of({
      request: (request) =>
        dial(request.target).pipe(
          Effect.mapError(({ message }) => new TaskAppFailure({ message })),
          Effect.flatMap(agentSocket),
          Effect.flatMap((socket) => exchange(socket, request)),
          Effect.scoped,
          Effect.timeoutFail({
            duration: timeout,
            onTimeout: () => new TaskAppFailure({ message: "It did not answer within 30 seconds." })
          }),
          Effect.flatMap(parsed)
        )
    })
  )
)
