import { Effect } from "effect"
import { expect, it } from "vitest"
import { appTargets } from "../../src/apps/appTargets.js"

const targetIn = (isAnyHost: boolean, text: string) => {
  const targetOf = appTargets({
    accessUrl: "https://dev.example.com",
    wildcardAccessUrl: "*.apps.example.com",
    proxies: { serving: Effect.succeed([]) },
    isAnyHost
  })
  return Effect.runSync(Effect.map(targetOf(text), (url) => url?.href))
}

it("a session is given to hosts of apps, and with compatibility to each one below the wildcard", () => {
  const app = "https://web--main--first--ada.apps.example.com/"
  const other = "https://blog.apps.example.com/"
  expect([targetIn(false, app), targetIn(true, app)]).toStrictEqual([app, app])
  expect([targetIn(false, other), targetIn(true, other)]).toStrictEqual([undefined, other])
  expect(targetIn(true, "https://a.b.apps.example.com/")).toBeUndefined()
})
