// A server with users and workspaces in it.
import { createClient, logins, users } from "@atelier/client"
import { request } from "./load.mjs"
import { startServer } from "./servers.mjs"

const admin = { email: "admin@example.com", password: "SomeSecurePassword!" }

/** The password of every user of a deployment. */
export const { password } = admin

/** The bytes of a request with a session or an agent's token. */
export const authenticated = (token, method, path, body) =>
  request(method, `/api/v2${path}`, { headers: { "Service-Session-Token": token }, ...(body === undefined ? {} : { body }) })

/** Makes the first user, who owns the deployment, and returns a session of it. */
export const firstSession = async (baseUrl) => {
  const anonymous = createClient({ baseUrl })
  await users.createFirstUser(anonymous, { body: { ...admin, username: "admin" } })
  const { session_token: token } = await logins.logIn(anonymous, { body: admin })
  return token
}

/** Starts the service on an empty database and makes its first user, who owns the deployment. */
export const startDeployment = async (
  storage,
  { isEntitled = false, isLimited = false, hasTerraform = false, tracing = false, nodeArguments } = {}
) => {
  const server = await startServer({ kind: "atelier", isEntitled, isLimited, hasTerraform, storage, tracing }, { nodeArguments })
  const baseUrl = `http://127.0.0.1:${server.port}`
  const token = await firstSession(baseUrl)
  let workspaces = 0
  return {
    ...server,
    /** The owner's session. */
    token,
    /** Calls what is not measured, as the owner. */
    client: createClient({ baseUrl, token }),
    /** Brings the deployment to so many workspaces; it never has less than before. */
    grow: async (count) => {
      if (count <= workspaces) return
      await server.ask("seed", { from: workspaces + 1, to: count })
      workspaces = count
    }
  }
}
