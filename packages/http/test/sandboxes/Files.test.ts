import { createHash } from "node:crypto"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { describeAgents, type RunningAgent } from "../agents/AgentServer.js"
import { link } from "../network/linkedAgents.js"

const size = 24 * 1024 * 1024

describeAgents("the files of a workspace", (server) => {
  let directory = ""
  let agent: RunningAgent
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "atelier-workspace-"))
    agent = await server().anAgent()
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  const at = (name: string) => join(directory, name)

  /** The address of an operation on a path. */
  const address = (path: string, route = "", more: Readonly<Record<string, string>> = {}) =>
    `/workspaceagents/${agent.id}/files${route}?${new URLSearchParams({ path, ...more })}`

  const call = (method: "GET" | "PUT" | "POST" | "DELETE" | "HEAD", path: string, body?: object | Uint8Array, headers = {}) =>
    server().call(method, path, { token: server().owner().token, body, headers })

  /** An upload that has not ended. */
  const uploading = (name: string) => {
    const asked = request(`${server().url}/api/v2${address(at(name))}`, {
      method: "PUT",
      headers: { "Service-Session-Token": server().owner().token, "content-type": "application/octet-stream" }
    })
    asked.on("error", () => undefined)
    asked.write(Buffer.alloc(300_000))
    return asked
  }

  it("are written, read and listed", async () => {
    await link(server(), agent)
    const written = await call("PUT", address(at("a+b é%41"), "", { mode: "600" }), Buffer.from("0123456789"))
    expect(written).toMatchObject({ status: 201, body: { path: at("a+b é%41"), size: 10, mode: "0600" } })
    const read = await call("GET", address(at("a+b é%41")))
    expect([read.status, read.text, read.headers.get("content-type")]).toStrictEqual([200, "0123456789", "application/octet-stream"])
    expect(read.headers.get("x-content-type-options")).toBe("nosniff")
    const etag = read.headers.get("etag") ?? ""
    const part = await call("GET", address(at("a+b é%41")), undefined, { range: "bytes=-2", "if-range": etag })
    expect([part.status, part.text, part.headers.get("content-range")]).toStrictEqual([206, "89", "bytes 8-9/10"])
    expect((await call("GET", address(at("a+b é%41")), undefined, { "if-none-match": etag })).status).toBe(304)
    const head = await call("HEAD", address(at("a+b é%41")))
    expect([head.status, head.headers.get("content-length"), head.headers.get("x-file-mode")]).toStrictEqual([200, "10", "0600"])
    const beyond = await call("GET", address(at("a+b é%41")), undefined, { range: "bytes=10-" })
    expect([beyond.status, beyond.headers.get("content-range")]).toStrictEqual([416, "bytes */10"])
    expect((await call("PUT", address(at("a+b é%41")), Buffer.from("x"), { "if-match": '"other"' })).status).toBe(412)
    expect(await call("POST", `/workspaceagents/${agent.id}/files/move`, { from: at("a+b é%41"), to: at("moved") })).toMatchObject({
      status: 200,
      body: { etag }
    })
    expect((await call("GET", address(directory, "/list"))).body).toMatchObject({ entries: [{ name: "moved", etag }] })
    expect((await call("GET", address(directory, "/find", { content: "345" }))).body).toStrictEqual({
      matches: [{ path: at("moved"), line: 1, text: "0123456789" }],
      truncated: false
    })
    expect((await call("DELETE", address(at("moved")))).status).toBe(204)
    expect(await call("GET", address(at("moved")))).toMatchObject({ status: 404, body: { message: `"${at("moved")}" does not exist.` } })
  })

  it("are refused with the path or the field that is wrong", async () => {
    await link(server(), agent)
    expect((await call("GET", address(directory))).status).toBe(409)
    expect(await call("GET", `/workspaceagents/${agent.id}/files`)).toMatchObject({
      status: 400,
      body: { validations: [{ field: "path" }] }
    })
    expect((await call("GET", `/workspaceagents/${agent.id}/files?path=%ff`)).status).toBe(400)
    expect([400, 414, 431]).toContain((await call("GET", address("x".repeat(65_536)))).status)
    expect((await call("PUT", address(at("x"), "", { mode: "rw" }), Buffer.from("x"))).status).toBe(400)
  })

  it("exist for those alone who may connect to the workspace", async () => {
    await link(server(), agent)
    await writeFile(at("secret"), "secret")
    const { token } = await server().aMember()
    for (const route of ["", "/stat", "/list", "/archive", "/find", "/watch"]) {
      const answer = await server().call("GET", address(at("secret"), route), { token })
      expect(answer.status, route).toBe(404)
    }
    expect((await server().call("PUT", address(at("secret")), { token, body: Buffer.from("x") })).status).toBe(404)
    expect(await readFile(at("secret"), "utf8")).toBe("secret")
    const { id } = server().owner().user
    const limited = await call("POST", `/users/${id}/keys/tokens`, { token_name: "limited", scopes: ["workspace:read"] })
    expect(limited.status).toBe(201)
    const key = String(new Map(Object.entries(limited.body ?? {})).get("key"))
    expect((await server().call("GET", address(at("secret")), { token: key })).status).toBe(404)
  })

  it("pass as they are, however large they are", async () => {
    await link(server(), agent)
    const bytes = Buffer.alloc(size, "0123456789abcdef")
    expect((await call("PUT", address(at("deep/large"), "", { parents: "true" }), bytes)).status).toBe(201)
    const response = await fetch(`${server().url}/api/v2${address(at("deep/large"))}`, {
      headers: { "Service-Session-Token": server().owner().token }
    })
    const digest = createHash("sha256")
    for await (const chunk of response.body ?? []) digest.update(chunk)
    expect(digest.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"))
    const archive = await fetch(`${server().url}/api/v2${address(at("deep"), "/archive")}`, {
      headers: { "Service-Session-Token": server().owner().token }
    })
    const unpacked = await call("PUT", address(at("copy"), "/archive"), new Uint8Array(await archive.arrayBuffer()))
    expect(unpacked).toMatchObject({ status: 200, body: { entries: 1 } })
    expect((await readFile(at("copy/large"))).equals(bytes)).toBe(true)
  })

  it("stay as they were when an upload breaks off, whichever side goes", async () => {
    const { close } = await link(server(), agent)
    await writeFile(at("old"), "old")
    const before = await readdir(directory)
    const client = uploading("old")
    await expect.poll(() => readdir(directory), { interval: 10 }).not.toStrictEqual(before)
    client.destroy()
    await expect.poll(() => readdir(directory), { interval: 10 }).toStrictEqual(before)
    const other = uploading("old")
    await expect.poll(() => readdir(directory), { interval: 10 }).not.toStrictEqual(before)
    // As when the server is killed
    await close()
    await expect.poll(() => readdir(directory), { interval: 10 }).toStrictEqual(before)
    expect(await readFile(at("old"), "utf8")).toBe("old")
    other.destroy()
  })

  describe("written by a request that fetch has made", () => {
    const put = (name: string, body: BodyInit) =>
      server().atelier.fetch(
        new Request(`${server().url}/api/v2${address(at(name))}`, {
          method: "PUT",
          headers: { "Service-Session-Token": server().owner().token, "content-type": "application/octet-stream" },
          body,
          duplex: "half"
        } as RequestInit)
      )

    it("have its bytes, whose number no header tells", async () => {
      await link(server(), agent)
      expect((await put("fetched", "0123456789")).status).toBe(201)
      expect(await readFile(at("fetched"), "utf8")).toBe("0123456789")
    })

    it("stay as they were when its body fails", async () => {
      await link(server(), agent)
      await writeFile(at("kept"), "old")
      const chunks = [Buffer.alloc(100_000)]
      const failing = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const chunk = chunks.shift()
          if (chunk === undefined) controller.error(new Error("The source has failed."))
          else controller.enqueue(chunk)
        }
      })
      const answer = await put("kept", failing)
      expect([answer.status, await answer.json()]).toMatchObject([400, { message: "The request ended before its body did." }])
      expect(await readFile(at("kept"), "utf8")).toBe("old")
    })
  })

  it("are watched", async () => {
    await link(server(), agent)
    const socket = server().socket(address(directory, "/watch"), server().owner().token)
    expect(await socket.next()).toStrictEqual({ events: [] })
    await call("PUT", address(at("seen")), Buffer.from("x"))
    expect(await socket.next()).toStrictEqual({ events: [{ path: at("seen"), kind: "created" }] })
    socket.close()
    await expect(server().socket(address(at("missing"), "/watch"), server().owner().token).refused).resolves.toMatchObject({ status: 404 })
  })
})
