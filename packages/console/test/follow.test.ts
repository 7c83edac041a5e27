/** Streams that fail, and choices that the browser does not keep, without a browser. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest"
import type { StreamStatus } from "../src/app/follow.js"

const left: Array<string> = []
let AtelierError: typeof import("@atelier/client").AtelierError
let follow: typeof import("../src/app/follow.js").follow
let storage: typeof import("../src/app/stored.js")

/** Loads the modules anew, as those of a page with this address of the login. */
const load = async (login: string | null): Promise<void> => {
  vi.resetModules()
  vi.stubGlobal("document", { querySelector: () => ({ content: JSON.stringify({ login }) }) })
  ;({ AtelierError } = await import("@atelier/client"))
  ;({ follow } = await import("../src/app/follow.js"))
}

beforeAll(async () => {
  vi.stubGlobal("addEventListener", () => {})
  vi.stubGlobal("WebSocket", EventTarget)
  vi.stubGlobal("location", {
    href: "http://atelier.test/workspaces",
    origin: "http://atelier.test",
    pathname: "/workspaces",
    search: "",
    hash: "",
    assign: (address: URL) => left.push(address.href)
  })
  await load("/login")
  storage = await import("../src/app/stored.js")
})
afterAll(() => vi.unstubAllGlobals())
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Follows a stream whose openings end one after the other as they are given: with values, or with a failure after these. */
const following = (openings: ReadonlyArray<readonly [values: ReadonlyArray<number>, failure?: Error]>) => {
  const controller = new AbortController()
  const values: Array<number> = []
  const states: Array<StreamStatus["state"]> = []
  const opened: Array<number> = []
  const begin = Date.now()
  const ended = follow<number>({
    signal: controller.signal,
    onValue: (value) => values.push(value),
    onStatus: ({ state }) => states.push(state),
    open: async function* () {
      const [each, failure] = openings[opened.length] ?? [[]]
      opened.push(Date.now() - begin)
      yield* each
      if (failure !== undefined) throw failure
    }
  })
  return { controller, ended, opened, states, values }
}

const away = () => new AtelierError({ status: 0, message: "The server does not answer" })

it("opens a stream again that failed, after pauses that grow and begin anew once a value has come", async () => {
  const { ended, opened, states, values } = following([[[], away()], [[], away()], [[1], away()], [[2]]])
  await vi.advanceTimersByTimeAsync(60_000)
  await ended
  expect(values).toStrictEqual([1, 2])
  expect(opened).toStrictEqual([0, 1_000, 3_000, 4_000])
  expect(states).toStrictEqual(["connecting", "failed", "failed", "live", "failed", "live", "ended"])
})

it("leaves a stream that is refused", async () => {
  const { ended, opened, states } = following([[[], new AtelierError({ status: 403, message: "No" })], [[1]]])
  await ended
  expect([opened.length, states.at(-1)]).toStrictEqual([1, "failed"])
})

it("opens no stream after the screen was left", async () => {
  const { controller, ended, opened } = following([[[], away()], [[1]]])
  await vi.advanceTimersByTimeAsync(500)
  controller.abort()
  await vi.advanceTimersByTimeAsync(60_000)
  await ended
  expect(opened).toStrictEqual([0])
})

it("has the user sign in when the session is over", async () => {
  const { controller, ended, opened } = following([[[], new AtelierError({ status: 401, message: "Sign in" })]])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(left).toStrictEqual(["http://atelier.test/login?redirect=%2Fworkspaces"])
  expect(opened).toStrictEqual([0])
  controller.abort()
  await ended
})

it("keeps a choice as long as the page where the storage is switched off or full", () => {
  const full = () => {
    throw new DOMException("The quota has been exceeded.", "QuotaExceededError")
  }
  const values = new Map([["theme", "light"]])
  const localStorage = { getItem: (key: string) => values.get(key) ?? null, setItem: full, removeItem: full }
  vi.stubGlobal("localStorage", localStorage)
  storage.store("theme", "dark")
  expect(storage.stored("theme")).toBe("dark")
  storage.store("theme", undefined)
  expect(storage.stored("theme")).toBeNull()
  vi.stubGlobal("localStorage", { ...localStorage, setItem: (key: string, value: string) => void values.set(key, value) })
  storage.store("theme", "system")
  expect([storage.stored("theme"), values.get("theme")]).toStrictEqual(["system", "system"])
})

it("opens a stream again where the host of the page renews the session", async () => {
  await load(null)
  const { ended, opened, values } = following([[[], new AtelierError({ status: 401, message: "Sign in" })], [[1]]])
  await vi.advanceTimersByTimeAsync(60_000)
  await ended
  expect([opened, values]).toStrictEqual([[0, 1_000], [1]])
})
