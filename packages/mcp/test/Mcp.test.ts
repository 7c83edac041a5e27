/** Tools as clients of the protocol use them, with its own client and its login, in a workspace on this machine. */
import { type Client as AtelierClient, createClient, keys, users } from "@atelier/client"
import { Atelier } from "@atelier/http"
import { mcpServer } from "@atelier/mcp"
import { NodeClientDocuments } from "@atelier/node"
import { LocalProvisioner } from "@atelier/provisioner"
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { starterTemplates } from "@atelier/templates"
import { auth, type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import { Effect, Exit, Scope } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { createHash, randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { certificate } from "../../../test/outside/mailServer.js"
import { databaseUrl } from "../../../test/store/databases.js"
import { freePort } from "../../atelier/test/Server.js"

const password = "correct horse battery"
const redirectUrl = "http://127.0.0.1:1/callback"

/** The place on the web where a client of the protocol describes itself. */
interface Documents {
  /** The metadata document, which is the client's id. */
  readonly url: string
  /** The connections that were made to it. */
  readonly connections: () => number
  readonly close: () => void
}

/** Serves the document of a client at a name, on this machine. */
const documentsAt = async (name: string): Promise<Documents> => {
  let connections = 0
  const server = createSecureServer(certificate, ({ url }, response) => {
    const document = { client_id: at, client_name: "Editor", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" }
    response.writeHead(url === "/client.json" ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(document))
  }).on("connection", () => void connections++)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const at = `https://${name}:${typeof address === "object" ? address?.port : 0}/client.json`
  return { url: at, connections: () => connections, close: () => void server.close() }
}

/** Reads documents as the service does, and finds all names at this machine. */
const documentsHere = NodeClientDocuments.make({
  ca: certificate.cert,
  isAllowed: () => true,
  resolve: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }])
})

interface Running {
  readonly url: string
  readonly atelier: Atelier.Atelier
  /** A session token of the member. */
  readonly session: string
  /** A workspace of another user, where commands can run. */
  readonly foreign: string
  readonly close: () => Promise<void>
}

const start = async (): Promise<Running> => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-mcp-"))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const agent = fileURLToPath(new URL("../../agent/dist/main.js", import.meta.url))
  const atelier = await Atelier.make({
    accessUrl: url,
    storage: Sqlite.layer({ filename: join(directory, "atelier.db") }),
    provisioner: LocalProvisioner.layer({ directory: join(directory, "workspaces"), agent: { command: [process.execPath, agent] } }),
    starterTemplates: starterTemplates(),
    mcp: mcpServer(),
    clientDocuments: documentsHere,
    options: { wildcardAccessUrl: `*.localhost:${port}` },
    logLevel: "none"
  })
  const server = createServer(atelier.handler).on("upgrade", atelier.upgrade)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  await users.createFirstUser(createClient({ baseUrl: url }), { body: { email: "ada@example.com", username: "ada", password } })
  const ada = atelier.client({ user: "ada" })
  // Imports the template too
  const { id } = await ada.sandboxes.create({ template: "shell", name: "foreign" })
  const { organization_ids } = await users.getUser(ada, { user: "me" })
  await users.createUser(ada, { body: { email: "bob@example.com", username: "bob", password, organization_ids } })
  const body = JSON.stringify({ email: "bob@example.com", password })
  const login = await fetch(`${url}/api/v2/users/login`, { method: "POST", body })
  const { session_token: session } = (await login.json()) as { readonly session_token: string }
  return {
    url,
    atelier,
    session,
    foreign: id,
    close: async () => {
      await (await ada.sandboxes.get(id)).delete({ wait: true })
      server.close()
      await atelier.dispose()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

/** What a client of the protocol keeps of its login. */
interface Kept {
  client?: OAuthClientInformationMixed
  tokens?: OAuthTokens
  verifier?: string
  authorization?: URL
}

const providerOf = (kept: Kept): OAuthClientProvider => ({
  redirectUrl,
  clientMetadata: { redirect_uris: [redirectUrl], client_name: "MCP client", token_endpoint_auth_method: "none" },
  state: () => "a state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (url) => void (kept.authorization = url),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier ?? ""
})

/** The member consents; answers the code. */
const codeOf = async ({ session }: Running, { authorization }: Kept): Promise<string> => {
  if (authorization === undefined) throw new Error("the client asks for no authorization")
  const answer = await fetch(authorization, { method: "POST", redirect: "manual", headers: { "Service-Session-Token": session } })
  return new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? ""
}

describe("the tools", () => {
  let running: Running
  const kept: Kept = {}
  const client = new Client({ name: "test", version: "1" })

  const connect = (to: Client, provider: OAuthClientProvider) => {
    const transport = new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), { authProvider: provider })
    // The library's class has optional members in another way than its interface
    return { transport, connected: to.connect(transport as never) }
  }

  const result = async (name: string, input: Readonly<Record<string, unknown>>) => {
    const { content, isError, structuredContent } = CallToolResultSchema.parse(await client.callTool({ name, arguments: input }))
    const [first] = content
    return { isError, structuredContent, text: first?.type === "text" ? first.text : "" }
  }
  /** What a tool returns. */
  const call = async (name: string, input: Readonly<Record<string, unknown>> = {}): Promise<Readonly<Record<string, unknown>>> => {
    const { structuredContent, text } = await result(name, input)
    if (structuredContent === undefined) throw new Error(text)
    return structuredContent
  }
  /** Why a tool fails. */
  const failure = async (name: string, input: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const { isError, text } = await result(name, input)
    return isError === true ? text : `no failure: ${text}`
  }

  beforeAll(async () => {
    running = await start()
    const provider = providerOf(kept)
    const first = connect(new Client({ name: "test", version: "1" }), provider)
    await expect(first.connected).rejects.toThrow(UnauthorizedError)
    await first.transport.finishAuth(await codeOf(running, kept))
    await connect(client, provider).connected
  })
  afterAll(async () => {
    await client.close()
    await running.close()
  })

  it("are reached by the login that the first answer leads to", async () => {
    const asked = kept.authorization?.searchParams
    expect([asked?.get("resource"), asked?.get("scope")]).toStrictEqual([
      `${running.url}/mcp`,
      "coder:workspaces.access coder:workspaces.create coder:workspaces.delete coder:workspaces.operate"
    ])
    const headers = { authorization: `Bearer ${kept.tokens?.access_token}` }
    expect((await fetch(`${running.url}/api/v2/users/me`, { headers })).status).toBe(401)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toStrictEqual([
      "list_templates",
      "list_workspaces",
      "create_workspace",
      "start_workspace",
      "stop_workspace",
      "delete_workspace",
      "build_log",
      "preview_url",
      "exec",
      "start_process",
      "list_processes",
      "read_process",
      "end_process",
      "read_file",
      "write_file",
      "edit_file",
      "find_files"
    ])
    expect(tools.filter(({ inputSchema, outputSchema }) => inputSchema === undefined || outputSchema === undefined)).toStrictEqual([])
    expect(tools.find(({ name }) => name === "delete_workspace")?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true
    })
  })

  it("are reached by the login of a client that its metadata document describes", async () => {
    const documents = await documentsAt("mail.example.com")
    const documented: Kept = {}
    const provider = { ...providerOf(documented), clientMetadataUrl: documents.url }
    const first = connect(new Client({ name: "test", version: "1" }), provider)
    await expect(first.connected).rejects.toThrow(UnauthorizedError)
    expect(documented.authorization?.searchParams.get("client_id")).toBe(documents.url)
    const consent = await fetch(documented.authorization ?? "", { headers: { "Service-Session-Token": running.session } })
    expect(await consent.text()).toContain(`Allow ${new URL(documents.url).host}: Editor?`)
    await first.transport.finishAuth(await codeOf(running, documented))
    const editor = new Client({ name: "test", version: "1" })
    await connect(editor, provider).connected
    expect((await editor.callTool({ name: "list_templates", arguments: {} })).isError).not.toBe(true)
    expect(documents.connections()).toBe(1)
    await editor.close()
    documents.close()
  })

  it("make a workspace, work in it, and delete it", async () => {
    const workspace = "made"
    expect(await call("list_templates")).toMatchObject({ templates: [{ name: "shell" }] })
    const made = await call("create_workspace", { template: "shell", name: workspace, timeout_ms: 600_000 })
    expect(made).toMatchObject({ owner: "bob", template: "shell", status: "running", error: null })
    const command = "echo out; echo err >&2; exit 3"
    expect(await call("exec", { workspace, command })).toMatchObject({ exit_code: 3, stdout: "out\n", stderr: "err\n" })

    const path = "src/a.txt"
    expect(await call("write_file", { workspace: "bob/made", path, content: "one $& two one" })).toMatchObject({ size: 14 })
    const edit = { workspace, path, old_text: "one", new_text: "$&" }
    expect(await failure("edit_file", edit)).toContain("2 times")
    expect(await call("edit_file", { ...edit, replace_all: true })).toMatchObject({ replacements: 2 })
    const part = { content: "$& $& ", size: 12, next_offset: 6, truncated: true }
    expect(await call("read_file", { workspace, path, limit: 6 })).toMatchObject(part)
    expect(await call("find_files", { workspace, content: "two" })).toMatchObject({ matches: [{ line: 1, text: "$& $& two $&" }] })
    expect(await failure("read_file", { workspace, path: "absent" })).toContain("absent")
    const { url } = await call("preview_url", { workspace, port: 8000 })
    expect(url).toMatch(/^http:\/\/8000--main--made--bob\.localhost:/)

    const { id: process } = await call("start_process", { workspace, command: "echo begun; sleep 1000" })
    const read = (input: object) => call("read_process", { workspace, process, ...input })
    await expect.poll(() => read({ wait_ms: 500 })).toMatchObject({ stdout: "begun\n", stderr: "", offset: 6, status: "running" })
    expect(await read({ offset: 6, wait_ms: 0 })).toMatchObject({ stdout: "", offset: 6 })
    expect(await call("list_processes", { workspace })).toMatchObject({ processes: [{ id: process, status: "running" }] })
    expect(await call("end_process", { workspace, process })).toStrictEqual({ ended: true })

    expect(await call("stop_workspace", { workspace })).toMatchObject({ status: "stopped" })
    expect(await failure("exec", { workspace, command: "true" })).toBe('The workspace "made" is stopped.')
    expect(await call("start_workspace", { workspace })).toMatchObject({ status: "running" })
    expect((await call("build_log", { workspace }))["lines"]).not.toStrictEqual([])
    expect(await call("list_workspaces")).toMatchObject({ count: 1, workspaces: [{ name: "made" }] })
    expect(await call("delete_workspace", { workspace })).toStrictEqual({ deleted: true })
  })

  it("refuse what their caller may not do, and inputs beyond their bounds", async () => {
    for (const [name, more] of [
      ["exec", { command: "true" }],
      ["read_file", { path: "a" }],
      ["delete_workspace", {}]
    ] as const) {
      for (const workspace of [running.foreign, "ada/foreign"])
        expect(await failure(name, { workspace, ...more })).not.toContain("no failure")
    }
    expect(await call("list_workspaces", { q: "owner:ada" })).toMatchObject({ count: 0 })
    expect(await failure("exec", { workspace: "made", command: "x".repeat(100_001) })).toContain("command")
    expect(await failure("absent")).toContain("absent")
  })

  const post = (message: unknown, headers: Readonly<Record<string, string>>) =>
    fetch(`${running.url}/mcp`, {
      method: "POST",
      body: JSON.stringify(message),
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
    })
  const toolCall = (name: string, input: object = {}) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: input }
  })

  it("name the scopes that a token lacks, with those that it has", async () => {
    const few: Kept = {}
    const provider = providerOf(few)
    const resourceMetadataUrl = new URL(`${running.url}/.well-known/oauth-protected-resource/mcp`)
    const options = { serverUrl: `${running.url}/mcp`, scope: "coder:workspaces.operate", resourceMetadataUrl }
    expect(await auth(provider, options)).toBe("REDIRECT")
    expect(await auth(provider, { ...options, authorizationCode: await codeOf(running, few) })).toBe("AUTHORIZED")
    const other = new Client({ name: "test", version: "1" })
    await connect(other, provider).connected
    expect((await other.callTool({ name: "list_workspaces", arguments: {} })).isError).not.toBe(true)
    const refused = await post(toolCall("delete_workspace", { workspace: "made" }), { authorization: `Bearer ${few.tokens?.access_token}` })
    expect([refused.status, refused.headers.get("www-authenticate")]).toStrictEqual([
      403,
      `Bearer realm="service", error="insufficient_scope", error_description="The token has no scope for this tool.", scope="coder:workspaces.operate coder:workspaces.delete", resource_metadata="${resourceMetadataUrl}"`
    ])
    await other.close()
  })

  it("hold the scopes and the allow list of an API token, also for what they call", async () => {
    const bob = createClient({ baseUrl: running.url, token: running.session })
    const { id } = await bob.sandboxes.create({ template: "shell", name: "allowed" })
    const tokenOf = async (scopes: ReadonlyArray<string>, list: ReadonlyArray<string>, of: AtelierClient = bob) =>
      (await keys.createToken(of, { user: "me", body: { scopes, allow_list: list } })).key
    const run = async (token: string, workspace: string) => {
      const answer = await post(toolCall("exec", { workspace, command: "echo ran" }), { authorization: `Bearer ${token}` })
      return answer.status === 200 ? JSON.stringify(await answer.json()) : answer.status
    }
    expect(await run(await tokenOf(["coder:workspaces.access"], [`workspace:${id}`, "template:*", "organization_member:*"]), id)).toContain(
      "ran"
    )
    const elsewhere = `workspace:${running.foreign}`
    expect(await run(await tokenOf(["coder:workspaces.access"], [elsewhere]), id)).toContain('"isError":true')
    expect(await run(await tokenOf(["workspace:read"], ["*:*"]), id)).toBe(403)
    await (await bob.sandboxes.get(id)).delete({ wait: true })
  })

  it("take a token in a header alone, one message at a time, and by POST", async () => {
    const { session, url } = running
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" }
    expect((await post(list, { authorization: `Bearer ${session}` })).status).toBe(200)
    const anonymous = await post(list, {})
    expect([anonymous.status, anonymous.headers.get("www-authenticate")]).toStrictEqual([
      401,
      `Bearer realm="service", scope="coder:workspaces.access coder:workspaces.create coder:workspaces.delete coder:workspaces.operate", resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`
    ])
    expect((await post(list, { cookie: `service_session_token=${session}` })).status).toBe(401)
    expect((await post([list, list], { authorization: `Bearer ${session}` })).status).toBe(400)
    expect((await post("x".repeat(13 * 1024 * 1024), { authorization: `Bearer ${session}` })).status).toBe(413)
    expect((await fetch(`${url}/mcp`, { headers: { authorization: `Bearer ${session}` } })).status).toBe(405)
    const metadata = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)
    expect(await metadata.json()).toMatchObject({
      resource: `${url}/mcp`,
      authorization_servers: [url],
      scopes_supported: mcpServer().scopes
    })
  })
})

describe("the tools of two replicas on PostgreSQL, under a prefix", () => {
  const scope = Effect.runSync(Scope.make())
  const replicas: Array<{ readonly url: string; readonly close: () => Promise<void> }> = []
  let session = ""

  beforeAll(async () => {
    const database = await Effect.runPromise(Scope.extend(databaseUrl, scope))
    const ports = [await freePort(), await freePort()]
    for (const port of ports) {
      const atelier = await Atelier.make({
        accessUrl: `http://127.0.0.1:${ports[0]}/dev`,
        storage: Postgres.layer({ url: database, maxConnections: 3 }),
        mcp: mcpServer(),
        logLevel: "none"
      })
      const server = createServer(atelier.handler)
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
      replicas.push({ url: `http://127.0.0.1:${port}/dev`, close: async () => void (server.close(), await atelier.dispose()) })
    }
    const baseUrl = replicas[0]?.url ?? ""
    await users.createFirstUser(createClient({ baseUrl }), { body: { email: "ada@example.com", username: "ada", password } })
    const login = await fetch(`${baseUrl}/api/v2/users/login`, {
      method: "POST",
      body: JSON.stringify({ email: "ada@example.com", password })
    })
    session = ((await login.json()) as { readonly session_token: string }).session_token
  })
  afterAll(async () => {
    await Promise.all(replicas.map(({ close }) => close()))
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("take a token that the login at another replica has given", async () => {
    const [first, second] = replicas.map(({ url }) => url)
    const kept: Kept = {}
    const provider = providerOf(kept)
    const options = { serverUrl: `${first}/mcp` }
    expect(await auth(provider, options)).toBe("REDIRECT")
    expect(kept.authorization?.searchParams.get("resource")).toBe(`${first}/mcp`)
    const code = await fetch(kept.authorization ?? "", {
      method: "POST",
      redirect: "manual",
      headers: { "Service-Session-Token": session }
    })
    const authorizationCode = new URL(code.headers.get("location") ?? "").searchParams.get("code") ?? ""
    expect(await auth(provider, { ...options, authorizationCode })).toBe("AUTHORIZED")
    const client = new Client({ name: "test", version: "1" })
    const headers = { authorization: `Bearer ${kept.tokens?.access_token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${second}/mcp`), { requestInit: { headers } }) as never)
    expect((await client.callTool({ name: "list_workspaces", arguments: {} })).structuredContent).toMatchObject({ count: 0 })
    await client.close()
  })

  it.each(["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])("read no metadata document of a client at %s", async (name) => {
    const documents = await documentsAt(name)
    const kept: Kept = {}
    const provider = { ...providerOf(kept), clientMetadataUrl: documents.url }
    expect(await auth(provider, { serverUrl: `${replicas[0]?.url}/mcp` })).toBe("REDIRECT")
    const asked = await fetch(kept.authorization ?? "", {
      method: "POST",
      redirect: "manual",
      headers: { "Service-Session-Token": session }
    })
    expect([asked.status, asked.headers.get("location")]).toStrictEqual([401, null])
    expect(documents.connections()).toBe(0)
    documents.close()
  })

  it("take a token that is bound to a key with a proof of the key alone", async () => {
    const base = replicas[0]?.url ?? ""
    const { privateKey, publicKey } = await generateKeyPair("ES256")
    const jwk = await exportJWK(publicKey)
    const proof = (claims: Readonly<Record<string, unknown>>) =>
      new SignJWT({ jti: randomUUID(), iat: Math.floor(Date.now() / 1000), htm: "POST", ...claims })
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
        .sign(privateKey)
    const metadata = { redirect_uris: [redirectUrl], token_endpoint_auth_method: "none", dpop_bound_access_tokens: true }
    const registered = await fetch(`${base}/oauth2/register`, { method: "POST", body: JSON.stringify(metadata) })
    const { client_id } = (await registered.json()) as { readonly client_id: string }
    const code_verifier = randomUUID() + randomUUID()
    const code_challenge = createHash("sha256").update(code_verifier).digest("base64url")
    const query = { response_type: "code", client_id, code_challenge, code_challenge_method: "S256", resource: `${base}/mcp` }
    const consent = await fetch(`${base}/oauth2/authorize?${new URLSearchParams(query)}`, {
      method: "POST",
      redirect: "manual",
      headers: { "Service-Session-Token": session }
    })
    const code = new URL(consent.headers.get("location") ?? "").searchParams.get("code") ?? ""
    const redeemed = await fetch(`${base}/oauth2/tokens`, {
      method: "POST",
      headers: { dpop: await proof({ htu: `${base}/oauth2/tokens` }) },
      body: new URLSearchParams({ grant_type: "authorization_code", client_id, code, code_verifier, resource: `${base}/mcp` })
    })
    const { access_token, token_type } = (await redeemed.json()) as { readonly access_token: string; readonly token_type: string }
    expect(token_type).toBe("DPoP")
    const list = async (headers: Readonly<Record<string, string>>) => {
      const answer = await fetch(`${base}/mcp`, {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
      })
      return answer.status
    }
    const ath = createHash("sha256").update(access_token).digest("base64url")
    const authorization = `DPoP ${access_token}`
    expect(await list({ authorization, dpop: await proof({ htu: `${base}/mcp`, ath }) })).toBe(200)
    expect(await list({ authorization })).toBe(401)
    expect(await list({ authorization: `Bearer ${access_token}` })).toBe(401)
    expect(await list({ authorization, dpop: await proof({ htu: `${base}/api/v2/users/me`, ath }) })).toBe(401)
  })
})
