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

/** Ends both connections with one of them, or once the signal is aborted, and calls `over` then. Returns whether they are open. */
const endTogether = (client: Duplex, app: Duplex, signal: AbortSignal, over: () => void): boolean => {
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    signal.removeEventListener("abort", end)
    client.destroy()
    app.destroy()
    over()
  }
  for (const side of [client, app]) side.once("close", end).on("error", end)
  signal.addEventListener("abort", end)
  if (signal.aborted || client.destroyed || app.destroyed) end()
  return !isOver
}

/** The head that tells the client that the app has upgraded. */
const headOf = (protocol: string, headers: Readonly<Record<string, string | ReadonlyArray<string>>>): string => {
  // An answer that changes the protocol has no body (RFC 9110 §8.6)
  const kept = Object.entries(headers).filter(([name]) => name !== "content-length")
  const lines = kept.flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one: string) => `${name}: ${one}`))
  return ["HTTP/1.1 101 Switching Protocols", "connection: Upgrade", `upgrade: ${protocol}`, ...lines, "", ""].join("\r\n")
}

/**
 * Tells the client that the app has upgraded, and connects both for as long as both stay and the signal is not aborted. Then it calls `over`, which may be at once. No
 * fiber waits for that.
 */
export const bridge = (
  { head: early, socket: client }: Pick<Client, "head" | "socket">,
  headers: Readonly<Record<string, string | ReadonlyArray<string>>>,
  { head, protocol, socket }: Pick<Extract<Answer, { readonly _tag: "Upgraded" }>, "head" | "protocol" | "socket">,
  signal: AbortSignal,
  over: () => void
): void => {
  if (!endTogether(client, socket, signal, over)) return
  client.write(headOf(protocol, headers), "latin1")
  client.write(head)
  if (early.length > 0) socket.write(early)
  client.pipe(socket)
  passOn(socket, client)
}
