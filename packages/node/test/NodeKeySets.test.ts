import { NodeKeySets } from "@atelier/node"
import { Effect, Either } from "effect"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { certificate } from "../../../test/outside/mailServer.js"

let server: Server
const asked: Array<string> = []

beforeAll(async () => {
  server = createServer(certificate, ({ url = "" }, response) => {
    asked.push(url)
    if (url === "/moved") return response.writeHead(302, { location: "/keys" }).end()
    if (url === "/large") return response.end("a".repeat(100_000))
    return response.end(`{"keys":[]}`)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** Finds every name at the server's address. */
const resolve: NodeKeySets.KeySetOptions["resolve"] = (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }])

const fetched = (path: string, isAllowed = true, scheme = "https") => {
  const { port } = server.address() as AddressInfo
  const options = { resolve, ca: certificate.cert, ...(isAllowed ? { isAllowed: () => true } : {}) }
  return Effect.runPromise(Effect.either(NodeKeySets.fetchKeySet(`${scheme}://mail.example.com:${port}${path}`, options)))
}

it("a key set is read at its address", async () => {
  expect(await fetched("/keys")).toStrictEqual(Either.right(`{"keys":[]}`))
})

it.each([
  ["/moved", true, "https"],
  ["/large", true, "https"],
  ["/keys", true, "http"]
])("a key set at %s is refused", async (path, isAllowed, scheme) => {
  expect(Either.isLeft(await fetched(path, isAllowed, scheme))).toBe(true)
})

it("a name that leads to this machine is not called", async () => {
  const before = asked.length
  expect(Either.isLeft(await fetched("/keys", false))).toBe(true)
  expect(Either.isLeft(await Effect.runPromise(Effect.either(NodeKeySets.fetchKeySet("https://127.0.0.1:1/keys"))))).toBe(true)
  expect(asked).toHaveLength(before)
})
