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

  // A change of the sources changes what a seed does: the search begins with the seed that found the defect last
  it.each([
    ["own-clocks-count", 11],
    ["pool-deletes-claimed", 82]
  ] as const)("%s", async (defect, first) => {
    const { makeSetting, runHistory } = await patched(defect)
    const setting = Effect.runSync(makeSetting)
    const isBroken = (seed: number) => Effect.runSync(runHistory(setting, planOf(seed))).broken.length > 0
    const seeds = Array.from({ length: 200 }, (_, index) => first + index)
    expect(seeds.find(isBroken)).toBeDefined()
  })
})
