import { type AgentClient, Uuid as ProtocolUuid } from "@atelier/agent-protocol"
import { Uuid } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import { expect, it } from "vitest"
import { type AgentConnection, describeAgents, type RunningAgent } from "../AgentServer.js"

const run = Effect.runPromise

const refusal = <E>(effect: Effect.Effect<unknown, E>) => run(Effect.flip(effect))

const idOf = (bytes: Uint8Array): Uuid.Uuid => Uuid.Uuid.make(Option.getOrThrow(ProtocolUuid.fromBytes(bytes)))

type Request = Parameters<AgentClient["CreateSubAgent"]>[0]

const child: Request = {
  name: "child",
  directory: "/work",
  architecture: "amd64",
  operating_system: "linux",
  apps: [],
  display_apps: ["VSCODE"]
}

describeAgents(
  "sub agents",
  (server) => {
    const make = async ({ agent }: AgentConnection, request: Request = child) => {
      const { agent: made, app_creation_errors: refused } = await run(agent.CreateSubAgent(request))
      if (made === undefined) throw new Error("no sub agent was answered")
      return { id: idOf(made.id), token: idOf(made.auth_token), refused }
    }

    /** An agent with its connection, which `use` may use. */
    const withAgent = async (use: (connection: AgentConnection, running: RunningAgent) => Promise<void>) => {
      const running = await server().anAgent({ connection_timeout_seconds: 77, troubleshooting_url: "https://help.example.com/" })
      const connection = await server().connect(running.token)
      await use(connection, running)
      await connection.close()
    }

    const read = (id: Uuid.Uuid) => server().call("GET", `/workspaceagents/${id}`, { token: server().owner().token })

    it("are made beside their parent, and connect with tokens of their own", async () => {
      await withAgent(async (connection, { id: parent, workspace }) => {
        const { id, token } = await make(connection)
        expect((await read(id)).body).toMatchObject({
          name: "child",
          parent_id: parent,
          directory: "/work",
          status: "connecting",
          lifecycle_state: "created",
          display_apps: ["vscode"],
          connection_timeout_seconds: 77,
          troubleshooting_url: "https://help.example.com/"
        })
        const { body } = await server().call("GET", `/workspaces/${workspace.id}`, { token: server().owner().token })
        expect(body).toMatchObject({
          latest_build: {
            resources: [
              {
                agents: [
                  { id, parent_id: parent },
                  { id: parent, parent_id: null }
                ]
              }
            ]
          }
        })
        const own = await server().connect(token)
        expect(await run(own.agent.GetManifest({}))).toMatchObject({
          agent_name: "child",
          parent_id: Option.getOrThrow(ProtocolUuid.toBytes(parent))
        })
        expect(await refusal(own.agent.CreateSubAgent({ ...child, name: "grandchild" }))).toMatchObject({ _tag: "RpcError" })
        await own.close()
        const { agents } = await run(connection.agent.ListSubAgents({}))
        expect(agents.map((listed) => [listed.name, idOf(listed.id), idOf(listed.auth_token)])).toStrictEqual([["child", id, token]])
      })
    })

    it("have the apps that keep the rules, shared no further than the template allows", async () => {
      await withAgent(async (connection, { workspace }) => {
        const settings = { token: server().owner().token, body: { max_port_share_level: "owner" } }
        expect((await server().call("PATCH", `/templates/${workspace.template_id}`, settings)).status).toBe(200)
        const apps: Request["apps"] = [
          { slug: "web", share: "PUBLIC", url: "http://localhost:1", open_in: "TAB" },
          { slug: "Bad Slug" },
          { slug: "web" },
          { slug: "script", url: "javascript:alert(1)" },
          { slug: "shared", share: 9 }
        ]
        const { id, refused } = await make(connection, { ...child, apps })
        expect(refused.map(({ field, index }) => [index, field])).toStrictEqual([
          [1, "slug"],
          [2, "slug"],
          [3, "url"],
          [4, "share"]
        ])
        // SHA-256 of child/web
        expect((await read(id)).body).toMatchObject({ apps: [{ slug: "mnkpbnrg-web", sharing_level: "owner", open_in: "tab" }] })
      })
    })

    it("have names that no other agent of the build has", async () => {
      await withAgent(async (connection) => {
        await make(connection)
        for (const name of ["Child", "MAIN", "", "bad name", "x".repeat(65)]) {
          expect(await refusal(connection.agent.CreateSubAgent({ ...child, name }))).toMatchObject({ _tag: "RpcError", code: 0 })
        }
        const both = await Promise.allSettled(["twin", "twin"].map((name) => make(connection, { ...child, name })))
        expect(both.map(({ status }) => status).toSorted()).toStrictEqual(["fulfilled", "rejected"])
      })
    })

    it("are taken over, and deleted, by their parents alone", async () => {
      await withAgent(async (connection, { id: parent }) => {
        const { id, token } = await make(connection)
        const bytes = Option.getOrThrow(ProtocolUuid.toBytes(id))
        const adopted = await make(connection, { ...child, id: bytes, directory: "", display_apps: ["SSH_HELPER"] })
        expect(adopted).toMatchObject({ id, token })
        expect((await read(id)).body).toMatchObject({ directory: "/work", display_apps: ["ssh_helper"] })
        await withAgent(async (other) => {
          expect(await refusal(other.agent.DeleteSubAgent({ id: bytes }))).toMatchObject({ _tag: "RpcError" })
          expect(await refusal(other.agent.CreateSubAgent({ ...child, id: bytes }))).toMatchObject({ _tag: "RpcError" })
        })
        const own = Option.getOrThrow(ProtocolUuid.toBytes(parent))
        expect(await refusal(connection.agent.DeleteSubAgent({ id: own }))).toMatchObject({ _tag: "RpcError" })
        const connected = await server().connect(token)
        await run(connection.agent.DeleteSubAgent({ id: bytes }))
        await connected.closed
        expect((await read(id)).status).toBe(404)
        expect((await server().call("GET", "/workspaceagents/me/gitsshkey", { token })).status).toBe(401)
        expect(await run(connection.agent.ListSubAgents({}))).toStrictEqual({ agents: [] })
        await make(connection)
      })
    })
  },
  { compatibility: "coder", entitlements: { has: () => true } }
)
