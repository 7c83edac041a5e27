import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import { givesBackFrom } from "../server/connection/LentBody.js"
import type * as Upgrades from "../server/connection/Upgrades.js"
import type { Answer } from "./forward.js"

/** The connection of a client, taken out of HTTP. */
type Client = NonNullable<ReturnType<typeof Upgrades.take>>

/** Sends the client what the app sends, no faster than it reads, and gives the memory of what has left back. `pipe` would not tell when that is. */
const passOn = (app: Duplex, client: Duplex): void => {
  const whenSent = givesBackFrom(client)
  app.on("data", (bytes: Uint8Array) => void (client.write(bytes, whenSent(bytes)) || app.pause()))
  app.once("end", () => void client.end())
  client.on("drain", () => void app.resume())
}

/** Tells the client that the app has upgraded, and connects both for as long as both stay and the signal is not aborted. */
export const bridge = (
  { head: early, release, socket: client }: Client,
  headers: Readonly<Record<string, string | ReadonlyArray<string>>>,
  { head, protocol, socket }: Extract<Answer, { readonly _tag: "Upgraded" }>,
  signal: AbortSignal
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  // An answer that changes the protocol has no body (RFC 9110 §8.6)
  const kept = Object.entries(headers).filter(([name]) => name !== "content-length")
  const lines = kept.flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one: string) => `${name}: ${one}`))
  const upgraded = ["HTTP/1.1 101 Switching Protocols", "connection: Upgrade", `upgrade: ${protocol}`, ...lines, "", ""]
  return Effect.async<void>((resume) => {
    const over = (): void => resume(Effect.void)
    if (signal.aborted) return over()
    signal.addEventListener("abort", over)
    for (const side of [client, socket]) side.once("close", over).on("error", over)
    client.write(upgraded.join("\r\n"), "latin1")
    client.write(head)
    if (early.length > 0) socket.write(early)
    client.pipe(socket)
    passOn(socket, client)
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        client.destroy()
        socket.destroy()
        release()
      })
    ),
    Effect.as(HttpServerResponse.empty())
  )
}
