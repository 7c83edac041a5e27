// Clients that call without pause, and what they were answered.
import { once } from "node:events"
import { Agent, request } from "node:http"
import { buffer } from "node:stream/consumers"

export const newCount = () => ({ statuses: new Map(), broken: [], unserved: 0, slowest: 0, isOver: false })

/** Calls without pause until `count.isOver`: reads, and a write now and then. No call is repeated. */
export const keepCalling = async (url, token, count) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  // Owners may call as often as they like
  const headers = { "Service-Session-Token": token, "X-Service-Bypass-Ratelimit": "true" }
  const calls = [
    ["GET", "/api/v2/users/me"],
    ["GET", "/api/v2/workspaces"],
    ["PUT", "/api/v2/users/me/appearance", { theme_preference: "dark", terminal_font: "fira-code" }],
    ["GET", "/api/v2/buildinfo"]
  ]
  for (let turn = 0; !count.isOver; turn++) {
    const [method, path, body] = calls[turn % calls.length]
    const started = performance.now()
    try {
      const sent = request(`${url}${path}`, { method, agent, headers })
      sent.end(body === undefined ? undefined : JSON.stringify(body))
      const [answer] = await once(sent, "response")
      await buffer(answer)
      count.statuses.set(answer.statusCode, (count.statuses.get(answer.statusCode) ?? 0) + 1)
    } catch (error) {
      count.broken.push(error.code ?? error.message)
    }
    count.slowest = Math.max(count.slowest, performance.now() - started)
  }
  agent.destroy()
}

const statusesOf = ({ statuses }) => [...statuses].toSorted(([one], [other]) => one - other)

export const hasFailed = (count) => count.broken.length > 0 || statusesOf(count).some(([status]) => status >= 400)

/** The lines of a report on what the clients were answered in so many seconds. */
export const reportOf = (count, seconds) => {
  const calls = statusesOf(count).reduce((sum, [, number]) => sum + number, 0)
  return [
    `${calls} calls, ${(calls / seconds).toFixed(0)} per second, the slowest ${count.slowest.toFixed(0)} ms`,
    `statuses: ${statusesOf(count)
      .map(([status, number]) => `${status}: ${number}`)
      .join(", ")}`,
    `broken connections: ${count.broken.length}${count.broken.length === 0 ? "" : ` (${[...new Set(count.broken)].join(", ")})`}`
  ]
}
