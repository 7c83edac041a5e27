// A load generator on raw sockets: cheap enough that the server, on the other core, is what is measured.
import { connect } from "node:net"

/** Milliseconds without a byte after which a request counts as not answered. */
const longestWait = 30_000

const headerEnd = Buffer.from("\r\n\r\n")

/** Bytes of the first whole response in `data` and its status, or null while it is incomplete. */
const measure = (data) => {
  const end = data.indexOf(headerEnd)
  if (end === -1) return null
  const head = data.toString("latin1", 0, end)
  const status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length !== null) {
    const total = end + 4 + Number(length[1])
    return data.length >= total ? { status, total } : null
  }
  if (status === 204 || status === 304) return { status, total: end + 4 }
  const last = data.indexOf("\r\n0\r\n\r\n", end)
  return last === -1 ? null : { status, total: last + 7 }
}

/**
 * Sends one request after another on each of `connections` connections for `seconds`, after a warm-up. Answers requests per second and
 * latencies in milliseconds. A status other than `expect` ends it with an error.
 */
export const load = async ({ port, request, connections = 20, seconds = 3, warmup = 1, expect = 200 }) => {
  const latencies = []
  let running = true
  let counting = false
  let failure

  const worker = () =>
    new Promise((resolve) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      let pending = Buffer.alloc(0)
      let sent = 0
      const send = () => {
        if (!running) return socket.end()
        sent = performance.now()
        socket.write(typeof request === "function" ? request() : request)
      }
      socket.on("connect", send)
      socket.setTimeout(longestWait, () => socket.destroy(new Error(`no answer within ${longestWait / 1000} s`)))
      socket.on("data", (chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
        const response = measure(pending)
        if (response === null) return
        if (response.status !== expect) {
          failure ??= new Error(`status ${response.status}: ${pending.toString("utf8").slice(0, 500)}`)
          running = false
        }
        pending = pending.subarray(response.total)
        if (counting) latencies.push(performance.now() - sent)
        send()
      })
      socket.on("error", (error) => {
        failure ??= error
        running = false
      })
      socket.on("close", resolve)
    })

  const workers = Array.from({ length: connections }, worker)
  await new Promise((resolve) => setTimeout(resolve, warmup * 1000))
  counting = true
  const started = performance.now()
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const elapsed = (performance.now() - started) / 1000
  running = false
  await Promise.all(workers)
  if (failure !== undefined) throw failure
  latencies.sort((left, right) => left - right)
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  return { perSecond: latencies.length / elapsed, p50: at(0.5), p99: at(0.99), latencies }
}

/** The bytes of an HTTP/1.1 request. */
export const request = (method, path, { headers = {}, body } = {}) => {
  const text = body === undefined ? "" : JSON.stringify(body)
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  if (body !== undefined) lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`)
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${text}`)
}
