import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AddressInfo } from "node:net"
import { atelier, organizationNames, serve } from "../src/app.js"

it.scopedLive("serves the interface and calls its services directly", () =>
  Effect.gen(function* () {
    const server = yield* serve(0)
    const { port } = server.address() as AddressInfo
    const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/api/v2/buildinfo`))
    expect(response.status).toBe(200)
    expect(yield* organizationNames).toStrictEqual(["default"])
  }).pipe(Effect.provide(atelier("http://127.0.0.1:3000", ":memory:")))
)
