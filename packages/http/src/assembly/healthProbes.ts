/** How the service reaches itself from outside, for its report on its health. */
import type { HealthProbes } from "@atelier/core/insights"
import { reasonOf } from "@atelier/core/platform"
import { Effect } from "effect"
import { WebSocket } from "ws"
import { boundedFetch } from "../logins/boundedFetch.js"

/** Characters of an answer that a report shows. */
const maximumShown = 256

const asError = (error: unknown): Error => new Error(reasonOf(error))

const echoed = "health"

/** Sends a text and waits for it. A refusal of the upgrade is an answer too. */
const echo = (url: string, headers: Readonly<Record<string, string>>) =>
  Effect.async<{ readonly status: number; readonly body: string }, Error>((resume) => {
    const socket = new WebSocket(url, { headers, maxPayload: 1024, handshakeTimeout: 5_000, followRedirects: false })
    socket.on("error", (error) => resume(Effect.fail(asError(error))))
    socket.on("unexpected-response", (request, response) => {
      request.destroy()
      resume(Effect.succeed({ status: response.statusCode ?? 0, body: "" }))
    })
    socket.on("open", () => socket.send(echoed))
    socket.on("message", (data: Buffer) => {
      if (data.toString() !== echoed) return
      socket.close(1000)
      resume(Effect.succeed({ status: 101, body: "" }))
    })
    socket.on("close", (code) => resume(Effect.fail(new Error(`the connection was closed with ${code}`))))
    return Effect.sync(() => socket.terminate())
  })

export interface ProbeSettings {
  readonly accessUrl: string
  readonly version: string
  /** The header that carries a credential. */
  readonly sessionHeader: string
}

export const healthProbes = ({ accessUrl, sessionHeader, version }: ProbeSettings): HealthProbes["Type"] => ({
  version,
  get: (url) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await boundedFetch(url, { signal })
        return { status: response.status, body: (await response.text()).slice(0, maximumShown) }
      },
      catch: asError
    }),
  echo: (credential) =>
    echo(`${accessUrl.replace(/^http/, "ws")}/api/v2/debug/ws`, credential === undefined ? {} : { [sessionHeader]: credential })
})
