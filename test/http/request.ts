/** Requests of tests on real sockets. They take a quarter of the processor's time that `fetch` takes, as most of a run's requests are small. */
import { Agent, request } from "node:http"

export interface Outgoing {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Connections are kept for less time than servers keep them: one that both end at once would fail a request. */
const agent = new Agent({ keepAlive: true, timeout: 1_000 })

const headersOf = (raw: ReadonlyArray<string>): Headers => {
  const headers = new Headers()
  for (let index = 0; index < raw.length; index += 2) headers.append(raw[index] ?? "", raw[index + 1] ?? "")
  return headers
}

/** Sends a request with those headers of `fetch` that the service reads. Redirects are not followed. */
export const exchange = (url: string, { body, headers, method }: Outgoing): Promise<Received> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method,
        headers: {
          accept: "*/*",
          "user-agent": "node",
          ...(typeof body === "string" ? { "content-type": "text/plain;charset=UTF-8" } : {}),
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
        }
      },
      (response) => {
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (part: string) => (text += part))
        response.on("error", reject)
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: headersOf(response.rawHeaders), text }))
      }
    )
    sent.on("error", reject)
    sent.end(body)
  })
