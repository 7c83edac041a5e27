import { Effect } from "effect"
import { expect, it } from "vitest"
import { describeAgentInterface } from "../AgentServer.js"

describeAgentInterface("an agent", (server) => {
  it("gets the enabled secrets of its workspace's owner", async () => {
    const member = await server().aMember()
    const other = await server().aMember()
    const create = async (token: string, body: object) =>
      expect((await server().call("POST", "/users/me/secrets", { token, body })).status).toBe(201)
    await create(member.token, { name: "npm", value: "grüße", env_name: "NPM_TOKEN" })
    await create(member.token, { name: "aws", value: "[default]\n", file_path: "~/.aws/credentials" })
    await create(member.token, { name: "off", value: "x", enabled: false })
    await create(other.token, { name: "foreign", value: "y", env_name: "FOREIGN" })
    for (const api_key_scope of ["all", "no_user_data"] as const) {
      const { token } = await server().anAgent({ api_key_scope }, member)
      const connection = await server().connect(token)
      const { secrets } = await Effect.runPromise(connection.agent.GetManifest({}))
      expect(secrets).toStrictEqual([
        { env_name: "", file_path: "~/.aws/credentials", value: new TextEncoder().encode("[default]\n") },
        { env_name: "NPM_TOKEN", file_path: "", value: new TextEncoder().encode("grüße") }
      ])
      await connection.close()
      expect((await server().call("GET", "/users/me/secrets", { token })).status).toBe(401)
    }
  })
})
