/** The connection to a terminal, without a browser. */
import type { Socket } from "@atelier/client"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import type { ConnectionState } from "../src/screens/terminal/connection.js"

let connect: typeof import("../src/screens/terminal/connection.js").connect
let AtelierError: typeof import("@atelier/client").AtelierError

beforeAll(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  vi.stubGlobal("document", { querySelector: () => ({ content: JSON.stringify({ login: null }) }) })
  vi.stubGlobal("addEventListener", () => {})
  vi.stubGlobal("WebSocket", EventTarget)
  vi.stubGlobal("location", { href: "http://atelier.test/", origin: "http://atelier.test" })
  ;({ connect } = await import("../src/screens/terminal/connection.js"))
  ;({ AtelierError } = await import("@atelier/client"))
})
afterAll(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** A terminal whose shell ends at once. */
const ended: Socket = {
  send: () => undefined,
  flushed: async () => undefined,
  close: () => undefined,
  closed: Promise.resolve({ code: 1000, reason: "" }),
  [Symbol.asyncIterator]: async function* () {}
}

/** The states of a terminal that refuses the first attempt. Calls `onRefused` then. */
const statesOf = async (status: number, onRefused: (tryNow: () => void) => void): Promise<ReadonlyArray<ConnectionState["kind"]>> => {
  const states: Array<ConnectionState["kind"]> = []
  const connection = connect({
    open: async () => {
      if (!states.includes("refused")) throw new AtelierError({ status, message: "No" })
      return ended
    },
    onOutput: async () => undefined,
    onState: ({ kind }) => {
      states.push(kind)
      if (kind === "refused") setTimeout(() => onRefused(() => connection.tryNow()))
    }
  })
  await vi.advanceTimersByTimeAsync(60_000)
  return states
}

it("tries a refused terminal again when the user asks", async () => {
  expect(await statesOf(403, (tryNow) => tryNow())).toStrictEqual(["connecting", "refused", "connecting", "open", "ended"])
})

it("tries again by itself where the host renews the session", async () => {
  expect(await statesOf(401, () => undefined)).toStrictEqual(["connecting", "refused", "lost", "connecting", "open", "ended"])
})
