/** Spans on their way to an OpenTelemetry receiver, which this file is. */
import { OtlpTracer } from "@atelier/node"
import { Schema } from "effect"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { json } from "node:stream/consumers"
import { afterAll, beforeAll, expect, it } from "vitest"
import { databases } from "../../../../test/store/databases.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { startServer } from "../../../../test/http/server.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aWorkspace } from "../../../../test/http/workspaceCalls.js"

const Attribute = Schema.Struct({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Schema.Unknown }) })

const Span = Schema.Struct({
  traceId: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{32}$/)),
  spanId: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{16}$/)),
  parentSpanId: Schema.optional(Schema.String),
  name: Schema.String,
  kind: Schema.Number,
  startTimeUnixNano: Schema.String.pipe(Schema.pattern(/^\d{19}$/)),
  endTimeUnixNano: Schema.String.pipe(Schema.pattern(/^\d{19}$/)),
  attributes: Schema.Array(Attribute),
  status: Schema.optional(Schema.Struct({ code: Schema.Number, message: Schema.optional(Schema.String) }))
})

const Message = Schema.Struct({
  resourceSpans: Schema.Array(
    Schema.Struct({
      resource: Schema.Struct({ attributes: Schema.Array(Attribute) }),
      scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) }))
    })
  )
})

let receiver: Server
let url: string
let status = 200
const bodies: Array<string> = []
const keys: Array<string | undefined> = []

const spans = () =>
  bodies.flatMap((body) =>
    Schema.decodeUnknownSync(Schema.parseJson(Message))(body).resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap((scope) => scope.spans)
    )
  )

beforeAll(async () => {
  receiver = createServer((request, response) => {
    void json(request).then((body) => {
      bodies.push(JSON.stringify(body))
      keys.push(request.headers["x-test-key"]?.toString())
      response.writeHead(status, { "content-type": "application/json" }).end("{}")
    })
  }).listen(0, "127.0.0.1")
  await once(receiver, "listening")
  const address = receiver.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  url = `http://127.0.0.1:${address.port}/v1/traces`
})

afterAll(() => {
  receiver.closeAllConnections()
  receiver.close()
})

it.each(databases)("requests, statements, jobs and deliveries reach the receiver on %s", async (_, storage) => {
  bodies.length = 0
  const { close, tracer } = OtlpTracer.make({ url, service: "test", headers: { "x-test-key": "k" } })
  const server = await startServer(storage, { tracing: tracer, provisioner: testEngines })
  const owner = server.owner()
  await server.call("GET", `/users/me?service_session_token=${owner.token}`)
  await aWorkspace(server, await aTemplate(server), owner)
  expect((await server.call("POST", "/notifications/test", { token: owner.token })).status).toBe(204)
  const unread = async () =>
    (await server.call("GET", "/notifications/inbox", { token: owner.token })).as(Schema.Struct({ unread_count: Schema.Number }))
      .unread_count
  while ((await unread()) === 0) await new Promise((resolve) => setImmediate(resolve))
  await server.close()
  await close()

  expect(new Set(keys)).toEqual(new Set(["k"]))
  const all = spans()
  const named = (name: string) => all.filter((span) => span.name === name)
  expect([named("provisioner.job").length, named("notification.deliver").length > 0]).toEqual([2, true])
  const requests = named("http.server GET")
  const me = requests.find(({ attributes }) =>
    attributes.some(({ key, value }) => key === "http.route" && value["stringValue"] === "/api/v2/users/:user")
  )
  expect(me).toMatchObject({ kind: 2, status: { code: 1 } })
  const statements = all.filter(({ name, traceId }) => name === "sql.execute" && traceId === me?.traceId)
  expect(statements.length).toBeGreaterThan(0)
  // Neither headers nor queries, which carry credentials
  expect(bodies.join("")).not.toContain(owner.token)
})

it("a receiver that refuses costs its spans and nothing else", async () => {
  status = 500
  bodies.length = 0
  const { flush, tracer } = OtlpTracer.make({ url, service: "test" })
  const [, storage] = databases[0]
  const server = await startServer(storage, { tracing: tracer, empty: true })
  expect((await server.call("GET", "/buildinfo")).status).toBe(200)
  await flush()
  status = 200
  const refused = bodies.length
  await server.call("GET", "/users/first")
  await server.close()
  await flush()
  expect([refused > 0, spans().some(({ name }) => name === "http.server GET")]).toEqual([true, true])
})

it("the span of server-sent events ends with the stream, and not with its head", async () => {
  bodies.length = 0
  const { flush, tracer } = OtlpTracer.make({ url, service: "test" })
  const [, storage] = databases[0]
  const server = await startServer(storage, { tracing: tracer, provisioner: testEngines })
  const owner = server.owner()
  const workspace = await aWorkspace(server, await aTemplate(server), owner)
  const watches = () =>
    spans().filter(({ attributes }) =>
      attributes.some(({ key, value }) => key === "http.route" && value["stringValue"] === "/api/v2/workspaces/:workspace/watch")
    )
  const client = new AbortController()
  const answer = await fetch(`${server.url}/api/v2/workspaces/${workspace.id}/watch`, {
    headers: { "Service-Session-Token": owner.token },
    signal: client.signal
  })
  expect(answer.headers.get("content-type")).toBe("text/event-stream")
  await answer.body?.getReader().read()
  // A later request has its span
  await server.call("GET", "/buildinfo")
  await flush()
  expect(watches()).toEqual([])
  client.abort()
  await server.close()
  await flush()
  expect(watches()).toMatchObject([{ status: { code: 1 } }])
})
