/** Streams on a network that falls silent while they connect again. */
import { createClient, workspaces } from "@atelier/client"
import { expect, it, onTestFinished, vi } from "vitest"

const input = { workspace: "w" }

/** What a platform gives the client, where only the second connection is never answered. */
const silent = () => {
  let connections = 0
  const nameOf = () => JSON.stringify({ name: String(connections) })
  const fetch = (_: string, { signal }: RequestInit): Promise<Response> => {
    connections += 1
    if (connections !== 2) return Promise.resolve(new Response(`data: ${nameOf()}\n\n`))
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
  }
  class Socket extends EventTarget {
    readonly readyState = 0
    readonly bufferedAmount = 0
    binaryType = "arraybuffer"
    constructor() {
      super()
      connections += 1
      if (connections !== 2) queueMicrotask(() => this.answer(`{"type":"data","data":${nameOf()}}`))
    }
    answer(data: string): void {
      this.dispatchEvent(new Event("open"))
      this.dispatchEvent(Object.assign(new Event("message"), { data }))
      this.dispatchEvent(Object.assign(new Event("close"), { code: 1012, reason: "" }))
    }
    send(): void {}
    close(): void {
      queueMicrotask(() => this.dispatchEvent(Object.assign(new Event("close"), { code: 1006, reason: "" })))
    }
  }
  // The events of the class are those of any target
  return { platform: { fetch, WebSocket: Socket as never }, connections: () => connections }
}

it.each(["watchWorkspace", "watchWorkspaceSocket"] as const)("%s gives a later connection up that is never answered", async (operation) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { connections, platform } = silent()
  const values = workspaces[operation](createClient({ baseUrl: "http://atelier.test", ...platform }), input, { reconnect: () => 1 })
  expect(await values.next()).toMatchObject({ value: { name: "1" } })
  const second = values.next()
  await vi.advanceTimersByTimeAsync(29_000)
  expect(connections()).toBe(2)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(connections()).toBe(3)
  expect(await second).toMatchObject({ value: { name: "3" } })
})
