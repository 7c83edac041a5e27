import {
  AtelierError,
  builds,
  createClient,
  deployment,
  groups,
  logins,
  organizationGroups,
  organizations,
  paginate,
  provisioning,
  scim,
  users
} from "@atelier/client"
import { Redacted } from "effect"
import { createServer, type RequestListener } from "node:http"
import { describe, expect, it } from "vitest"
import { sqlite } from "../../../test/store/databases.js"
import { describeInterface, ownerPassword, startServer } from "../../../test/http/server.js"

/** The error that a call fails with. */
const failure = async (call: Promise<unknown>): Promise<AtelierError> => {
  const error: unknown = await call.then(
    () => new Error("the call succeeded"),
    (reason: unknown) => reason
  )
  if (error instanceof AtelierError) return error
  throw error
}

it.each(["127.0.0.1:3000", "localhost:3000", "/workspaces", ""])("the client refuses the address %j at once", (baseUrl) => {
  expect(() => createClient({ baseUrl })).toThrow(new TypeError(`baseUrl: must begin with http:// or https://, not "${baseUrl}"`))
})

describeInterface("the client", (server) => {
  const clientOf = (token?: string) => createClient({ baseUrl: server().url, token })
  const owner = () => clientOf(server().owner().token)

  it("calls public operations without a token, and the others with one", async () => {
    expect(await deployment.buildInfo(clientOf())).toMatchObject({ dashboard_url: "http://atelier.test" })
    const { session_token } = await logins.logIn(clientOf(), { body: { email: "owner@example.com", password: ownerPassword } })
    expect(await users.getUser(clientOf(session_token), { user: "me" })).toMatchObject({ username: "owner", email: "owner@example.com" })
  })

  it("asks a function for the token before each call", async () => {
    const tokens = [server().owner().token, "another"]
    const client = createClient({ baseUrl: server().url, token: () => Promise.resolve(tokens.shift()) })
    expect(await users.getUser(client, { user: "me" })).toMatchObject({ username: "owner" })
    expect((await failure(users.getUser(client, { user: "me" }))).status).toBe(401)
  })

  it("takes plain texts as ids, and omits absent fields", async () => {
    const [home] = await organizations.listOrganizations(owner())
    const organization = home?.id ?? ""
    const made = await organizationGroups.createGroup(owner(), { organization, body: { name: "crew", display_name: undefined } })
    expect(made).toMatchObject({ name: "crew", organization_id: organization, quota_allowance: 0 })
    const changed = await groups.updateGroup(owner(), { group: made.id, body: { quota_allowance: 3 } })
    expect(changed).toMatchObject({ name: "crew", quota_allowance: 3 })
    expect(await groups.listGroups(owner(), { group_ids: [made.id] })).toStrictEqual([changed])
    expect(await groups.deleteGroup(owner(), { group: made.id })).toMatchObject({ id: made.id })
  })

  it("fails with the service's refusal", async () => {
    const missing = await failure(users.getUser(owner(), { user: "missing" }))
    expect(missing).toMatchObject({ name: "AtelierError", status: 404, validations: [], cause: undefined })
    expect(missing.message).not.toBe("")
    expect(missing.requestId).toMatch(/^[0-9a-f-]{36}$/)
    const invalid = await failure(logins.logIn(clientOf(), { body: { email: "not an address", password: "x" } }))
    expect(invalid).toMatchObject({ status: 400, validations: [{ field: "email", detail: expect.any(String) }] })
    expect((await failure(users.getUser(clientOf(), { user: "me" }))).status).toBe(401)
  })

  it("encodes path and query parameters", async () => {
    const { status } = await failure(users.getUser(owner(), { user: "a/b?c#d" }))
    expect(status).toBe(404)
    expect(await users.listUsers(owner(), { q: "owner&limit=0", limit: 1 })).toMatchObject({ users: [] })
    for (const user of ["", ".", ".."]) {
      await expect(users.getUser(owner(), { user })).rejects.toThrow("user: must be neither empty nor dots")
    }
  })

  it("answers nothing where there is no body", async () => {
    const { user } = await server().aMember()
    expect(await users.deleteUser(owner(), { user: user.id })).toBeUndefined()
  })

  it("sends and returns bytes unchanged", async () => {
    // An empty tar: two blocks of zeros (POSIX.1-2001, pax)
    const archive = new Uint8Array(1024)
    const { hash } = await provisioning.uploadFile(owner(), { contentType: "application/x-tar", body: archive })
    expect(await provisioning.downloadFile(owner(), { fileID: hash })).toStrictEqual(archive)
    const again = await provisioning.uploadFile(owner(), { contentType: "application/x-tar", body: new Blob([archive]) })
    expect(again.hash).toBe(hash)
  })

  it("returns text unchanged", async () => {
    expect(await deployment.health(clientOf())).toBe("OK")
  })

  it("reads lists in pages", async () => {
    await server().aMember()
    await server().aMember()
    const all = await users.listUsers(owner())
    const names: Array<string> = []
    for await (const { username } of paginate((page) => users.listUsers(owner(), page), { pageSize: 2 })) names.push(username)
    expect(names).toStrictEqual(all.users.map(({ username }) => username))
    expect(names.length).toBeGreaterThanOrEqual(3)
  })

  it("fails with the signal's reason when a call is aborted", async () => {
    const reason = new Error("enough")
    await expect(users.getUser(owner(), { user: "me" }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const call = users.listUsers(owner(), {}, { signal: controller.signal })
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
  })
})

it.each([
  ["under another brand", { brand: "My Product" }, { brand: "My Product" }],
  ["with a session header of its own", { names: { sessionHeader: "X-Crew-Token" } }, { sessionHeader: "X-Crew-Token" }]
])("the client calls a service %s", async (_, presentation, options) => {
  const server = await startServer(sqlite, { ...presentation, empty: true })
  try {
    const body = { email: "owner@example.com", password: ownerPassword, username: "owner" }
    const anonymous = createClient({ baseUrl: server.url })
    await users.createFirstUser(anonymous, { body })
    const { session_token } = await logins.logIn(anonymous, { body })
    const client = createClient({ baseUrl: server.url, token: session_token, ...options })
    expect(await users.getUser(client, { user: "me" })).toMatchObject({ username: "owner" })
    expect(Object.keys(await client.headers())).toStrictEqual([client.sessionHeader])
  } finally {
    await server.close()
  }
})

it("the client manages users over SCIM with the deployment's key", async () => {
  const server = await startServer(sqlite, { options: { scimAuthHeader: Redacted.make("the key") }, entitlements: { has: () => true } })
  try {
    const client = createClient({ baseUrl: server.url, scimKey: "the key" })
    const userName = "grace"
    const made = await scim.createScimUser(client, { body: { userName, emails: [{ value: "grace@example.com", primary: true }] } })
    expect(await scim.getScimUser(client, { id: made.id })).toMatchObject({ id: made.id, userName })
    // Its refusals have a detail and no message
    const id = "00000000-0000-4000-8000-000000000000"
    const error = await failure(scim.getScimUser(client, { id }))
    expect([error.status, error.message === "", error.detail]).toStrictEqual([404, false, undefined])
    expect((await failure(scim.listScimUsers(createClient({ baseUrl: server.url, scimKey: "another" })))).status).toBe(401)
  } finally {
    await server.close()
  }
})

describe("a client's requests", () => {
  /** Runs with a server that answers as a test wants. */
  const serving = async (listener: RequestListener, run: (url: string) => Promise<void>): Promise<void> => {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    try {
      await run(`http://127.0.0.1:${address.port}`)
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  it("go by the fetch that it was given, below the path of its base URL", async () => {
    const requests: Array<Request> = []
    const client = createClient({
      baseUrl: "https://example.com/workspaces/",
      token: "secret",
      headers: () => ({ "X-Proxy": "yes" }),
      fetch: (url, init) => {
        requests.push(new Request(url, init))
        return Promise.resolve(Response.json({ id: "1" }))
      }
    })
    await builds.createWorkspaceBuild(client, { workspace: "w", body: { transition: "start" } })
    const [request] = requests
    expect(request?.url).toBe("https://example.com/workspaces/api/v2/workspaces/w/builds")
    expect(request?.method).toBe("POST")
    expect(request?.headers.get("service-session-token")).toBe("secret")
    expect(request?.headers.get("x-proxy")).toBe("yes")
    expect(await request?.json()).toStrictEqual({ transition: "start" })
  })

  it("carry the token to no other place", async () => {
    const seen: Array<string | undefined> = []
    await serving(
      (request, response) => {
        seen.push(request.url)
        response.writeHead(307, { location: "/elsewhere" }).end()
      },
      async (url) => {
        const error = await failure(users.getUser(createClient({ baseUrl: url, token: "secret" }), { user: "me" }))
        expect(error).toMatchObject({ status: 0, message: "The service did not answer." })
        expect(seen).toStrictEqual(["/api/v2/users/me"])
      }
    )
  })

  it("fail with status 0 where nothing listens", async () => {
    let closed = ""
    await serving(
      () => undefined,
      async (url) => void (closed = await Promise.resolve(url))
    )
    const error = await failure(deployment.buildInfo(createClient({ baseUrl: closed })))
    expect(error).toMatchObject({ status: 0, message: "The service did not answer.", cause: expect.any(TypeError) })
    expect(error.detail).toContain("ECONNREFUSED")
  })

  it("fail with a proxy's answer in place of the service's", async () => {
    await serving(
      (request, response) => {
        if (request.url === "/api/v2/buildinfo") response.end("<html>")
        else response.writeHead(503, { "retry-after": "7" }).end("<html>")
      },
      async (url) => {
        const client = createClient({ baseUrl: url })
        expect(await failure(deployment.buildInfo(client))).toMatchObject({ status: 200, message: "The answer is not JSON." })
        expect(await failure(deployment.entitlements(client))).toMatchObject({
          status: 503,
          message: "Service Unavailable",
          retryAfter: 7,
          validations: []
        })
      }
    )
  })
})

it("an error of a subclass is told from other errors", () => {
  class Specific extends AtelierError {}
  const fields = { status: 404, message: "The workspace does not exist." }
  expect([new Specific(fields) instanceof Specific, new AtelierError(fields) instanceof Specific]).toStrictEqual([true, false])
  expect(new Specific(fields) instanceof AtelierError).toBe(true)
  expect(Object.assign(new Error("of another copy"), { name: "AtelierError" }) instanceof AtelierError).toBe(true)
})
