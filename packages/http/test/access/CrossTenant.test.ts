/**
 * A caller outside an organization cannot tell its contents from what does not exist. The interface's own description yields the requests,
 * so a new operation is covered at once: each request names things of another organization, is sent once with existing and once with
 * missing ids, and must get the same answer. An operation whose requests are all refused for their form proves nothing and needs an
 * example.
 */
import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { TaskRepository } from "@atelier/core/tasks"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { aTar } from "../../../../test/records/archives.js"
import { aBuild, aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { Description, type FuzzRequest, kindOf, requestsOf } from "../../../../test/description/fuzz.js"
import { aHostProvider } from "../../../../test/outside/hostLogins.js"
import { type Example, plainRequestsOf } from "../../../../test/description/plainRequests.js"
import { aResource, anAgent } from "../../../../test/records/resources.js"
import { fileIdOf, upload } from "../../../../test/http/templates.js"
import { describeInterface, type Person, type TestServer } from "../../../../test/http/server.js"

/** Ids and names of an organization's things, by kind. */
interface Tenant {
  readonly [kind: string]: ReadonlyArray<string>
}

/** Makes the same requests each time, but for ids. */
const seed = 20_261_121

/** Random requests by each caller for each operation, in addition to the built ones. */
const requestsOfOperation = 1

/** How often a difference has to show itself: the first of two requests may have changed what the second one finds. */
const attempts = 3

/** What names the things that requests are about where a description does not say it. */
const examplesOf = (tenant: Tenant): Readonly<Record<string, ReadonlyArray<Example>>> => {
  const id = (kind: string) => tenant[kind]?.[0] ?? ""
  const name = (kind: string) => tenant[kind]?.at(-1) ?? ""
  const searches = (...terms: ReadonlyArray<string>) => terms.map((q) => ({ query: `q=${encodeURIComponent(q)}` }))
  const check = (resource_type: string) => ({ object: { resource_type, resource_id: id(resource_type) }, action: "read" })
  const newWorkspace = { body: { name: "another", template_id: id("template") } }
  return {
    "POST /api/v2/authcheck": [
      {
        body: {
          checks: {
            ...Object.fromEntries(["workspace", "template", "user", "group"].map((type) => [type, check(type)])),
            organization: { object: { resource_type: "template", organization_id: id("organization") }, action: "create" }
          }
        }
      }
    ],
    "POST /api/v2/users": [
      {
        body: {
          email: "somebody@example.com",
          username: "somebody",
          password: "SomeSecurePassword!",
          organization_ids: [id("organization")]
        }
      }
    ],
    "POST /api/v2/users/{user}/convert-login": [{ body: { to_type: "oidc", password: "SomeSecurePassword!" } }],
    "GET /api/v2/workspaceagents/{workspaceagent}/tcp": [{ query: "port=8080" }],
    ...Object.fromEntries(
      ["DELETE", "GET", "HEAD", "PUT"].map((method) => [`${method} /api/v2/workspaceagents/{workspaceagent}/files`, [{ query: "path=x" }]])
    ),
    ...Object.fromEntries(
      ["GET archive", "PUT archive", "GET find", "GET list", "GET stat", "GET watch"].map((each) => [
        each.replace(" ", " /api/v2/workspaceagents/{workspaceagent}/files/"),
        [{ query: "path=x" }]
      ])
    ),
    "GET /api/v2/groups": [{ query: `group_ids=${id("group")}` }],
    "PATCH /api/v2/settings/idpsync/organization": [{ body: { field: "orgs", mapping: { a: [id("organization")] } } }],
    "PATCH /api/v2/settings/idpsync/organization/mapping": [{ body: { Add: [{ Given: "a", Gets: id("organization") }] } }],
    "GET /api/v2/organizations/{organization}/settings/idpsync/field-values": [{ query: "claimField=groups" }],
    "PATCH /api/v2/templates/{template}/versions": [{ body: { id: id("templateversion") } }],
    "GET /api/v2/users": searches(name("user"), `username:${name("user")}`),
    "GET /api/v2/templates": searches(name("template"), `organization:${name("organization")}`, `organization:${id("organization")}`),
    "GET /api/v2/workspaces": searches(
      `owner:${name("user")}`,
      `template:${name("template")}`,
      `organization:${name("organization")}`,
      `organization:${id("organization")}`,
      `name:${name("workspace")}`
    ),
    "GET /api/v2/tasks": searches(`owner:${name("user")}`, `organization:${id("organization")}`),
    "POST /api/v2/tasks/{user}": [{ body: { template_version_id: id("templateversion"), input: "do it" } }],
    "PATCH /api/v2/tasks/{user}/{task}/input": [{ body: { input: "do it" } }],
    "POST /api/v2/tasks/{user}/{task}/send": [{ body: { input: "do it" } }],
    "POST /api/v2/users/{user}/workspaces": [newWorkspace],
    "POST /api/v2/organizations/{organization}/members/{user}/workspaces": [newWorkspace],
    "POST /api/v2/workspaces/{workspace}/builds": [{ body: { transition: "stop" } }]
  }
}

/** Statuses of requests that were refused for their form, before their ids were looked up. */
const formOnly = new Set([400, 401, 413, 415, 426])

/** An operation that answers 403 to callers without the right to read claims, before it looks for the user. */
const refusedFirst = "GET /api/v2/debug/{user}/debug-link"

const operationsOf = ({ paths }: typeof Description.Type): ReadonlyArray<string> =>
  Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))

/** What names nothing of an organization, and why it need not. */
const excused: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    "is for anybody, and about no organization": [
      "DELETE /api/v2/ai/providers/{idOrName}",
      "DELETE /api/v2/licenses/{id}",
      "GET /.well-known/oauth-authorization-server",
      "GET /.well-known/oauth-protected-resource",
      "GET /api/v2",
      "GET /api/v2/ai/providers",
      "GET /api/v2/ai/providers/{idOrName}",
      "GET /api/v2/appearance",
      "GET /api/v2/applications/auth-redirect",
      "GET /api/v2/applications/host",
      "GET /api/v2/auth/scopes",
      "GET /api/v2/buildinfo",
      "GET /api/v2/deployment/config",
      "GET /api/v2/deployment/ssh",
      "GET /api/v2/derp-map",
      "GET /api/v2/entitlements",
      "GET /api/v2/experiments",
      "GET /api/v2/experiments/available",
      "GET /api/v2/init-script/{os}/{arch}",
      "GET /api/v2/licenses",
      "GET /api/v2/regions",
      "GET /api/v2/replicas",
      "GET /api/v2/tailnet",
      "GET /api/v2/templatebuilder/bases",
      "GET /api/v2/templatebuilder/modules",
      "GET /api/v2/updatecheck",
      "GET /api/v2/users/authmethods",
      "GET /api/v2/users/first",
      "GET /api/v2/workspaceagents/connection",
      "GET /bin/{name}",
      "GET /healthz",
      "GET /healthz/details",
      "GET /latency-check",
      "GET /readyz",
      "PATCH /api/v2/ai/providers/{idOrName}",
      "POST /api/v2/ai/providers",
      "POST /api/v2/csp/reports",
      "POST /api/v2/deployment/premium-funnel-events",
      "POST /api/v2/licenses",
      "POST /api/v2/licenses/refresh-entitlements",
      "POST /api/v2/licenses/trial",
      "POST /api/v2/users/validate-password",
      "POST /oauth2/register",
      "PUT /api/v2/appearance",
      "PUT /api/v2/debug/health/settings",
      "POST /api/v2/templatebuilder/compose",
      "POST /api/v2/templatebuilder/sessions"
    ],
    "is about the proxies of the whole deployment, or is for themselves": [
      "DELETE /api/v2/workspaceproxies/{workspaceproxy}",
      "GET /api/v2/workspaceproxies",
      "GET /api/v2/workspaceproxies/me/coordinate",
      "GET /api/v2/workspaceproxies/me/crypto-keys",
      "GET /api/v2/workspaceproxies/{workspaceproxy}",
      "PATCH /api/v2/workspaceproxies/{workspaceproxy}",
      "POST /api/v2/workspaceproxies",
      "POST /api/v2/workspaceproxies/me/app-stats",
      "POST /api/v2/workspaceproxies/me/deregister",
      "POST /api/v2/workspaceproxies/me/issue-signed-app-token",
      "POST /api/v2/workspaceproxies/me/register"
    ],
    "names an instance only with the proof of its cloud": [
      "POST /api/v2/workspaceagents/aws-instance-identity",
      "POST /api/v2/workspaceagents/azure-instance-identity",
      "POST /api/v2/workspaceagents/google-instance-identity"
    ],
    "names an agent only below the address of a proxy, as the tests of signed tokens show": [
      "POST /api/v2/applications/reconnecting-pty-signed-token"
    ],
    "is about the whole deployment, for those who may read it": [
      "GET /api/v2/audit",
      "GET /api/v2/connectionlog",
      "GET /api/v2/debug/coordinator",
      "GET /api/v2/debug/expvar",
      "GET /api/v2/debug/pprof",
      "GET /api/v2/debug/pprof/cmdline",
      "GET /api/v2/debug/pprof/heap",
      "GET /api/v2/debug/pprof/profile",
      "GET /api/v2/debug/pprof/symbol",
      "POST /api/v2/debug/profile",
      "GET /api/v2/debug/derp/traffic",
      "GET /api/v2/debug/health",
      "GET /api/v2/debug/health/settings",
      "GET /api/v2/debug/metrics",
      "GET /api/v2/debug/ws",
      "GET /api/v2/debug/tailnet",
      "GET /api/v2/deployment/stats",
      "GET /api/v2/insights/daus",
      "GET /api/v2/insights/templates",
      "GET /api/v2/insights/user-activity",
      "GET /api/v2/insights/user-latency",
      "GET /api/v2/insights/user-status-counts"
    ],
    "is about apps, which belong to the whole deployment": [
      "DELETE /oauth2/tokens",
      "GET /oauth2/authorize",
      "GET /oauth2/device",
      "POST /oauth2/device",
      "POST /oauth2/authorize",
      "DELETE /api/v2/oauth2-provider/apps/{app}",
      "DELETE /api/v2/oauth2-provider/apps/{app}/secrets/{secretID}",
      "GET /api/v2/oauth2-provider/apps/{app}",
      "GET /api/v2/oauth2-provider/apps/{app}/secrets",
      "GET /api/v2/oauth2-provider/settings",
      "POST /api/v2/oauth2-provider/apps",
      "POST /api/v2/oauth2-provider/apps/{app}/secrets",
      "PUT /api/v2/oauth2-provider/apps/{app}",
      "PUT /api/v2/oauth2-provider/settings"
    ],
    "is asked for with a credential of another kind": [
      "DELETE /oauth2/clients/{client_id}",
      "GET /oauth2/clients/{client_id}",
      "POST /oauth2/device_authorization",
      "POST /oauth2/introspect",
      "POST /oauth2/par",
      "POST /oauth2/revoke",
      "POST /oauth2/tokens",
      "PUT /oauth2/clients/{client_id}",
      "GET /api/v2/users/oauth2/github/callback",
      "GET /api/v2/users/oauth2/github/device",
      "GET /api/v2/users/oidc/callback",
      "GET /api/v2/workspaceagents/me/external-auth",
      "GET /api/v2/workspaceagents/me/gitauth",
      "GET /api/v2/workspaceagents/me/gitsshkey",
      "GET /api/v2/provisionerkeys/{provisionerkey}",
      "GET /api/v2/workspaceagents/me/reinit",
      "GET /api/v2/workspaceagents/me/rpc",
      "PATCH /api/v2/workspaceagents/me/app-status",
      "PATCH /api/v2/workspaceagents/me/logs",
      "POST /api/v2/users/login",
      "POST /api/v2/users/otp/change-password",
      "POST /api/v2/users/otp/request",
      "POST /api/v2/workspaceagents/me/log-source",
      "POST /api/v2/workspaceagents/me/tasks/{task}/log-snapshot"
    ],
    "refuses names of things that the caller cannot read as it refuses unknown ones": ["GET /api/v2/tasks"],
    "is about the caller alone, or the deployment as a whole": [
      "GET /api/v2/notifications/dispatch-methods",
      "GET /api/v2/notifications/inbox",
      "GET /api/v2/notifications/inbox/watch",
      "GET /api/v2/notifications/settings",
      "GET /api/v2/prebuilds/settings",
      "GET /api/v2/notifications/templates/custom",
      "GET /api/v2/notifications/templates/system",
      "POST /api/v2/notifications/custom",
      "POST /api/v2/notifications/test",
      "PUT /api/v2/notifications/inbox/mark-all-as-read",
      "PUT /api/v2/notifications/inbox/{id}/read-status",
      "PUT /api/v2/notifications/settings",
      "PUT /api/v2/prebuilds/settings",
      "PUT /api/v2/notifications/templates/{notification_template}/method"
    ],
    "is about the caller alone": [
      "DELETE /api/v2/external-auth/{externalauth}",
      "GET /api/v2/external-auth",
      "GET /api/v2/external-auth/{externalauth}",
      "GET /api/v2/external-auth/{externalauth}/device",
      "POST /api/v2/external-auth/{externalauth}/device",
      "GET /api/v2/users/oidc-claims",
      "POST /api/v2/files",
      "POST /api/v2/users/logout"
    ],
    "names nothing that is there: what it answers is a matter of the lists": [
      "GET /api/experimental/watch-all-workspacebuilds",
      "GET /api/v2/organizations",
      "GET /api/v2/settings/idpsync/available-fields",
      "GET /api/v2/settings/idpsync/field-values",
      "GET /api/v2/settings/idpsync/organization",
      "GET /api/v2/templates/examples",
      "GET /api/v2/users/roles",
      "PATCH /api/v2/settings/idpsync/organization/config",
      "POST /api/v2/organizations"
    ]
  }).flatMap(([reason, operations]) => operations.map((operation) => [operation, reason]))
)

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
  // Requests for an agent that may still connect wait for it
  const agent = anAgent({ connection_timeout_seconds: 1 })
  const { agents, build } = await server.run(aBuild(stored, { resources: [aResource({ agents: [agent] })] }))
  const session = await server.call("POST", `/users/${stored.owner.id}/keys`, { token: owner.token })
  const { key: token } = session.as(Schema.Struct({ key: Schema.String }))
  const made = async (path: string, body: object, as = token) => {
    const answer = await server.call("POST", path, { token: as, body })
    expect(answer.status, answer.text).toBe(201)
    return answer
  }
  const task = {
    id: Uuid.Uuid.make(uuid()),
    created_at: workspace.created_at,
    organization_id: organization.id,
    owner_id: stored.owner.id,
    name: `task-${uuid().slice(0, 8)}`,
    display_name: "",
    workspace_id: workspace.id,
    template_version_id: template.active_version_id,
    prompt: "",
    deleted_at: null
  }
  await server.run(Effect.flatMap(TaskRepository, ({ insert }) => insert(task)))
  const [secret, role] = [`secret-${uuid()}`, `role-${uuid().slice(0, 8)}`]
  await made("/users/me/keys/tokens", { token_name: `token-${uuid()}` })
  await made("/users/me/secrets", { name: secret, value: "x", enabled: false })
  const blob = Buffer.concat([Buffer.from("\0\0\0\vssh-ed25519\0\0\0 "), crypto.getRandomValues(new Uint8Array(32))])
  const sshKey = await made("/users/me/ssh-keys", { public_key: `ssh-ed25519 ${blob.toString("base64")}` })
  const group = await made(`/organizations/${organization.id}/groups`, { name: `group-${uuid()}` }, owner.token)
  await server.call("POST", `/organizations/${organization.id}/members/roles`, { token: owner.token, body: { name: role } })
  const [kept] = (await server.call("GET", "/users/me/keys/tokens", { token })).as(Schema.Array(Token))
  const version = await server.call("GET", `/templateversions/${template.active_version_id}`, { token: owner.token })
  const file = await upload(server, await aTar({ "main.tf": uuid() }), { token })
  return {
    user: [stored.owner.id, stored.owner.username],
    organization: [organization.id, organization.name],
    group: [group.as(Id).id, group.as(Schema.Struct({ name: Schema.String })).name],
    role: [role],
    template: [template.id, template.name],
    templateversion: [template.active_version_id, version.as(Schema.Struct({ name: Schema.String })).name],
    file: [fileIdOf(file)],
    workspace: [workspace.id, workspace.name],
    task: [task.id, task.name],
    workspacebuild: [build.id],
    job: [build.job_id],
    workspaceagent: agents.map(({ id }) => id),
    token: kept === undefined ? [] : [kept.id, kept.token_name],
    sshkey: [sshKey.as(Id).id],
    secret: [secret]
  }
}

/** As many things that are nowhere. */
const nothingLike = (tenant: Tenant): Tenant =>
  Object.fromEntries(
    Object.entries(tenant).map(([kind, values]) => [
      kind,
      // A text without a digit would be taken for a route's word where an id is expected
      values.map((value) => (isUuid(value) ? uuid() : `${kind}-9${uuid()}`.slice(0, value.length)))
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

/** A page without the token of its form, which is masked anew in each. */
const unmasked = (text: string): string => text.replaceAll(/(name="csrf_token" value=")[^"]*/g, "$1")

const valuesOf = (tenant: Tenant): ReadonlyArray<string> => Object.values(tenant).flat()

// What a database finds is a matter of the lists' tests, on each: here the rights decide
describeInterface(
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
    ])("look to %s as if they were nowhere, whatever is asked", async (_, roles) => {
      const person = await server().aMember({}, roles)
      const own = await aTenant(server(), person)
      const there = await aTenant(server())
      const nowhere = nothingLike(there)
      const placeholders = placeholdersFor(there)
      const served = (await server().call("GET", "//swagger/doc.json")).as(Description)
      // SCIM providers use a key of the deployment, which belongs to no user
      const paths = Object.fromEntries(Object.entries(served.paths).filter(([path]) => !path.startsWith("/scim/")))
      const description = { ...served, paths }
      const known = new Map(Object.entries(placeholders).map(([kind, values]) => [kind, [...values, ...values, ...(own[kind] ?? [])]]))
      const namesAThing = ({ body = "", target }: FuzzRequest): boolean =>
        valuesOf(placeholders).some((value) => target.includes(value) || body.includes(value))
      const plain = plainRequestsOf(description, new Map(Object.entries(placeholders)), examplesOf(placeholders)).filter(namesAThing)
      const fuzzed = Object.entries(description.paths).flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, operation]) => {
          const made = requestsOf({ ...description, paths: { [path]: { [method]: operation } } }, known)
          return fc
            .sample(made, { seed: seed + roles.length, numRuns: 8 * requestsOfOperation })
            .filter(namesAThing)
            .slice(0, requestsOfOperation)
        })
      )

      const as = async (request: FuzzRequest, tenant: Tenant) => {
        const target = replaced(request.target, placeholders, tenant)
        const body = request.body === undefined ? undefined : replaced(request.body, placeholders, tenant)
        const answer = await sent({ ...request, target, body }, person.token)
        // Another organization's ids and unknown ids must not appear in answers; a fuzzed request may name the caller's own
        const isCompared = answer.status >= 400 || plain.includes(request)
        return { ...answer, target, alike: isCompared ? replaced(unmasked(answer.text), tenant, placeholders) : "" }
      }

      const statuses = new Map<string, Set<number>>(operationsOf(description).map((operation) => [operation, new Set()]))
      const violations: Array<object> = []
      for (const request of [...plain, ...fuzzed]) {
        for (let attempt = 1; attempt <= attempts; attempt++) {
          const real = await as(request, there)
          const unreal = await as(request, nowhere)
          if (plain.includes(request)) statuses.get(request.operation)?.add(real.status)
          const isAlike = real.status === unreal.status && real.alike === unreal.alike
          const shown = valuesOf(there).filter(
            (value) => real.text.includes(value) && !`${real.target}${replaced(request.body ?? "", placeholders, there)}`.includes(value)
          )
          if (shown.length > 0 || (!isAlike && attempt === attempts)) violations.push({ ...request, real, unreal, shown })
          if (isAlike) break
        }
      }
      expect(violations).toStrictEqual([])
      const unasked = [...statuses]
        .filter(([, found]) => [...found].every((status) => formOnly.has(status)))
        .map(([operation]) => operation)
      expect(unasked.toSorted()).toStrictEqual(Object.keys(excused).toSorted())
      const named = operationsOf(description).filter((operation) =>
        [...operation.matchAll(/\{(\w+)\}/g)].some(([, name = ""]) => kindOf(name) in placeholders)
      )
      const isUnseen = (operation: string): boolean => statuses.get(operation)?.has(operation === refusedFirst ? 403 : 404) === true
      expect(named.filter((operation) => !isUnseen(operation) && !(operation in excused))).toStrictEqual([])
    })
  },
  { options: { swaggerEnable: true }, entitlements: { has: () => true }, loginProviders: [aHostProvider()] }
)
