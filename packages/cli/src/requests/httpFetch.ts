/**
 * Requests by `node:http`. The platform's `fetch` takes as long to load as the rest of a short command. It sends what needs it: a body that is no
 * text.
 */
import type { Fetch } from "@atelier/client"
import type { Agent as HttpAgent, IncomingMessage, RequestOptions } from "node:http"
import { Readable } from "node:stream"

type Http = Pick<typeof import("node:http"), "request" | "Agent">

/** One connection serves all requests of a command that come one after the other. */
const connections = new Map<string, Promise<{ readonly http: Http; readonly agent: HttpAgent }>>()

const connectionOf = (protocol: string) => {
  const known = connections.get(protocol)
  if (known !== undefined) return known
  const made = (async () => {
    const http: Http = protocol === "https:" ? await import("node:https") : await import("node:http")
    return { http, agent: new http.Agent({ keepAlive: true }) }
  })()
  connections.set(protocol, made)
  return made
}

/** As much of `Headers` as the client reads. */
const headersOf = ({ headers }: IncomingMessage) => ({
  get: (name: string): string | null => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value
  },
  has: (name: string): boolean => headers[name.toLowerCase()] !== undefined,
  keys: () => Object.keys(headers).values()
})

const textOf = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  if (!message.complete) throw new Error("the answer broke off")
  return Buffer.concat(chunks)
}

/** As much of `Response` as the client reads: the platform's loads `fetch` too. */
const responseOf = (message: IncomingMessage): Response => {
  const { statusCode: status = 0, statusMessage = "" } = message
  const response = {
    status,
    ok: status >= 200 && status < 300,
    statusText: statusMessage,
    headers: headersOf(message),
    get body() {
      return status === 204 || status === 304 ? null : Readable.toWeb(message)
    },
    text: async () => (await textOf(message)).toString("utf8"),
    json: async (): Promise<unknown> => JSON.parse((await textOf(message)).toString("utf8")),
    arrayBuffer: async () => new Uint8Array(await textOf(message)).buffer
  }
  return response as unknown as Response
}

const isRedirect = (status: number | undefined): boolean => status !== undefined && [301, 302, 303, 307, 308].includes(status)

/** Requests that have the same effect if the service gets them twice (RFC 9110 §9.2.2). */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE"])

/**
 * Sends requests as `fetch` does. One that may be repeated is sent once more if a kept connection turns out to be closed; the others get a connection of
 * their own. A request fails after a silence of the service, in milliseconds.
 */
export const fetchWithin =
  (silence: number): Fetch =>
  async (address, init) => {
    const { body, headers, method = "GET", redirect, signal } = init
    if (body !== undefined && body !== null && typeof body !== "string") return fetch(address, init)
    const { agent, http } = await connectionOf(new URL(address).protocol)
    const options: RequestOptions = {
      agent: repeatable.has(method) ? agent : false,
      method,
      timeout: silence,
      // The client gives them as an object
      headers: headers as Record<string, string>,
      ...(signal === undefined || signal === null ? {} : { signal })
    }
    const attempt = (isFirst: boolean): Promise<Response> =>
      new Promise((resolve, reject) => {
        let answer: IncomingMessage | undefined
        const request = http.request(address, options, (message) => {
          answer = message
          if (redirect === "error" && isRedirect(message.statusCode)) {
            message.destroy()
            return reject(new Error("the answer leads to another address"))
          }
          return resolve(responseOf(message))
        })
        request.on("timeout", () => {
          // Bytes that wait here wait for their reader, and not for the service
          if ((answer?.readableLength ?? 0) > 0) return
          const late = new Error("the service has sent nothing for too long")
          if (answer === undefined) request.destroy(late)
          else answer.destroy(late)
        })
        request.on("error", (error) => {
          const isStale = isFirst && request.reusedSocket && "code" in error && error.code === "ECONNRESET"
          if (isStale) resolve(attempt(false))
          else reject(error)
        })
        request.end(typeof body === "string" ? body : undefined)
      })
    return attempt(true)
  }

/** Sends a request as `fetch` does. The service may be silent for five minutes. */
export const httpFetch: Fetch = fetchWithin(300_000)
