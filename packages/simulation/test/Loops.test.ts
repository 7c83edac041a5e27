/** Background work whose store has failed once: nothing starts it again but itself. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { failEachLoop, makeSetting } from "../src/index.js"

/** Work that is due less often than every ten minutes. */
const rare: ReadonlyArray<string> = [
  "failed_builds_report",
  "forget-host-keys",
  "purge-unused-oauth2-clients",
  "purge_files",
  "seal-build-states",
  "seal-git-keys",
  "template_statistics",
  "user_dormancy"
]

it("all background work goes on after its store has failed once", () => {
  const setting = Effect.runSync(makeSetting)
  const loops = Effect.runSync(failEachLoop(setting, 11 * 60_000))
  expect(loops.length).toBeGreaterThan(30)
  expect(loops.filter(({ again }) => again === undefined).map(({ name }) => name)).toStrictEqual(rare)
})
