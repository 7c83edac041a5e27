import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { isBuilt } from "../../../test/run/built.js"
import { makeSetting, type Plan, planOf, runHistory, shrunk } from "../src/index.js"

/** Histories of a run; `npm run simulate` runs more. */
const histories = Number(process.env["SIMULATED_HISTORIES"] ?? 4)

describe("a simulation", () => {
  const setting = Effect.runSync(makeSetting)

  it("is the same for the same seed", () => {
    const { steps, told, trace } = Effect.runSync(runHistory(setting, planOf(3)))
    expect(Effect.runSync(runHistory(setting, planOf(3)))).toMatchObject({ steps, told, trace })
    expect(told.length).toBeGreaterThan(10)
  })

  it("keeps nothing of a history after its end", () => {
    const before = Fiber.unsafeRoots().length
    Effect.runSync(runHistory(setting, planOf(4)))
    expect(Fiber.unsafeRoots().length).toBe(before)
  })

  it("breaks no invariant", async () => {
    for (let seed = 0; seed < histories; seed++) {
      const { broken, told } = await Effect.runPromise(runHistory(setting, planOf(seed)))
      expect(broken, `npm run simulate -- --seed ${seed} --histories 1\n${told.join("\n")}`).toStrictEqual([])
    }
  })
})

it("a broken plan is shrunk to the actions that break it", () => {
  const whole = planOf(1)
  const needed = [whole.actions[2], whole.actions[7]]
  const isBroken = ({ actions }: Plan): boolean => needed.every((action) => action !== undefined && actions.includes(action))
  expect(shrunk(whole, isBroken).actions).toStrictEqual(needed)
})

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url))

it.skipIf(!isBuilt(program))("the command tells what all of its processes have run", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, "--seed", "1", "--histories", "3", "--workers", "2"])
  expect(stdout).toMatch(/^3 histories, \d+ steps, 0 broken, /)
})
