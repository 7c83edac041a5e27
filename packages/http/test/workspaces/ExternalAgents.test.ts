/** The credentials of agents that run outside the machines of a template, and how they are stored. */
import { SqlClient } from "@effect/sql"
import { SecretValues } from "@atelier/core/identity"
import { Access, SystemActor } from "@atelier/core/access"
import { AgentTokens } from "@atelier/core/agents"
import { Uuid } from "@atelier/core/platform"
import { sealedColumns } from "@atelier/core/workspaces"
import { NodeEncryption } from "@atelier/node"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import { testEngines } from "../../../../test/outside/engine.js"
import { aResource, anAgent } from "../../../../test/records/resources.js"
import { describeInterface, describeServer, type TestServer } from "../../../../test/http/server.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aBuild, aWorkspace } from "../../../../test/http/workspaceCalls.js"

const external = (name: string, operating_system = "linux") =>
  aResource({ name, type: "coder_external_agent", agents: [anAgent({ name, operating_system, architecture: "amd64" })] })

/** The key that the server encrypts with. */
const oldKey = randomBytes(32).toString("base64")

const Row = Schema.Struct({
  name: Schema.String,
  sealed_token_key_id: Schema.String,
  sealed_token: Schema.NullOr(Schema.Uint8ArrayFromSelf)
})

/** The agents of a job as they are stored, by name. */
const rowsOf = (server: TestServer, jobId: string) =>
  server.run(
    Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), (sql) =>
      Effect.flatMap(
        sql`SELECT a.name, a.sealed_token_key_id, a.sealed_token FROM workspace_agents a
          JOIN workspace_resources r ON r.id = a.resource_id WHERE r.job_id = ${jobId} ORDER BY a.name`,
        Schema.decodeUnknown(Schema.Array(Row))
      )
    )
  )

describeServer(
  "an external agent",
  (server) => {
    const aStarted = async (...resources: ReadonlyArray<ReturnType<typeof external>>) =>
      aWorkspace(server(), await aTemplate(server(), { has_external_agent: true, started: resources }), server().owner())
    const credentials = (id: string, name: string, { token } = server().owner()) =>
      server().call("GET", `/workspaces/${id}/external-agent/${name}/credentials`, { token })

    it("is shown a token by which it connects", async () => {
      const workspace = await aStarted(external("far"))
      const { body, status } = await credentials(workspace.id, "far")
      expect(status).toBe(200)
      const { agent_token: token } = Schema.decodeUnknownSync(Schema.Struct({ agent_token: Uuid.Uuid, command: Schema.String }))(body)
      expect((await server().call("GET", "/workspaceagents/me/gitsshkey", { headers: { "Service-Session-Token": token } })).status).toBe(
        200
      )
    })

    it("is not shown to a token that may only read the workspace", async () => {
      const workspace = await aStarted(external("far"))
      const shownWith = async (...scopes: ReadonlyArray<string>) => {
        const { token } = server().owner()
        const { body } = await server().call("POST", "/users/me/keys/tokens", { token, body: { scopes } })
        const { key } = Schema.decodeUnknownSync(Schema.Struct({ key: Schema.String }))(body)
        return credentials(workspace.id, "far", { ...server().owner(), token: key })
      }
      const refused = await shownWith("workspace:read")
      expect(refused.status).toBe(403)
      expect(refused.body).toMatchObject({ message: "The token needs the scope workspace:ssh." })
      expect((await shownWith("workspace:read", "workspace:ssh")).status).toBe(200)
    })

    it("has a token that is stored encrypted until the next build ends", async () => {
      const workspace = await aStarted(external("far"), external("near"))
      const { job } = workspace.latest_build
      const { agent_token } = Schema.decodeUnknownSync(Schema.Struct({ agent_token: Schema.String }))(
        (await credentials(workspace.id, "far")).body
      )
      const rows = await rowsOf(server(), job.id)
      expect(rows.map(({ name }) => name)).toStrictEqual(["far", "near"])
      for (const { sealed_token, sealed_token_key_id } of rows) {
        expect(sealed_token_key_id).toMatch(/^[0-9a-f]{16}$/)
        expect(Buffer.from(sealed_token ?? []).toString("latin1")).not.toContain(agent_token)
      }
      await aBuild(server(), workspace, server().owner(), { transition: "stop" })
      expect((await rowsOf(server(), job.id)).map(({ sealed_token }) => sealed_token)).toStrictEqual([null, null])
      expect((await credentials(workspace.id, "far")).status).toBe(404)
    })

    it("has a token that is encrypted anew when the key is replaced", async () => {
      const workspace = await aStarted(external("far"))
      const { job } = workspace.latest_build
      const [before] = await rowsOf(server(), job.id)
      const shown = (await credentials(workspace.id, "far")).text
      const key = NodeEncryption.parseKey(randomBytes(32).toString("base64"))
      const read = server().run(
        Effect.gen(function* () {
          yield* Effect.flatMap(SecretValues, (values) => values.reseal()).pipe(Access.actingAs(SystemActor.cryptoKeyRotator))
          return yield* Effect.flatMap(AgentTokens, (tokens) => tokens.external(Uuid.Uuid.make(job.id), "far"))
        }).pipe(
          Effect.provide(
            Layer.fresh(
              SecretValues.layer.pipe(
                Layer.provideMerge(sealedColumns),
                Layer.provideMerge(AgentTokens.layer),
                Layer.provide(NodeEncryption.layer([key, NodeEncryption.parseKey(oldKey)]))
              )
            )
          )
        )
      )
      const token = Option.getOrThrow(await read).token
      expect(shown).toContain(Redacted.value(token))
      const [after] = await rowsOf(server(), job.id)
      expect(after?.sealed_token_key_id).not.toBe(before?.sealed_token_key_id)
    })

    it("has a command whose words a template's text does not end", async () => {
      const workspace = await aStarted(external("quoted", 'linux"; id; "'))
      const { body } = await credentials(workspace.id, "quoted")
      const { command } = Schema.decodeUnknownSync(Schema.Struct({ command: Schema.String }))(body)
      expect(command).toMatch(/^curl -fsSL "[^"$`]+" \| SERVICE_AGENT_TOKEN="[0-9a-f-]{36}" sh$/)
    })
  },
  { provisioner: testEngines, options: { externalTokenEncryptionKeys: [Redacted.make(oldKey)] } }
)

describeInterface(
  "an external agent without its license",
  (server) => {
    it("has no credentials", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), server().owner())
      const { token } = server().owner()
      expect((await server().call("GET", `/workspaces/${workspace.id}/external-agent/far/credentials`, { token })).status).toBe(403)
    })
  },
  { provisioner: testEngines, entitlements: { has: () => false } }
)
