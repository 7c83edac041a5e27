// A server with users and workspaces in it.
import { request } from "./load.mjs"
import { startServer } from "./servers.mjs"

const admin = { email: "admin@example.com", password: "SomeSecurePassword!" }

/** The password of every user of a deployment. */
export const { password } = admin

const post = async (url, body, expect) => {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) })
  if (response.status !== expect) throw new Error(`POST ${url} was answered ${response.status}: ${await response.text()}`)
  return response.json()
}

/** The bytes of a request with a session or an agent's token. */
export const authenticated = (token, method, path, body) =>
  request(method, `/api/v2${path}`, { headers: { "Service-Session-Token": token }, ...(body === undefined ? {} : { body }) })

/** Starts the service on an empty database and makes its first user, who owns the deployment. */
export const startDeployment = async (storage, { isLimited = false, tracing = false, nodeArguments } = {}) => {
  const server = await startServer({ kind: "atelier", isLimited, storage, tracing }, { nodeArguments })
  const url = `http://127.0.0.1:${server.port}/api/v2`
  await post(`${url}/users/first`, { ...admin, username: "admin" }, 201)
  const { session_token: token } = await post(`${url}/users/login`, admin, 201)
  let workspaces = 0
  return {
    ...server,
    url,
    /** The owner's session. */
    token,
    /** Brings the deployment to so many workspaces; it never has less than before. */
    grow: async (count) => {
      if (count <= workspaces) return
      await server.ask("seed", { from: workspaces + 1, to: count })
      workspaces = count
    }
  }
}
