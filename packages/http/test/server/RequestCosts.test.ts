/**
 * What common requests cost, in numbers that do not depend on the machine: the statements and the transactions that the store is asked for, and the traced calls of
 * services. `REQUEST_COSTS=record` takes the present numbers for those of `requestCosts.json`.
 */
import { Option, Tracer } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { testEngines } from "../../../../test/outside/engine.js"
import { type Call, ownerPassword, startServer, type TestServer } from "../../../../test/http/server.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aWorkspace } from "../../../../test/http/workspaceCalls.js"
import { databases } from "../../../../test/store/databases.js"

const file = fileURLToPath(new URL("requestCosts.json", import.meta.url))

interface Cost {
  readonly statements: number
  readonly transactions: number
  readonly calls: number
}

/** A tracer that keeps the names of spans by their trace, and how it tells what a request has cost. */
const counter = () => {
  const traces = new Map<string, Array<string>>()
  const ended: Array<string> = []
  let made = 0
  const tracer = Tracer.make({
    context: (f) => f(),
    span: (name, parent, context, links, startTime, kind) => {
      const traceId = Option.match(parent, { onNone: () => `t${++made}`, onSome: (span) => span.traceId })
      const names = traces.get(traceId) ?? []
      names.push(name)
      traces.set(traceId, names)
      let status: Tracer.SpanStatus = { _tag: "Started", startTime }
      const attributes = new Map<string, unknown>()
      return {
        _tag: "Span",
        name,
        spanId: `s${++made}`,
        traceId,
        parent,
        context,
        attributes,
        links,
        sampled: true,
        kind,
        get status() {
          return status
        },
        end: (endTime, exit) => {
          status = { _tag: "Ended", startTime, endTime, exit }
          if (Option.isNone(parent) && name.startsWith("http.server")) ended.push(traceId)
        },
        attribute: (key, value) => void attributes.set(key, value),
        event: () => undefined,
        addLinks: () => undefined
      }
    }
  })
  /** The cost of the only request that runs. */
  const costOf = async (run: () => Promise<unknown>): Promise<Cost> => {
    ended.length = 0
    await run()
    while (ended.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const names = ended.flatMap((traceId) => traces.get(traceId) ?? [])
    traces.clear()
    const transactions = names.filter((name) => name === "sql.transaction").length
    const statements = names.filter((name) => name === "sql.execute").length
    return { statements, transactions, calls: names.length - statements - transactions - ended.length }
  }
  return { tracer, costOf }
}

/** The requests by their names. Each is sent twice: the second one counts, since the first one may load what later ones use. */
const requestsOf = async (server: TestServer): Promise<Readonly<Record<string, () => Promise<unknown>>>> => {
  const { token, user } = server.owner()
  const template = await aTemplate(server)
  const workspace = await aWorkspace(server, template, server.owner())
  for (let count = 1; count < 5; count++) await aWorkspace(server, template, server.owner())
  const person = await server.aPerson({ fields: {}, password: ownerPassword, organizationRoles: [] })
  const { latest_build: build } = workspace
  let made = 0
  const of =
    (method: "GET" | "POST" | "PUT", path: string, more: () => Omit<Call, "token"> = () => ({})) =>
    async (): Promise<void> => {
      const answer = await server.call(method, path, { token, ...more() })
      if (answer.status >= 400) throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`)
    }
  const check = { object: { resource_type: "workspace", organization_id: workspace.organization_id }, action: "read" }
  return {
    "the build's version": of("GET", "/buildinfo"),
    "the caller": of("GET", "/users/me"),
    "a page of users": of("GET", "/users?limit=25"),
    "an organization's members": of("GET", `/organizations/${workspace.organization_id}/members`),
    "the caller's organizations": of("GET", "/users/me/organizations"),
    "a page of all workspaces": of("GET", "/workspaces?limit=25"),
    "the caller's own workspaces": of("GET", "/workspaces?q=owner:me"),
    "a workspace": of("GET", `/workspaces/${workspace.id}`),
    "a workspace by its name": of("GET", `/users/me/workspace/${workspace.name}`),
    "a workspace's builds": of("GET", `/workspaces/${workspace.id}/builds`),
    "a build": of("GET", `/workspacebuilds/${build.id}`),
    "a build's logs": of("GET", `/workspacebuilds/${build.id}/logs`),
    "a build's parameters": of("GET", `/workspacebuilds/${build.id}/parameters`),
    templates: of("GET", "/templates"),
    "a template": of("GET", `/templates/${template.id}`),
    "a template's version": of("GET", `/templateversions/${template.active_version_id}`),
    "the audit log": of("GET", "/audit?limit=25"),
    "the inbox": of("GET", "/notifications/inbox"),
    "checks of permissions": of("POST", "/authcheck", () => ({ body: { checks: { one: check, other: check } } })),
    "a new token": of("POST", "/users/me/keys/tokens", () => ({ body: { token_name: `t${++made}` } })),
    "the caller's tokens": of("GET", "/users/me/keys/tokens"),
    "a login": of("POST", "/users/login", () => ({ body: { email: person.user.email, password: ownerPassword } })),
    "a change of a workspace's schedule": of("PUT", `/workspaces/${workspace.id}/ttl`, () => ({
      body: { ttl_ms: 3_600_000 + 60_000 * ++made }
    })),
    "a session that does not exist": async () =>
      void (await server.call("GET", `/users/${user.id}`, { token: "0123456789-0123456789012345678912" }))
  }
}

it.each(databases)("common requests cost what is recorded on %s", async (kind, storage) => {
  const { costOf, tracer } = counter()
  const server = await startServer(storage, { tracing: tracer, provisioner: testEngines, options: { autobuildPollInterval: "1 day" } })
  const costs: Record<string, Cost> = {}
  for (const [name, request] of Object.entries(await requestsOf(server))) {
    await costOf(request)
    costs[name] = await costOf(request)
  }
  await server.close()
  const recorded = JSON.parse(readFileSync(file, "utf8"))
  if (process.env["REQUEST_COSTS"] === "record") {
    writeFileSync(file, `${JSON.stringify({ ...recorded, [kind]: costs }, null, 2)}\n`)
    return
  }
  expect(costs).toEqual(recorded[kind])
})
