/** The same calls on SQLite and on PostgreSQL have the same answers, but for ids, secrets and times. */
import { OrganizationRepository } from "@atelier/core/organizations"
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { Description, type FuzzRequest, kindOf, requestsOf } from "../../../../test/description/fuzz.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { postgres, sqlite } from "../../../../test/store/databases.js"
import { startServer, type TestServer } from "../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"

/** Histories of a run, each on databases of its own. `DIFFERENTIAL_HISTORIES=100 DIFFERENTIAL_SEED=7` makes others. */
const histories = Number(process.env["DIFFERENTIAL_HISTORIES"] ?? 1)
const firstSeed = Number(process.env["DIFFERENTIAL_SEED"] ?? 1)

/** Calls between which people are made anew, since calls end sessions and delete users. */
const perRound = 60
const rounds = 2

/** Ids and names of one kind that calls are made with. */
const maximumKnown = 12

/** Answers that depend on the machine, on time, or on work in the background. */
const excluded =
  /\/debug\/|\/metrics|\/healthz|\/readyz|\/insights\/|\/deployment\/(?:stats|config)|\/updatecheck|\/replicas|\/notifications\/inbox|\/files|\/swagger|\/buildinfo/

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
/** Ids, keys and secrets that a server makes by chance. */
const random = new RegExp(
  [
    uuid,
    "\\b[0-9A-Za-z]{10}-[0-9A-Za-z]{22}\\b",
    '(?<="id":")[0-9A-Za-z]{10}(?=")',
    "\\b[0-9A-Za-z]{64}\\b",
    '(?<=name="csrf_token" value=")[^"]+',
    "(?<=version-)[0-9a-f]{12}",
    "AAAAC3NzaC1lZDI1NTE5[0-9A-Za-z+/]+"
  ].join("|"),
  "g"
)
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** PostgreSQL stores the fields of JSON in an order of its own. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([field, inner]) => [field, sorted(inner)] as const)
      .toSorted()
  )
}

/** One of the two servers, with what it has made by chance, in the order of its first appearance. */
class Side {
  private readonly made: Array<string> = []

  constructor(readonly server: TestServer) {}

  /** A text with numbers for what was made by chance. */
  readonly plain = (text: string): string =>
    text.replaceAll(instant, "TIME").replaceAll(random, (value) => {
      const known = this.made.indexOf(value)
      return `#${known === -1 ? this.made.push(value) - 1 : known}`
    })

  /** A text of this server in the form of the other one's. */
  readonly for = (other: Side, text: string): string => text.replaceAll(random, (value) => other.made[this.made.indexOf(value)] ?? value)

  readonly send = async ({ body, headers, method, target }: FuzzRequest, token: string | undefined) => {
    const response = await this.server.atelier.fetch(
      new Request(`http://atelier.test${target}`, {
        method,
        headers: { ...headers, ...(token === undefined ? {} : { "Service-Session-Token": token }) },
        ...(body === undefined ? {} : { body })
      }),
      { remoteAddress: "192.0.2.1" }
    )
    const type = response.headers.get("content-type") ?? ""
    const isStream = type.startsWith("text/event-stream")
    if (isStream) await response.body?.cancel()
    const text = isStream ? "" : await response.text()
    return { status: response.status, type, text: isJson(type) && text !== "" ? JSON.stringify(sorted(JSON.parse(text))) : text }
  }
}

const isJson = (type: string): boolean => type.startsWith("application/json")

/** Ids and names in an answer, with their kinds. */
const namesIn = function* (value: unknown, kind: string): Generator<readonly [kind: string, name: string]> {
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 3)) yield* namesIn(item, kind)
  } else if (typeof value === "object" && value !== null) {
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner !== "string") yield* namesIn(inner, field.replace(/s$/, ""))
      else if (inner === "" || inner.length > 64) continue
      else if (field === "id" || field === "name" || field === "token_name") yield [kind, inner]
      else if (field === "username") yield ["user", inner]
      else if (field.endsWith("_id")) yield [kindOf(field), inner]
    }
  }
}

/** What shows all that calls have changed. */
const lists = [
  "/users?limit=100",
  "/users?q=a&limit=100",
  "/users?q=status:suspended&limit=100",
  "/users/roles",
  "/users/me/keys/tokens?include_all=true",
  "/users/me/secrets",
  "/organizations",
  "/organizations/default/members",
  "/organizations/default/members/roles",
  "/organizations/default/groups",
  "/organizations/default/provisionerjobs?limit=100",
  "/organizations/default/provisionerkeys",
  "/groups",
  "/templates",
  "/workspaces?q=a&limit=100",
  "/workspaces?q=owner:me&limit=100",
  "/workspaceproxies",
  "/tasks",
  "/oauth2-provider/apps",
  "/notifications/settings",
  "/audit?limit=100",
  "/connectionlog?limit=100"
].map((path): FuzzRequest => ({ operation: `GET ${path}`, method: "GET", target: `/api/v2${path}`, headers: {}, body: undefined }))

/** Stores templates and workspaces, as many as there are names. Returns ids and names by their kinds. */
const contentOf = async ({ plain, server }: Side) => {
  const { id: created_by } = server.owner().user
  const made = await server.run(
    Effect.gen(function* () {
      const organization = yield* Effect.flatMap(OrganizationRepository, (all) => Effect.map(all.default, Option.getOrThrow))
      return yield* Effect.forEach(["b", "a-b", "ab", "A", "a_1"], (name, index) =>
        Effect.gen(function* () {
          const display_name = ["Ärger", "zebra", "Zoë", "", "a b"][index] ?? ""
          const template = yield* storedTemplate({ organization_id: organization.id, created_by, name, display_name })
          const { workspace } = yield* storedWorkspace(template, created_by, { workspace: { name } })
          return { template, workspace }
        })
      )
    })
  )
  plain(JSON.stringify([created_by, server.owner().token, made]))
  const known = new Map<string, Array<string>>([["user", [created_by]]])
  known.set(
    "template",
    made.flatMap(({ template: { id, name } }) => [id, name])
  )
  known.set(
    "templateversion",
    made.map(({ template }) => template.active_version_id)
  )
  known.set(
    "organization",
    made.map(({ template }) => template.organization_id)
  )
  known.set(
    "workspace",
    made.flatMap(({ workspace: { id, name } }) => [id, name])
  )
  return known
}

const callers = ["nobody", "member", "member", "owner", "owner", "owner"] as const

/** Makes a history of calls on both servers. Returns the first that was answered differently. */
const differenceOf = async (seed: number, one: Side, other: Side) => {
  const description = (await one.server.call("GET", "//swagger/doc.json")).as(Description)
  const [known] = await Promise.all([contentOf(one), contentOf(other)])
  let answered = 0
  for (let round = 0; round < rounds; round++) {
    const peopleOf = async ({ plain, server }: Side) => {
      const name = (role: string) => ({ username: `${role}${round}`, email: `${role}${round}@example.com` })
      const owner = await server.aMember({ ...name("owner"), rbac_roles: ["owner"] })
      const member = await server.aMember(name("member"))
      for (const { token, user } of [owner, member]) plain(`${user.id} ${token}`)
      return { owner: owner.token, member: member.token, nobody: undefined }
    }
    const tokens = { one: await peopleOf(one), other: await peopleOf(other) }
    const requests = fc.sample(fc.tuple(requestsOf(description, known), fc.constantFrom(...callers)), {
      seed: seed * 1_000 + round,
      numRuns: perRound
    })
    const reads = lists.map((read) => [read, "owner"] as const)
    for (const [request, caller] of [...requests, ...reads]) {
      if (excluded.test(request.operation)) continue
      const here = await one.send(request, tokens.one[caller])
      const { body, target } = request
      const translated = { ...request, target: one.for(other, target), body: body === undefined ? body : one.for(other, body) }
      const there = await other.send(translated, tokens.other[caller])
      const [shown, same] = [one.plain(here.text), other.plain(there.text)]
      if (here.status !== there.status || here.type !== there.type || shown !== same) {
        const at = Array.from(shown).findIndex((character, index) => character !== same[index])
        const around = (text: string): string => text.slice(Math.max(0, at - 200), at + 200)
        return { request, caller, here: { ...here, text: around(shown) }, there: { ...there, text: around(same) } }
      }
      if (here.status < 300) answered++
      if (here.status >= 300 || !isJson(here.type)) continue
      const part = request.operation.split("/").findLast((segment) => !segment.startsWith("{")) ?? ""
      for (const [kind, name] of namesIn(JSON.parse(here.text), part.replace(/s$/, ""))) {
        const all = known.get(kind) ?? []
        if (!all.includes(name)) known.set(kind, [...all, name].slice(-maximumKnown))
      }
    }
  }
  // A history of refusals shows nothing
  expect(answered).toBeGreaterThan(rounds * 8)
  return undefined
}

it("the answers of both databases agree", { timeout: 60_000 + histories * 60_000 }, async () => {
  // No daemon takes a job, so that what a call finds does not depend on how fast it works
  const options = { entitlements: { has: () => true }, options: { swaggerEnable: true, provisionerDaemons: 0 }, provisioner: testEngines }
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const servers = await Promise.all([startServer(sqlite, options), startServer(postgres, options)])
    try {
      const [one, other] = servers
      expect(await differenceOf(seed, new Side(one), new Side(other)), `DIFFERENTIAL_SEED=${seed}`).toBeUndefined()
    } finally {
      for (const server of servers) await server.close()
    }
  }
})
