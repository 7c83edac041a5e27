/**
 * Whoever is no member of an organization cannot tell what is in it from what is nowhere. Requests are made from the interface's own
 * description, so an operation is covered the day it is added: each names things of another organization, is sent once for what is there
 * and once for what is not, and has to be answered alike.
 */
import { OrganizationRepository } from "@atelier/core/organizations"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { aBuild, aWorkspace } from "../../../../test/agentWorkspaces.js"
import { Description, type FuzzRequest, kindOf, requestsOf } from "../../../../test/fuzz.js"
import { aResource, anAgent } from "../../../../test/resources.js"
import { describeServer, type Person, type TestServer } from "../../../../test/server.js"

/** Ids and names of an organization's things, by kind. */
interface Tenant {
  readonly [kind: string]: ReadonlyArray<string>
}

/** Makes the same requests each time, but for ids. */
const seed = 20_261_121

/** Requests that each operation is tried with, by each caller. */
const requestsOfOperation = 3

/** How often a difference has to show itself: the first of two requests may have changed what the second one finds. */
const attempts = 3

const uuid = (): string => crypto.randomUUID()

const Id = Schema.Struct({ id: Schema.String })
const Token = Schema.Struct({ id: Schema.String, token_name: Schema.String })

/** An organization with one of each thing, of a user of its own or of the one given. */
const aTenant = async (server: TestServer, person?: Person): Promise<Tenant> => {
  const owner = server.owner()
  const stored = await server.run(
    Effect.gen(function* () {
      const organization = yield* Effect.flatten((yield* OrganizationRepository).default)
      return yield* aWorkspace(person === undefined ? {} : { owner: person.user, organization })
    })
  )
  const { organization, template, workspace } = stored
  const { agents, build } = await server.run(aBuild(stored, { resources: [aResource({ agents: [anAgent()] })] }))
  const session = await server.call("POST", `/users/${stored.owner.id}/keys`, { token: owner.token })
  const { key: token } = session.as(Schema.Struct({ key: Schema.String }))
  const made = async (path: string, body: object, as = token) => {
    const answer = await server.call("POST", path, { token: as, body })
    expect(answer.status, answer.text).toBe(201)
    return answer
  }
  const [secret, role] = [`secret-${uuid()}`, `role-${uuid().slice(0, 8)}`]
  await made("/users/me/keys/tokens", { token_name: `token-${uuid()}` })
  await made("/users/me/secrets", { name: secret, value: "x", enabled: false })
  const group = await made(`/organizations/${organization.id}/groups`, { name: `group-${uuid()}` }, owner.token)
  await server.call("POST", `/organizations/${organization.id}/members/roles`, { token: owner.token, body: { name: role } })
  const [kept] = (await server.call("GET", "/users/me/keys/tokens", { token })).as(Schema.Array(Token))
  return {
    user: [stored.owner.id, stored.owner.username],
    organization: [organization.id, organization.name],
    group: [group.as(Id).id, group.as(Schema.Struct({ name: Schema.String })).name],
    role: [role],
    template: [template.id, template.name],
    templateversion: [template.active_version_id],
    workspace: [workspace.id, workspace.name],
    workspacebuild: [build.id],
    job: [build.job_id],
    workspaceagent: agents.map(({ id }) => id),
    token: kept === undefined ? [] : [kept.id, kept.token_name],
    secret: [secret]
  }
}

/** As many things that are nowhere. */
const nothingLike = (tenant: Tenant): Tenant =>
  Object.fromEntries(
    Object.entries(tenant).map(([kind, values]) => [
      kind,
      values.map((value) => (isUuid(value) ? uuid() : `${kind}-${uuid()}`.slice(0, value.length)))
    ])
  )

const isUuid = (value: string): boolean => /^[0-9a-f]{8}-/.test(value)

/** What requests name instead of the things of a tenant, until they are sent. */
const placeholdersFor = (tenant: Tenant): Tenant =>
  Object.fromEntries(
    Object.entries(tenant).map(([kind, values], row) => [
      kind,
      values.map((value, column) =>
        isUuid(value) ? `f0000000-0000-7000-8000-${String(row * 10 + column).padStart(12, "0")}` : `placeholder-${kind}-${column}`
      )
    ])
  )

/** Replaces the values of one tenant by those of another. */
const replaced = (text: string, from: Tenant, to: Tenant): string =>
  Object.entries(from).reduce(
    (all, [kind, values]) => values.reduce((inner, value, index) => inner.replaceAll(value, to[kind]?.[index] ?? value), all),
    text
  )

const valuesOf = (tenant: Tenant): ReadonlyArray<string> => Object.values(tenant).flat()

describeServer(
  "the things of another organization",
  (server) => {
    const sent = async (request: FuzzRequest, token: string) => {
      const response = await server().atelier.fetch(
        new Request(`http://atelier.test${request.target}`, {
          method: request.method,
          headers: { "Service-Session-Token": token },
          ...(request.body === undefined ? {} : { body: request.body })
        }),
        { remoteAddress: "192.0.2.1" }
      )
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
      if (isStream) await response.body?.cancel()
      return { status: response.status, text: isStream ? "" : await response.text() }
    }

    it.each([
      ["a member", []],
      ["those who see and manage all of theirs", ["organization-template-admin", "organization-auditor"]]
    ])("look to %s as if they were nowhere, whatever is asked", { timeout: 120_000 }, async (_, roles) => {
      const person = await server().aMember({}, roles)
      const own = await aTenant(server(), person)
      const there = await aTenant(server())
      const nowhere = nothingLike(there)
      const placeholders = placeholdersFor(there)
      const description = (await server().call("GET", "//swagger/doc.json")).as(Description)
      const known = new Map(Object.entries(placeholders).map(([kind, values]) => [kind, [...values, ...values, ...(own[kind] ?? [])]]))
      const namesAThing = ({ body = "", target }: FuzzRequest): boolean =>
        valuesOf(placeholders).some((value) => target.includes(value) || body.includes(value))
      const requests = Object.entries(description.paths).flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, operation]) => {
          const made = requestsOf({ ...description, paths: { [path]: { [method]: operation } } }, known)
          return fc
            .sample(made, { seed: seed + roles.length, numRuns: 4 * requestsOfOperation })
            .filter(namesAThing)
            .slice(0, requestsOfOperation)
        })
      )

      const as = async (request: FuzzRequest, tenant: Tenant) => {
        const target = replaced(request.target, placeholders, tenant)
        const body = request.body === undefined ? undefined : replaced(request.body, placeholders, tenant)
        const answer = await sent({ ...request, target, body }, person.token)
        return { ...answer, target, alike: answer.status < 400 ? "" : replaced(answer.text, tenant, placeholders) }
      }

      const covered = new Set<string>()
      const flaws: Array<object> = []
      for (const request of requests) {
        covered.add(request.operation)
        for (let attempt = 1; attempt <= attempts; attempt++) {
          const real = await as(request, there)
          const unreal = await as(request, nowhere)
          const isAlike = real.status === unreal.status && real.alike === unreal.alike
          const shown = valuesOf(there).filter(
            (value) => real.text.includes(value) && !`${real.target}${replaced(request.body ?? "", placeholders, there)}`.includes(value)
          )
          if (shown.length > 0 || (!isAlike && attempt === attempts)) flaws.push({ ...request, real, unreal, shown })
          if (isAlike) break
        }
      }
      expect(flaws).toStrictEqual([])
      const named = Object.entries(description.paths).flatMap(([path, methods]) => {
        const kinds = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => kindOf(name))
        return kinds.some((kind) => kind in placeholders) ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`) : []
      })
      expect(named.filter((operation) => !covered.has(operation))).toStrictEqual([])
    })
  },
  { swagger: { enable: true }, entitlements: { has: () => true } }
)
