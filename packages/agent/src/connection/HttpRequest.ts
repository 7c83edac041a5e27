/** Requests to the server beside the connection. The runtime's `fetch` cannot resolve names below `localhost`. */
import { get as getHttp, type IncomingMessage } from "node:http"
import { get as getHttps } from "node:https"
import { resolving } from "./Loopback.js"

/** Milliseconds without a byte after which a request is given up. The server holds some requests for minutes. */
const silence = 300_000

/** Bytes of an answer. */
const maximumBody = 1024 * 1024

export interface HttpAnswer {
  readonly status: number
  /** Undefined if the connection ended within the body. */
  readonly text: string | undefined
}

const textOf = async (response: IncomingMessage): Promise<string | undefined> => {
  const chunks: Array<Buffer> = []
  let size = 0
  try {
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) continue
      size += chunk.length
      if (size > maximumBody) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** Asks for a resource, without following redirects. Rejects without an answer. */
export const get = (url: URL, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? getHttps : getHttp
    const request = send(url, { agent: false, headers, timeout: silence, ...resolving(url) }, (response) => {
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
    })
    request.on("timeout", () => request.destroy(new Error("The server does not answer")))
    request.on("error", reject)
  })
