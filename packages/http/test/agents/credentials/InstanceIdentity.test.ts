/** Agents that get their tokens by the proof of their cloud. */
import { Schema } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { aBuild } from "../../../../../test/records/agentWorkspaces.js"
import { aCertificate, anAwsKey, aSignedMessage } from "../../../../../test/outside/clouds.js"
import { anAgent, aResource } from "../../../../../test/records/resources.js"
import { describeAgents } from "../AgentServer.js"

const Token = Schema.Struct({ session_token: Schema.String })

const amazon = anAwsKey()
const google = await generateKeyPair("RS256")
const root = await aCertificate("root", undefined, { isAuthority: true })
const azure = await aCertificate("metadata.azure.com", root)

const instanceAuthorities = {
  awsPublicKeys: [amazon.publicKey],
  azureRoots: [root.certificate.toString("pem")],
  googleKeys: { keys: [{ ...(await exportJWK(google.publicKey)), kid: "a", alg: "RS256" }] }
}

describeAgents(
  "an agent on an instance of a cloud",
  (server) => {
    const ask = (cloud: string, body: object) => server().call("POST", `/workspaceagents/${cloud}-instance-identity`, { body })

    const asAws = (instanceId: string, fields: object = {}) => {
      const document = JSON.stringify({ instanceId })
      return ask("aws", { document, signature: amazon.sign(document), ...fields })
    }

    const anInstance = async (...names: ReadonlyArray<string>) => {
      const instance_id = `i-${randomUUID()}`
      const workspace = await server().anAgent()
      const agents = names.map((name) => anAgent({ name, auth: { _tag: "InstanceIdentity", instance_id } }))
      const build = await server().store(aBuild(workspace, { resources: [aResource({ agents })] }))
      return { instance_id, workspace, build }
    }

    const gitKey = (token: string) => server().call("GET", "/workspaceagents/me/gitsshkey", { token })

    it("gets its token for a document that Amazon has signed", async () => {
      const { instance_id } = await anInstance("main")
      const answer = await asAws(instance_id)
      expect(answer.status).toBe(200)
      expect((await gitKey(answer.as(Token).session_token)).status).toBe(200)
      // It stays the same, so that a restarted agent ends no other one
      expect((await asAws(instance_id)).as(Token)).toStrictEqual(answer.as(Token))

      const document = JSON.stringify({ instanceId: instance_id })
      expect((await ask("aws", { document: `${document} `, signature: amazon.sign(document) })).status).toBe(401)
      expect((await asAws("i-unknown")).status).toBe(404)
      const empty = await ask("aws", {})
      expect([empty.status, empty.body]).toMatchObject([400, { validations: [{ field: "document" }, { field: "signature" }] }])
    })

    it("gets its token for a message that Azure has signed, and for a token of Google", async () => {
      const { instance_id } = await anInstance("main")
      const { session_token } = (await asAws(instance_id)).as(Token)
      const signature = aSignedMessage(JSON.stringify({ vmId: instance_id }), azure)
      expect((await ask("azure", { encoding: "pkcs7", signature })).as(Token).session_token).toBe(session_token)
      expect((await ask("azure", { signature })).status).toBe(400)
      expect((await ask("azure", { encoding: "pkcs7", signature: "AAAA" })).status).toBe(401)

      const token = (instanceId: unknown, exp: number) =>
        new SignJWT({ google: { compute_engine: { instance_id: instanceId } } })
          .setProtectedHeader({ alg: "RS256", kid: "a" })
          .setExpirationTime(exp)
          .sign(google.privateKey)
      const now = Math.floor(Date.now() / 1000)
      const asGoogle = async (instanceId: unknown, exp = now + 60) => ask("google", { json_web_token: await token(instanceId, exp) })
      expect((await asGoogle(instance_id)).as(Token).session_token).toBe(session_token)
      expect((await asGoogle(instance_id, now - 60)).status).toBe(401)
      expect((await asGoogle(5)).status).toBe(400)
    })

    it("has to name itself among several of the instance", async () => {
      const { instance_id } = await anInstance("one", "two")
      for (const agent_name of [undefined, "", "  "]) {
        const several = await asAws(instance_id, { agent_name })
        expect([several.status, several.body]).toMatchObject([409, { message: expect.stringContaining("one, two") }])
      }
      const one = (await asAws(instance_id, { agent_name: " one " })).as(Token).session_token
      const two = (await asAws(instance_id, { agent_name: "two" })).as(Token).session_token
      expect(one).not.toBe(two)
      expect((await asAws(instance_id, { agent_name: "three" })).status).toBe(404)
    })

    it("gets none for a build that is not the latest", async () => {
      const { build, instance_id, workspace } = await anInstance("main")
      await server().store(aBuild(workspace, { resources: [] }))
      expect(build.agents).toHaveLength(1)
      expect((await asAws(instance_id)).status).toBe(400)
    })
  },
  { instanceAuthorities }
)
