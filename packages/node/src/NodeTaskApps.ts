/** Talks with the apps of tasks through their agents, on Node's HTTP client. workspaces.md §9.5. */
import { AgentDialer } from "@atelier/core/network"
import { TaskAppFailure, type TaskAppRequest, TaskApps } from "@atelier/core/tasks"
import { Effect, Layer } from "effect"
import { request as httpRequest } from "node:http"
import type { Duplex } from "node:stream"
import { agentSocket } from "./agentSocket.js"

/** How long a request may take, from the connection to the last byte of the answer. */
const timeout = "30 seconds"

/** Bytes of an answer. */
const maximumAnswer = 2 * 1024 * 1024

const failure = (message: string) => Effect.fail(new TaskAppFailure({ message }))

/** The body of the answer to a request over a socket. */
const exchange = (socket: Duplex, { base, body, method, path }: TaskAppRequest): Effect.Effect<string, TaskAppFailure> =>
  Effect.async((resume) => {
    const payload = body === undefined ? "" : JSON.stringify(body)
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path: `${base.pathname.replace(/\/+$/, "")}${path}`,
      headers: {
        host: base.host,
        connection: "close",
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) })
      }
    })
    request.on("error", ({ message }) => resume(failure(message)))
    request.on("response", (response) => {
      const { statusCode = 0 } = response
      if (statusCode < 200 || statusCode > 299) {
        resume(failure(`It answered ${method} ${path} with the status ${statusCode}.`))
        request.destroy()
        return
      }
      const parts: Array<Buffer> = []
      let size = 0
      response.on("data", (part: Buffer) => {
        size += part.length
        if (size <= maximumAnswer) return void parts.push(part)
        resume(failure(`Its answer has more than ${maximumAnswer} bytes.`))
        request.destroy()
      })
      response.on("end", () => resume(Effect.succeed(Buffer.concat(parts).toString("utf8"))))
      response.on("error", () => resume(failure("It broke its answer off.")))
    })
    request.end(payload)
    return Effect.sync(() => void request.destroy())
  })

const parsed = (text: string): Effect.Effect<unknown, TaskAppFailure> =>
  text === ""
    ? Effect.succeed(undefined)
    : Effect.try({ try: (): unknown => JSON.parse(text), catch: () => new TaskAppFailure({ message: "Its answer is not JSON." }) })

export const layer = Layer.effect(
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
