/** Requests, logins and their renewal against a service that answers late, or not at all. */
import { AtelierError, type Workspace } from "@atelier/client"
import * as users from "@atelier/client/users"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { logout } from "../src/access/account.js"
import { deviceLogin } from "../src/access/deviceLogin.js"
import { keep } from "../src/access/loginContext.js"
import { renewed } from "../src/access/renewal.js"
import { type Context, type Contexts, makeContexts } from "../src/contexts/Contexts.js"
import { keyStoreOf } from "../src/contexts/KeyStore.js"
import { exitCodes, Failure, Interrupted, isPassing } from "../src/Failure.js"
import { fetchWithin, httpFetch } from "../src/requests/httpFetch.js"
import { makeSession } from "../src/Session.js"
import { makeOutput } from "../src/terminal/Output.js"
import { makePrompts } from "../src/terminal/Prompts.js"
import { beginBuild, type Change, untilReady } from "../src/workspaces/builds.js"

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

let answer: Answer = (_, response) => json(response, 200, {})
const server = createServer((request, response) => answer(request, response))
let url = ""
let contexts: Contexts
let directory = ""

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-requests-"))
  contexts = makeContexts(directory, keyStoreOf({ PATH: "/none" }))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

const login = async (): Promise<Context> => {
  const grant = { refreshToken: "refresh", clientId: "client", expiresAt: Date.now() + 3_600_000 }
  const context = { url, username: "ada", brand: "Service", token: "old", grant }
  await contexts.write("dev", context)
  return context
}

const session = (used = contexts) => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  // Streams that are no terminal
  const streams = { stdin, stdout, stderr } as unknown as Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">
  const { signal } = new AbortController()
  const out = makeOutput({ env: {}, format: "table", isQuiet: false, isDebug: false, ...streams })
  const ask = makePrompts(streams.stdin, streams.stderr, signal)
  return makeSession({ program: "atelier", env: {}, ...streams, out, ask, signal, contexts: used, url: undefined, context: "dev" })
}

describe("a request", () => {
  const request = (method: string) => httpFetch(url, { method }).then((response) => response.text())

  it("is sent again on a new connection only if it may be repeated", async () => {
    const seen: Array<string> = []
    answer = ({ method = "", socket }, response) => {
      seen.push(method)
      if (seen.length === 2) socket.destroy()
      else json(response, 200, {})
    }
    await request("GET")
    expect(await request("GET")).toBe("{}")
    expect(seen).toStrictEqual(["GET", "GET", "GET"])

    seen.length = 0
    await request("GET")
    await expect(request("POST")).rejects.toThrow("socket hang up")
    expect(seen).toStrictEqual(["GET", "POST"])
  })

  it("fails when the service falls silent, before its answer or within it", async () => {
    answer = (_, response) => void (response.req.url === "/begun" && response.write("x"))
    await expect(fetchWithin(50)(url, {})).rejects.toThrow("nothing for too long")
    const begun = await fetchWithin(1_000)(`${url}/begun`, {})
    await expect(begun.text()).rejects.toThrow("nothing for too long")
  })
})

describe("the renewal of a login", () => {
  it("goes on when the user interrupts the command", async () => {
    const context = await login()
    const user = new AbortController()
    answer = (_, response) => {
      user.abort(new Interrupted())
      // After what the interruption has ended
      setImmediate(() => json(response, 200, { access_token: "new", refresh_token: "next", expires_in: 3600 }))
    }
    const renewing = renewed(context, { contexts, name: "dev", program: "atelier", signal: user.signal })
    await once(user.signal, "abort")
    await contexts.settled()
    expect(await contexts.read("dev")).toMatchObject({ token: "new", grant: { refreshToken: "next" } })
    expect((await renewing).token).toBe("new")
  })

  it("happens once for requests that were refused with the same token", async () => {
    await login()
    let renewals = 0
    const held: Array<() => void> = []
    answer = ({ headers, url: path }, response) => {
      if (path === "/oauth2/tokens")
        return json(response, 200, { access_token: `new ${++renewals}`, refresh_token: "next", expires_in: 3600 })
      if (headers["service-session-token"] !== "old") return json(response, 200, {})
      const refuse = () => json(response, 401, {})
      if (path === "/api/v2/users/late") held.push(refuse)
      else refuse()
    }
    const client = await session().client()
    const late = users.getUser(client, { user: "late" })
    await users.getUser(client, { user: "early" })
    await expect.poll(() => held).toHaveLength(1)
    held[0]?.()
    await late
    expect(renewals).toBe(1)
  })

  /** A renewal by another process, which the service answers once `behind` has begun to wait for it, or has ended. Tells which tokens were ended. */
  const renewedBeside = async (behind: (waiting: Contexts) => Promise<unknown>) => {
    const context = await login()
    const [asked, waits] = [new AbortController(), new AbortController()]
    const revoked: Array<string | null> = []
    answer = (request, response) => {
      const { url: path } = request
      if (path === "/oauth2/tokens") {
        waits.signal.addEventListener("abort", () => json(response, 200, { access_token: "new", refresh_token: "next", expires_in: 3600 }))
        asked.abort()
      } else if (path === "/oauth2/revoke") {
        void text(request).then((body) => {
          revoked.push(new URLSearchParams(body).get("token"))
          json(response, 200, {})
        })
      } else json(response, 200, { username: "eve" })
    }
    const renewing = renewed(context, { contexts, name: "dev", program: "atelier", signal: new AbortController().signal })
    await once(asked.signal, "abort")
    const alone: Contexts["alone"] = (...given) => {
      waits.abort()
      return contexts.alone(...given)
    }
    await Promise.all([behind({ ...contexts, alone }).finally(() => waits.abort()), renewing])
    return revoked
  }

  it("does not bring back a login that the user ends meanwhile", async () => {
    expect(await renewedBeside((waiting) => logout({}, session(waiting)))).toStrictEqual(["next"])
    expect(await contexts.read("dev")).toBeUndefined()
  })

  it("does not replace another login of the same name", async () => {
    await renewedBeside((waiting) => keep(session(waiting), { url, brand: "Service", token: "another" }, { name: "dev", place: "file" }))
    expect(await contexts.read("dev")).toMatchObject({ username: "eve", token: "another" })
  })
})

it("may be answered later if the service did not answer, or could not", () => {
  const statuses = [0, 400, 401, 409, 429, 500, 503]
  expect(statuses.filter((status) => isPassing(new AtelierError({ status, message: "" })))).toStrictEqual([0, 429, 500, 503])
  const cause = new Failure({ message: "The login has ended.", code: exitCodes.notLoggedIn })
  expect(isPassing(new AtelierError({ status: 0, message: "", cause }))).toBe(false)
})

it("a login by a code goes on while the service cannot answer, and shows no control characters", async () => {
  const polls = [503, 0, 429, 200]
  answer = ({ socket, url: path }, response) => {
    if (path === "/oauth2/register") return json(response, 201, { client_id: "client" })
    if (path === "/oauth2/device_authorization") {
      const device = { device_code: "code", user_code: "AB\u001b[2J", verification_uri: "http://a\u0007", interval: 0.01, expires_in: 60 }
      return json(response, 200, device)
    }
    const status = polls.shift() ?? 200
    if (status === 0) socket.destroy()
    else json(response, status, status === 200 ? { access_token: "token" } : {})
  }
  const here = session()
  expect(await deviceLogin(here, { url, scopes: [] })).toStrictEqual({ token: "token", grant: undefined })
  expect(polls).toStrictEqual([])
  here.stderr.end()
  const said = await text(here.stderr as unknown as PassThrough)
  expect(said).toContain("enter the code AB [2J:")
  for (const control of ["\u001b", "\u0007"]) expect(said).not.toContain(control)
})

it("a workspace is waited for while the service restarts", async () => {
  // One cut alone is bridged by the request itself
  let cut = 2
  answer = ({ socket }, response) => {
    if (cut-- > 0) socket.destroy()
    else json(response, 200, { id: "made", latest_build: { status: "running", resources: [] } })
  }
  const here = session()
  expect(await untilReady(await here.client(), "made", here)).toMatchObject({ id: "made" })
})

it("the agent of a workspace is waited for while the service restarts", async () => {
  const agents = [{ id: "agent", name: "main", status: "connected", lifecycle_state: "ready" }]
  let asked = 0
  answer = ({ socket }, response) => {
    asked++
    if (asked > 1 && asked < 4) socket.destroy()
    else json(response, 200, { id: "made", latest_build: { status: "running", resources: [{ agents }] } })
  }
  const here = session()
  expect(await untilReady(await here.client(), "made", here)).toMatchObject({ id: "made" })
})

describe("a build that the service refuses because of another one", () => {
  const change = async (asked: Change) => {
    const other = { id: "other", status: asked.transition === "stop" ? "stopping" : "starting", transition: asked.transition }
    answer = ({ method }, response) =>
      method === "POST"
        ? json(response, 409, { message: "another build" })
        : json(response, 200, { latest_build: { ...other, template_version_id: "old" } })
    const here = session()
    // The service has begun the other one since
    const found = { id: "made", latest_build: { status: "running" } } as unknown as Workspace
    const begun = await beginBuild(await here.client(), found, asked, here).catch(() => undefined)
    here.stderr.end()
    return { begun, said: await text(here.stderr as unknown as PassThrough) }
  }

  it("is that one if it is the same", async () => {
    expect(await change({ transition: "start" })).toMatchObject({ begun: { id: "other" }, said: "" })
  })

  it.each<Change>([
    { transition: "start", template_version_id: "new" },
    { transition: "start", rich_parameter_values: [{ name: "size", value: "2" }] },
    { transition: "stop", on_success: { transition: "start" } },
    { transition: "delete", orphan: true }
  ])("waits for the other one if it is not: %o", async (asked) => {
    const { begun, said } = await change(asked)
    expect(begun).toBeUndefined()
    expect(said).toContain(`Waiting for the build that is under way (${asked.transition}).`)
  })
})
