/** The connection to the server. The browser's session cookie is the credential. */
import { AtelierError, createClient } from "@atelier/client"
import { config } from "./config.js"
import { reportConnection } from "./connection.js"

const base = new URL(config.api, `${location.origin}/`)
const isOwnOrigin = base.origin === location.origin

/** Sends a request, and notes whether the server answered. */
const observed = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    const response = await fetch(url, isOwnOrigin ? init : { ...init, credentials: "include" })
    // A proxy in front answers for a server that is away
    if (response.status !== 502 && response.status !== 504) reportConnection("up")
    return response
  } catch (error) {
    if (init.signal?.aborted !== true) reportConnection("lost")
    throw error
  }
}

/** A WebSocket, which notes that the server answered: a page that only follows streams sends no other request. */
class ObservedSocket extends WebSocket {
  constructor(url: string) {
    super(url)
    this.addEventListener("open", () => reportConnection("up"))
  }
}

export const client = createClient({
  baseUrl: base,
  brand: config.brand.wire,
  headers: config.csrf === "" ? {} : { "X-CSRF-TOKEN": config.csrf },
  fetch: observed,
  WebSocket: ObservedSocket
})

export const asAtelierError = (error: unknown): AtelierError =>
  error instanceof AtelierError ? error : new AtelierError({ status: 0, message: error instanceof Error ? error.message : String(error) })

export const statusOf = (error: unknown): number | undefined => (error instanceof AtelierError ? error.status : undefined)
