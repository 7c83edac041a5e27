/** Ports of workspaces that have the network of the daemon's machine. */
import { Uuid } from "@atelier/core/platform"
import { expect, it } from "vitest"
import { portOf } from "../src/MachinePorts.js"

const [one, other] = ["0190a2f0-0000-7000-8000-000000000001", "0190a2f0-0000-7000-8000-000000000002"].map((id) => Uuid.Uuid.make(id)) as [
  Uuid.Uuid,
  Uuid.Uuid
]

it("a workspace has the same port at each start, and never one that another has", () => {
  const port = portOf(one, new Map())
  expect(port).toBeGreaterThanOrEqual(20_000)
  expect(port).toBeLessThan(30_000)
  expect(portOf(one, new Map([[one, port]]))).toBe(port)
  expect(portOf(other, new Map())).not.toBe(port)
  expect(portOf(one, new Map([[other, port]]))).toBe(port === 29_999 ? 20_000 : port + 1)
})
