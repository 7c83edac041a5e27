/** The power of the simulation: it finds defects that were repaired, which patches of the sources put back. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { planOf } from "../src/index.js"
import { bundlePatched } from "./patched.mjs"

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The modules of the simulation, with the defect that a patch puts back. */
const patched = async (defect: string): Promise<typeof import("../src/index.js")> => {
  const bundle = pathOf(`../../../node_modules/.cache/simulation/${defect}.mjs`)
  await bundlePatched(pathOf(`defects/${defect}.patch`), bundle)
  return await import(bundle)
}

describe("a defect is found:", () => {
  it("a failure ends the loops of background work", async () => {
    const { failEachLoop, makeSetting } = await patched("failure-ends-loops")
    const loops = Effect.runSync(failEachLoop(Effect.runSync(makeSetting), 60_000))
    const ended = loops.flatMap(({ again, name }) => (again === undefined ? [name] : []))
    expect(ended).toContain("replica_heartbeat")
    expect(ended).toContain("notification_delivery")
  })

  it.each([
    ["own-clocks-count", 3],
    ["pool-deletes-claimed", 82]
  ] as const)("%s", async (defect, seed) => {
    const { makeSetting, runHistory } = await patched(defect)
    expect(Effect.runSync(runHistory(Effect.runSync(makeSetting), planOf(seed))).broken).not.toStrictEqual([])
  })
})
