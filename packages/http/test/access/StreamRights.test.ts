import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import { Postgres } from "@atelier/storage-postgres"
import { Context, Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { aBuild, aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { databaseUrl } from "../../../../test/store/databases.js"
import { type Person, startServer, type TestServer } from "../../../../test/http/server.js"
import { aWaitingJob } from "../../../../test/records/jobs.js"
import { storedVersion } from "../../../../test/records/workspaces.js"
import { Contract } from "../../src/contract/Contract.js"
import { Streaming } from "../../src/contract/annotations.js"
import { aClient, refresh, someTokens } from "../oauth2/OAuthClient.js"
import { type AgentServer, describeAgents, type RunningAgent } from "../agents/AgentServer.js"

/** What the streams of a test are about. */
interface Objects {
  readonly agent: RunningAgent
  /** A build whose job runs. */
  readonly build: string
  /** A version whose import runs. */
  readonly version: string
  /** A version whose import has ended, and a dry run of it that runs. */
  readonly imported: string
  readonly dryRun: string
}

/** Every operation that streams to users, by its name in the contract: where it is, and how it answers. */
const ofUsers: Readonly<Record<string, { readonly path: (objects: Objects) => string; readonly as: "socket" | "events" }>> = {
  watchWorkspace: { path: ({ agent }) => `/workspaces/${agent.workspace.id}/watch`, as: "events" },
  watchWorkspaceSocket: { path: ({ agent }) => `/workspaces/${agent.workspace.id}/watch-ws`, as: "socket" },
  watchAgentConnection: { path: ({ agent }) => `/workspaces/${agent.workspace.id}/agent-connection-watch`, as: "socket" },
  watchAgentMetadata: { path: ({ agent }) => `/workspaceagents/${agent.id}/watch-metadata`, as: "events" },
  watchAgentMetadataSocket: { path: ({ agent }) => `/workspaceagents/${agent.id}/watch-metadata-ws`, as: "socket" },
  getAgentLogs: { path: ({ agent }) => `/workspaceagents/${agent.id}/logs?follow`, as: "socket" },
  getAgentStartupLogs: { path: ({ agent }) => `/workspaceagents/${agent.id}/startup-logs?follow`, as: "socket" },
  getWorkspaceBuildLogs: { path: ({ build }) => `/workspacebuilds/${build}/logs?follow`, as: "socket" },
  getTemplateVersionLogs: { path: ({ version }) => `/templateversions/${version}/logs?follow`, as: "socket" },
  getDryRunLogs: { path: ({ dryRun, imported }) => `/templateversions/${imported}/dry-run/${dryRun}/logs?follow`, as: "socket" },
  openDynamicParameters: { path: ({ imported }) => `/templateversions/${imported}/dynamic-parameters`, as: "socket" }
}

/** All streams of a caller depend on the caller's account; these depend on no other object. */
const ofCallers: typeof ofUsers = {
  watchInboxNotifications: { path: () => "/notifications/inbox/watch", as: "socket" },
  watchRelayMap: { path: () => "/derp-map", as: "socket" },
  connectToNetwork: { path: () => "/tailnet", as: "socket" }
}

const everyStream = { ...ofUsers, ...ofCallers }

/** Those that stream to agents. Their tokens do not depend on what becomes of the owner's account. agents-and-apps.md §1. */
const ofAgents = ["connectAgent", "getAgentReinitialization"]

/**
 * Those that an agent's own connection carries: `apps/Terminals.test.ts`, `agents/machines/Machines.test.ts`, `sandboxes/Exec.test.ts`,
 * `sandboxes/Ssh.test.ts` and `client/test/Reach.test.ts` test them. Processes and files are reached in the same way.
 */
const ofLinks = ["connectPort", "openProcess", "openSsh", "openTerminal", "watchContainers", "watchFiles"]

/** Those of workspace proxies: `deployment/proxies/WorkspaceProxies.test.ts` tests them. */
const ofProxies = ["coordinateWorkspaceProxy"]

/** Those of daemons: `provisioning/daemons/RemoteDaemons.test.ts` tests them. */
const ofDaemons = ["serveProvisionerDaemon"]

/** Those that stream to administrators alone: `workspaces/watching/BuildWatches.test.ts` and `insights/Health.test.ts` test them. */
const ofAdministrators = ["echoWebSocket", "watchAllWorkspaceBuilds"]

/** Those that need the right to connect to a workspace, which readers do not have: `network/Network.test.ts` tests them. */
const ofConnections = ["coordinateAgent"]

interface Ending {
  readonly code: number | "error"
  readonly message: string
}

/** A stream that has begun, and how it ends. */
interface Opened {
  readonly ended: Promise<Ending>
  readonly close: () => void
}

const openSocket = (server: Pick<TestServer, "url">, path: string, token: string): Promise<Opened> => {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/v2${path}`, { headers: { "Service-Session-Token": token } })
  const ended = new Promise<Ending>((resolve) => socket.on("close", (code, reason) => resolve({ code, message: reason.toString() })))
  return new Promise((resolve, reject) => {
    socket.on("error", reject)
    socket.on("open", () => resolve({ ended, close: () => socket.terminate() }))
  })
}

const openEvents = async (server: Pick<TestServer, "url">, path: string, token: string): Promise<Opened> => {
  const abort = new AbortController()
  const response = await fetch(`${server.url}/api/v2${path}`, { headers: { "Service-Session-Token": token }, signal: abort.signal })
  expect(response.status).toBe(200)
  const ended = response.text().then((text): Ending => {
    const [, json = "{}"] = /event: error\ndata: (.*)\n\n$/.exec(text) ?? []
    return { code: "error", message: (JSON.parse(json) as { readonly message: string }).message }
  })
  ended.catch(() => {})
  return { ended, close: () => abort.abort() }
}

const openAll = (server: Pick<TestServer, "url">, objects: Objects, token: string, streams = everyStream) =>
  Promise.all(
    Object.entries(streams).map(async ([name, { as, path }]) => {
      const open = as === "socket" ? openSocket : openEvents
      return [name, await open(server, path(objects), token)] as const
    })
  )

const endings = async (opened: Awaited<ReturnType<typeof openAll>>) =>
  Object.fromEntries(await Promise.all(opened.map(async ([name, { ended }]) => [name, await ended] as const)))

/** The end of every stream for one reason: sockets close with 1008, events end with an error. */
const allEnded = (message: unknown, streams = everyStream) =>
  Object.fromEntries(Object.entries(streams).map(([name, { as }]) => [name, { code: as === "socket" ? 1008 : "error", message }]))

const refused = "The session token is invalid."
const hidden = "Resource not found or you do not have access to this resource"
const keyOf = ({ token }: Person): string => token.slice(0, 10)

it("every streaming operation of the contract is tested here", () => {
  const groups: ReadonlyArray<{ readonly endpoints: Readonly<Record<string, HttpApiEndpoint.HttpApiEndpoint.AnyWithProps>> }> =
    Object.values(Contract.groups as object)
  const streaming = groups.flatMap(({ endpoints }) =>
    Object.values(endpoints).flatMap(({ annotations, name }) => (Context.get(annotations, Streaming) ? [name] : []))
  )
  const listed = [...Object.keys(everyStream), ...ofAgents, ...ofLinks, ...ofConnections, ...ofDaemons, ...ofProxies, ...ofAdministrators]
  expect(streaming.toSorted()).toStrictEqual(listed.toSorted())
})

/** Objects of the first user in an organization, readable by that user only unless a test shares them. */
const someObjects = async (server: AgentServer, shared: { readonly with?: Person } = {}): Promise<Objects> => {
  const acl = shared.with === undefined ? {} : { [shared.with.user.id]: ["read"] }
  const given = { workspace: { user_acl: acl }, template: { group_acl: {}, user_acl: acl } }
  const agent = await server.anAgent({}, server.owner(), given)
  return server.store(
    Effect.gen(function* () {
      const other = yield* aWorkspace({ owner: server.owner().user, organization: agent.organization, ...given })
      const { build } = yield* aBuild(other, { status: "running" })
      const made = { organization_id: agent.organization.id, created_by: server.owner().user.id, template_id: agent.template.id }
      const { id: version } = yield* storedVersion(made, { completed_at: null })
      const { id: imported } = yield* storedVersion(made)
      const { id: dryRun } = yield* aWaitingJob({
        organization_id: agent.organization.id,
        // Members see no dry runs but their own
        initiator_id: (shared.with ?? server.owner()).user.id,
        type: "template_version_dry_run",
        input: { template_version_id: imported },
        // Daemons leave it alone
        tags: { nothing: "takes it" }
      })
      return { agent, build: build.id, version, imported, dryRun, other }
    })
  )
}

describeAgents(
  "streams",
  (server) => {
    const admin = (method: "DELETE" | "PUT" | "PATCH" | "POST", path: string, body?: unknown) =>
      server()
        .call(method, path, { token: server().owner().token, body })
        .then(({ status }) => expect(status).toBeLessThan(300))

    it.each<readonly [string, (person: Person) => Promise<unknown>, string]>([
      ["the key is deleted", (person) => admin("DELETE", `/users/${person.user.id}/keys/${keyOf(person)}`), refused],
      ["the key is made to expire", (person) => admin("PUT", `/users/${person.user.id}/keys/${keyOf(person)}/expire`), refused],
      ["the user logs out", ({ token }) => server().call("POST", "/users/logout", { token }), refused],
      [
        "the user is suspended",
        ({ user }) => admin("PUT", `/users/${user.id}/status/suspend`),
        "Your account is suspended. Contact an admin to reactivate it."
      ],
      ["the user is deleted", ({ user }) => admin("DELETE", `/users/${user.id}`), refused],
      [
        "the user has another password",
        ({ user }) => admin("PUT", `/users/${user.id}/password`, { password: "AnotherPassword1!" }),
        refused
      ]
    ])("end when %s", async (_, cause, message) => {
      const person = await server().aMember()
      const opened = await openAll(server(), await someObjects(server(), { with: person }), person.token)
      await cause(person)
      expect(await endings(opened)).toStrictEqual(allEnded(message))
    })

    it("of an app end with the user's consent, and when the app renews its token", async () => {
      const person = await server().aMember()
      const client = await aClient(server())
      const objects = await someObjects(server(), { with: person })
      const [laptop, desktop] = [
        await someTokens(server(), client, person, { scope: "coder:all" }),
        await someTokens(server(), client, person, { scope: "coder:all" })
      ]
      const opened = await openAll(server(), objects, laptop.access_token)
      await refresh(server(), client, laptop.refresh_token)
      expect(await endings(opened)).toStrictEqual(allEnded(refused))
      const others = await openAll(server(), objects, desktop.access_token)
      await server().call("DELETE", `//oauth2/tokens?client_id=${client.client_id}`, { token: person.token })
      expect(await endings(others)).toStrictEqual(allEnded(refused))
    })

    it("of an app end when the app is deleted", async () => {
      const person = await server().aMember()
      const client = await aClient(server())
      const { access_token } = await someTokens(server(), client, person, { scope: "coder:all" })
      const opened = await openAll(server(), await someObjects(server(), { with: person }), access_token)
      await admin("DELETE", `/oauth2-provider/apps/${client.client_id}`)
      expect(await endings(opened)).toStrictEqual(allEnded(refused))
    })

    it("end when the user is not a member of the organization any more", async () => {
      const person = await server().aMember({}, ["organization-admin"])
      const objects = await someObjects(server())
      const opened = await openAll(server(), objects, person.token, ofUsers)
      await admin("DELETE", `/organizations/${objects.agent.organization.id}/members/${person.user.id}`)
      expect(await endings(opened)).toStrictEqual(allEnded(hidden, ofUsers))
    })

    it("end when the user loses a role of the organization", async () => {
      const person = await server().aMember({}, ["organization-admin"])
      const objects = await someObjects(server())
      const opened = await openAll(server(), objects, person.token, ofUsers)
      await admin("PUT", `/organizations/${objects.agent.organization.id}/members/${person.user.id}/roles`, { roles: [] })
      expect(await endings(opened)).toStrictEqual(allEnded(hidden, ofUsers))
    })

    it("end when the user loses a role of the deployment", async () => {
      const person = await server().aMember({ rbac_roles: ["owner"] })
      const opened = await openAll(server(), await someObjects(server()), person.token, ofUsers)
      await admin("PUT", `/users/${person.user.id}/roles`, { roles: [] })
      expect(await endings(opened)).toStrictEqual(allEnded(hidden, ofUsers))
    })

    it("end when a share ends", async () => {
      const person = await server().aMember()
      const objects = await someObjects(server(), { with: person })
      const { body } = await server().call("GET", `/workspacebuilds/${objects.build}`, { token: server().owner().token })
      const opened = await openAll(server(), objects, person.token, ofUsers)
      const roles = { user_roles: { [person.user.id]: "" } }
      await admin("PATCH", `/workspaces/${objects.agent.workspace.id}/acl`, roles)
      await admin("PATCH", `/workspaces/${(body as { readonly workspace_id: string }).workspace_id}/acl`, roles)
      await admin("PATCH", `/templates/${objects.agent.template.id}/acl`, { user_perms: { [person.user.id]: "" } })
      expect(await endings(opened)).toStrictEqual(allEnded(hidden, ofUsers))
    })

    it("of one key continue when another one is deleted", async () => {
      const [person, other] = await Promise.all([server().aMember(), server().aMember()])
      const objects = await someObjects(server(), { with: person })
      const { close, ended } = await openSocket(server(), `/workspaces/${objects.agent.workspace.id}/watch-ws`, person.token)
      await admin("DELETE", `/users/${other.user.id}/keys/${keyOf(other)}`)
      const last = await openSocket(server(), `/workspaces/${objects.agent.workspace.id}/watch-ws`, person.token)
      await admin("DELETE", `/users/${person.user.id}/keys/${keyOf(person)}`)
      expect(await Promise.all([ended, last.ended])).toStrictEqual([
        { code: 1008, message: refused },
        { code: 1008, message: refused }
      ])
      close()
    })

    it.each(["agent", "other"])("of an agent in the role %s end when a newer build retires its token", async (role) => {
      const agent = await server().anAgent()
      const rpc = await openSocket(server(), `/workspaceagents/me/rpc?role=${role}`, agent.token)
      await admin("POST", `/workspaces/${agent.workspace.id}/builds`, { transition: "start" })
      expect(await rpc.ended).toStrictEqual({
        code: 1008,
        message: "The agent token is invalid, or a newer build of its workspace has replaced it."
      })
    })

    it("are as many as one caller may have, and one more after one has ended", async () => {
      const person = await server().aMember()
      const { agent } = await someObjects(server(), { with: person })
      const path = `/workspaces/${agent.workspace.id}/watch`
      const opened = await Promise.all(Array.from({ length: 16 }, () => openEvents(server(), path, person.token)))
      const { body, status } = await server().call("GET", path, { token: person.token })
      expect([status, body]).toStrictEqual([429, { message: "A caller may have at most 16 open streams." }])
      const socket = server().socket(`/workspaces/${agent.workspace.id}/watch-ws`, person.token)
      expect((await socket.refused).status).toBe(429)
      opened[0]?.close()
      await expect
        .poll(async () => {
          const again = server().socket(`/workspaces/${agent.workspace.id}/watch-ws`, person.token)
          return again.next().then(
            () => "opened",
            () => "refused"
          )
        })
        .toBe("opened")
      for (const { close } of opened) close()
    })

    // Last: it makes the keys of all expire
    it("end when the key expires, by the clock", async () => {
      const person = await server().aMember()
      const opened = await openAll(server(), await someObjects(server(), { with: person }), person.token)
      server().advance("8 days")
      expect(await endings(opened)).toStrictEqual(allEnded(refused))
    })
  },
  { options: { streamsPerCaller: 16 }, entitlements: { has: () => true } }
)

describe("streams of one replica", () => {
  const scope = Effect.runSync(Scope.make())
  let replicas: ReadonlyArray<TestServer> = []
  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
    const first = await startServer(Postgres.layer({ url, maxConnections: 3 }))
    replicas = [first, await startServer(Postgres.layer({ url, maxConnections: 3 }), { empty: true })]
  })
  afterAll(async () => {
    await Promise.all(replicas.map(({ close }) => close()))
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("end when another one deletes the key", async () => {
    const [first, second] = replicas
    if (first === undefined || second === undefined) return expect.unreachable("two replicas have started")
    const person = await first.aMember()
    const { workspace } = await first.run(aWorkspace({ owner: person.user }))
    const { ended } = await openSocket(first, `/workspaces/${workspace.id}/watch-ws`, person.token)
    expect((await second.call("DELETE", `/users/me/keys/${keyOf(person)}`, { token: person.token })).status).toBe(204)
    expect(await ended).toStrictEqual({ code: 1008, message: refused })
  })
})
