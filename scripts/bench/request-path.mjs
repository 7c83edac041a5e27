// Compares our request path with HttpApiBuilder's: `npm run build && node scripts/bench/request-path.mjs [requests]`.
// One endpoint without a credential, `GET /api/v2/buildinfo`, is called in this process. Processor time is counted, so other load does not matter
// much; the least of several rounds is shown.
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpServer from "@effect/platform/HttpServer"
import { Effect, Layer, Schema } from "effect"
import { Atelier } from "@atelier/http"
import { Sqlite } from "@atelier/storage-sqlite"

const requests = Number(process.argv[2] ?? 3000)
const rounds = 7

const atelier = await Atelier.make({
  accessUrl: "http://127.0.0.1:3000",
  storage: Sqlite.layer({ filename: ":memory:" }),
  logLevel: "none",
  options: { dangerousDisableRateLimits: true }
})
const url = "http://127.0.0.1:3000/api/v2/buildinfo"
const answer = await (await atelier.fetch(new Request(url))).json()

const BuildInfo = Schema.Struct(
  Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, typeof value === "boolean" ? Schema.Boolean : Schema.String]))
)
const Bare = HttpApi.make("bare").add(
  HttpApiGroup.make("general").add(HttpApiEndpoint.get("buildInfo", "/api/v2/buildinfo").addSuccess(BuildInfo))
)
const handlers = HttpApiBuilder.group(Bare, "general", (all) => all.handle("buildInfo", () => Effect.succeed(answer)))
const bare = HttpApiBuilder.toWebHandler(Layer.mergeAll(HttpApiBuilder.api(Bare).pipe(Layer.provide(handlers)), HttpServer.layerContext))

/** Microseconds of processor time per request. */
const measure = async (fetch) => {
  const before = process.cpuUsage()
  for (let count = 0; count < requests; count++) {
    const response = await fetch(new Request(url))
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    await response.arrayBuffer()
  }
  const { system, user } = process.cpuUsage(before)
  return (user + system) / requests
}

const results = { "our request path": [], HttpApiBuilder: [] }
for (let round = 0; round < rounds; round++) {
  results["our request path"].push(await measure(atelier.fetch))
  results.HttpApiBuilder.push(await measure(bare.handler))
}
for (const [name, times] of Object.entries(results))
  console.log(`${name}: ${Math.min(...times).toFixed(0)} µs of processor time per request`)
await bare.dispose()
await atelier.dispose()
