/** SSH clients that log in to the gateway by their keys. */
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { expect, it } from "vitest"
import { describeAgents } from "../agents/AgentServer.js"
import { link, program } from "../network/linkedAgents.js"
import { add, client } from "./gatewayClient.js"
import { freePort, has, received } from "./openSsh.js"

const isHere = has("ssh") && has("ssh-keygen")

describeAgents("the SSH gateway", (server) => {
  it.skipIf(!isHere)("leads a user with a known key to the agent of a workspace", async () => {
    const owner = server().owner()
    const agent = await server().anAgent({ name: "dev" })
    await link(server(), agent)
    const { base, folder, publicKey, run, ssh, start } = await client(server(), agent)
    const host = (login: string): string => `${login}@127.0.0.1`
    const name = agent.workspace.name
    expect(await ssh([host(name), "true"])).toMatchObject({ code: 255, stderr: expect.stringContaining("Permission denied (publickey)") })
    expect(await add(server(), owner, publicKey)).toMatchObject({
      status: 201,
      body: { name: "laptop", fingerprint: expect.stringMatching(/^SHA256:[\w+/]{43}$/), last_used_at: null }
    })
    for (const login of [name, `${name}.dev`, `${owner.user.username}/${name}`, `${owner.user.username}/${name}.dev`]) {
      expect(await ssh([host(login), "cat; echo err >&2; exit 3"], "in\n")).toMatchObject({ code: 3, stdout: "in\n", stderr: "err\n" })
    }
    for (const login of ["nothing", `${name}.other`, `nobody/${name}`, "a/b/c"]) {
      expect(await ssh([host(login), "true"])).toMatchObject({
        code: 255,
        stderr: expect.stringMatching(/^(There is no such|The workspace has no agent)/)
      })
    }
    const { body } = await server().call("GET", "/users/me/ssh-keys", { token: owner.token })
    expect(body).toMatchObject([{ name: "laptop", last_used_at: expect.stringContaining("T") }])

    const content = Buffer.alloc(5_000_000, "0123456789abcdef!")
    writeFileSync(join(folder, "one"), content)
    const rekeyed = [...base, "-o", "RekeyLimit=1M"]
    await run("scp", [...rekeyed, "one", `${host(name)}:${folder}/two`])
    await run("scp", [...rekeyed, `${host(name)}:${folder}/two`, "three"])
    expect(readFileSync(join(folder, "three")).equals(content)).toBe(true)

    const target = await program((socket) => socket.end("here"))
    const [local, remote] = [await freePort(), await freePort()]
    const forwards = ["-L", `${local}:127.0.0.1:${target}`, "-R", `${remote}:127.0.0.1:${target}`]
    const up = start("ssh", [...base, ...forwards, host(name), "echo up; cat"])
    await up.until(/up/)
    expect(await Promise.all([received(local), received(remote)])).toStrictEqual(["here", "here"])
    up.child.stdin.end()
    expect(await up.ended).toMatchObject({ code: 0 })

    const stop = { token: owner.token, body: { transition: "stop" } }
    expect((await server().call("POST", `/workspaces/${agent.workspace.id}/builds`, stop)).status).toBe(201)
    for (const login of [name, `${name}.dev`]) {
      const stopped = "The workspace is not running (pending). Start it first."
      expect(await ssh([host(login), "true"])).toMatchObject({ code: 255, stderr: expect.stringContaining(stopped) })
    }
  })

  it.skipIf(!isHere)("ends connections with their key, and with the right to the workspace", async () => {
    const [owner, member] = [server().owner(), await server().aMember()]
    const agent = await server().anAgent({}, owner)
    await link(server(), agent)
    const { base, publicKey, ssh, start } = await client(server(), agent, "rsa")
    const login = `${owner.user.username}/${agent.workspace.name}@127.0.0.1`
    const { body } = await add(server(), member, publicKey)
    expect(await ssh([login, "true"])).toMatchObject({ code: 255, stderr: expect.stringContaining("There is no such workspace") })
    const share = (role: string) =>
      server().call("PATCH", `/workspaces/${agent.workspace.id}/acl`, {
        token: owner.token,
        body: { user_roles: { [member.user.id]: role } }
      })
    const connected = async () => {
      const { ended, until } = start("ssh", [...base, login, "echo up; exec sleep 1000"])
      await until(/up/)
      return { ended }
    }
    await share("use")
    const first = await connected()
    await share("")
    expect(await first.ended).toMatchObject({ code: 255 })
    await share("use")
    const second = await connected()
    const { id } = body as { readonly id: string }
    expect(await server().call("DELETE", `/users/me/ssh-keys/${id}`, { token: member.token })).toMatchObject({ status: 204 })
    expect(await second.ended).toMatchObject({ code: 255 })
    expect(await ssh([login, "true"])).toMatchObject({ code: 255, stderr: expect.stringContaining("Permission denied (publickey)") })
  })

  it.skipIf(!isHere)("ends connections with their user, and with the workspace", async () => {
    const [owner, member] = [server().owner(), await server().aMember()]
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    const { base, publicKey, ssh, start } = await client(server(), agent)
    await add(server(), member, publicKey)
    const login = `${agent.workspace.name}@127.0.0.1`
    const connected = async () => {
      const { ended, until } = start("ssh", [...base, login, "echo up; exec sleep 1000"])
      await until(/up/)
      return { ended }
    }
    const status = (word: string) => server().call("PUT", `/users/${member.user.id}/status/${word}`, { token: owner.token })
    const first = await connected()
    expect((await status("suspend")).status).toBe(200)
    expect(await first.ended).toMatchObject({ code: 255 })
    expect(await ssh([login, "true"])).toMatchObject({ code: 255, stderr: expect.stringContaining("Permission denied (publickey)") })
    await status("activate")
    const second = await connected()
    const body = { transition: "delete", orphan: true }
    expect((await server().call("POST", `/workspaces/${agent.workspace.id}/builds`, { token: owner.token, body })).status).toBe(201)
    expect(await second.ended).toMatchObject({ code: 255 })
  })

  it.skipIf(!isHere)("waits for an agent that a build has just started", async () => {
    const owner = server().owner()
    const agent = await server().anAgent({}, owner)
    const { base, publicKey, start } = await client(server(), agent)
    await add(server(), owner, publicKey)
    const waiting = start("ssh", [...base, "-v", "-o", "LogLevel=DEBUG1", `${agent.workspace.name}@127.0.0.1`, "echo reached"])
    // The client has proven its key, and the gateway looks for the agent
    await expect.poll(() => waiting.errors()).toMatch(/Server accepts key: /)
    await link(server(), agent)
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: "reached\n" })
  })

  it("lets ten connections of an address in at a time that have not logged in", async () => {
    const { port } = await client(server(), await server().anAgent())
    const greeted = async () => {
      const socket = connect(port, "127.0.0.1").on("error", () => undefined)
      const greeting = once(socket, "data").then(([bytes]) => String(bytes))
      const nothing = once(socket, "close").then(() => "")
      return { socket, greeting: await Promise.race([greeting, nothing]) }
    }
    const entering = await Promise.all(Array.from({ length: 10 }, greeted))
    for (const { greeting } of entering) expect(greeting).toMatch(/^SSH-2\.0-/)
    expect((await greeted()).greeting).toBe("")
    entering[0]?.socket.destroy()
    await expect.poll(async () => (await greeted()).greeting).toMatch(/^SSH-2\.0-/)
    for (const { socket } of entering) socket.destroy()
  })

  it.skipIf(!isHere)("asks for no password, and for a proof of each key, known or not", async () => {
    const agent = await server().anAgent()
    const { ssh } = await client(server(), agent, "ecdsa")
    const asked = await ssh(["-v", "-o", "LogLevel=DEBUG1", "-o", "BatchMode=yes", "anyone@127.0.0.1", "true"])
    expect(asked.stderr).toMatch(/Server accepts key: /)
    expect(asked.stderr).toContain("Permission denied (publickey).")
    expect(asked.stderr.match(/Authentications that can continue: .*/g)?.map((line) => line.trim())).toStrictEqual([
      "Authentications that can continue: publickey",
      "Authentications that can continue: publickey"
    ])
  })

  it("adds keys for the user alone, and only by a credential with all rights", async () => {
    const [owner, member] = [server().owner(), await server().aMember()]
    const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN5Cf3QGBsNvQ0NvNc5a2kXv0rQ2p0Qb7o0n0Qy3m9d1 a@b"
    const of = (token: string, body: object, user = "me") => server().call("POST", `/users/${user}/ssh-keys`, { token, body })
    expect(await of(member.token, { public_key: key, name: "desk" })).toMatchObject({ status: 201, body: { name: "desk" } })
    expect(await of(owner.token, { public_key: key })).toMatchObject({ status: 409 })
    expect(await of(owner.token, { public_key: key }, member.user.username)).toMatchObject({ status: 403 })
    const { body } = await server().call("POST", "/users/me/keys/tokens", {
      token: member.token,
      body: { scopes: ["user:update_personal", "api_key:create", "user:read"] }
    })
    expect(await of((body as { readonly key: string }).key, { public_key: key })).toMatchObject({ status: 403 })
    for (const public_key of ["", "ssh-dss AAAA", "ssh-ed25519 AAAA", `command="x" ${key}`, `${key}\n${key}`]) {
      expect(await of(member.token, { public_key })).toMatchObject({ status: 400, body: { validations: [{ field: "public_key" }] } })
    }
    const audit = await server().call("GET", "/audit?q=resource_type:user_ssh_key&limit=10", { token: owner.token })
    expect(audit.body).toMatchObject({
      audit_logs: expect.arrayContaining([expect.objectContaining({ action: "create", status_code: 201 })])
    })
  })
})
