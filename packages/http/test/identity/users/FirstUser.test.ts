import * as Headers from "@effect/platform/Headers"
import { DeploymentValues } from "@atelier/core/deployment"
import { SetupTokens } from "@atelier/core/identity"
import { Effect, Option, Redacted, Schema } from "effect"
import { request } from "node:http"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { sqlite } from "../../../../../test/store/databases.js"
import { describeInterface, describeServerOnEach, startServer, type TestServer } from "../../../../../test/http/server.js"
import { isForKnownHost, isLocalCaller } from "../../../src/server/request/setupCaller.js"

/** Asks for the first user at a host of that name. `fetch` sets the header itself. */
const requestOf = ({ url }: TestServer, host: string): Promise<{ readonly status: number | undefined; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const headers = { host, "content-type": "application/json" }
    const sent = request(`${url}/api/v2/users/first`, { method: "POST", headers }, async (response) => {
      resolve({ status: response.statusCode, body: await text(response) })
    })
    sent.on("error", reject)
    sent.end(JSON.stringify(ada))
  })

const ada = { email: "Ada@Example.com", username: "Ada-1", name: "Ada Lovelace", password: "SomeSecurePassword!" }

describeServerOnEach(
  "a deployment without users",
  (server, once) => {
    once("answers 404, and refuses an invalid first user, naming every field", async () => {
      const first = await server().call("GET", "/users/first")
      expect([first.status, first.headers.has("Service-Session-Token"), first.headers.has("X-Service-Build-Version")]).toStrictEqual([
        404,
        false,
        true
      ])

      const empty = await server().call("POST", "/users/first", { body: {} })
      expect([empty.status, empty.body]).toStrictEqual([
        400,
        {
          message: "Validation failed.",
          validations: [
            { field: "email", detail: "is required" },
            { field: "username", detail: "is required" },
            { field: "password", detail: "is required" }
          ]
        }
      ])

      const weak = await server().call("POST", "/users/first", { body: { ...ada, password: "newpassword" } })
      expect([weak.status, weak.body]).toMatchObject([400, { validations: [{ field: "password" }] }])
    })

    it("refuses a call that a page of another site makes a browser send", async () => {
      for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://elsewhere.example" }]) {
        const { body, status } = await server().call("POST", "/users/first", { headers, body: ada })
        expect([status, body]).toStrictEqual([403, { message: "A page of another site cannot create the first user." }])
      }
    })

    it("refuses a call for a foreign host, as DNS rebinding makes one", async () => {
      for (const host of ["evil.example:3000", "atelier.test.evil.example"]) {
        const answer = await requestOf(server(), host)
        expect([answer.status, answer.body]).toStrictEqual([403, expect.stringContaining("asks for another host")])
      }
    })

    it("gets exactly one owner from concurrent calls, and refuses the others", async () => {
      const answers = await Promise.all(
        ["Ada-1", "grace", "Ada-1", "mary"].map((username, index) =>
          server().call("POST", "/users/first", {
            body: { ...ada, username, email: index === 0 ? ada.email : `${index}@example.com`, trial: false }
          })
        )
      )
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409])
      expect((await server().call("GET", "/users/first")).status).toBe(200)
      expect(
        (await server().call("POST", "/users/first", { body: { ...ada, username: "later", email: "later@example.com" } })).status
      ).toBe(409)
      // Fields are judged before it is looked at whether there is a user, and the password's strength after that
      const again = async (fields: object) => (await server().call("POST", "/users/first", { body: { ...ada, ...fields } })).status
      expect(await again({ email: "nowhere" })).toBe(400)
      expect(await again({ password: "newpassword" })).toBe(409)
      expect(answers.flatMap(({ headers }) => headers.getSetCookie()).filter((cookie) => cookie.includes("session"))).toStrictEqual([])
    })
  },
  { empty: true }
)

describeServerOnEach(
  "a deployment without users that other machines reach",
  (server) => {
    it("takes its first user from them with the token of the last start alone", async () => {
      const issue = async () =>
        Redacted.value(Option.getOrThrow(await server().run(Effect.flatMap(SetupTokens, (tokens) => tokens.issue()))))
      const create = (headers: Readonly<Record<string, string>>) => server().call("POST", "/users/first", { headers, body: ada })
      expect((await (await fetch(`${server().url}/setup`)).text()).includes("Set-up token")).toBe(false)

      const before = await issue()
      const token = await issue()
      for (const headers of [{}, { "service-setup-token": before }, { "service-setup-token": `${token}x` }]) {
        expect((await create(headers)).status).toBe(403)
      }
      expect(await (await fetch(`${server().url}/setup`)).text()).toContain("Set-up token")
      // The link's token goes along with the form
      const page = await (await fetch(`${server().url}/setup?token=${token}`)).text()
      expect(page).toContain(`<input type="hidden" name="token" value="${token}">`)
      const stored = await server().run(Effect.flatMap(DeploymentValues, ({ get }) => get("setup_token")))
      expect(Option.getOrThrow(stored)).toMatch(/^[0-9a-f]{64}$/)

      expect((await create({ "service-setup-token": token })).status).toBe(201)
      expect((await create({ "service-setup-token": token })).status).toBe(409)
    })
  },
  { empty: true }
)

it("a set-up token of the options is required from other machines, the value none requires none", async () => {
  const status = async (setupToken: string, headers: Readonly<Record<string, string>> = {}) => {
    const server = await startServer(sqlite, { empty: true, options: { setupToken } })
    try {
      return (await server.call("POST", "/users/first", { headers, body: ada })).status
    } finally {
      await server.close()
    }
  }
  expect(await status("sixteen-letters!")).toBe(403)
  expect(await status("sixteen-letters!", { "service-setup-token": "sixteen-letters!" })).toBe(201)
  expect(await status("none")).toBe(201)
  await expect(status("short")).rejects.toThrow("options.setupToken: must have 16 characters or more, or be none")
})

it("the first user is created at the access URL's host or a loopback one", () => {
  const isKnown = (host: string | undefined, originalUrl = "/users/first") =>
    isForKnownHost(
      { accessUrl: "https://dev.example.com:8443/prefix" },
      { headers: Headers.fromInput(host === undefined ? {} : { host }), originalUrl }
    )
  expect(["dev.example.com", "DEV.example.com:8443", "localhost:3000", "127.0.0.1", "[::1]:80"].filter((host) => !isKnown(host))).toEqual(
    []
  )
  expect(["evil.example", "dev.example.com.evil.example", "10.0.0.1", "", " "].filter((host) => isKnown(host))).toEqual([])
  expect([isKnown(undefined, "https://dev.example.com/x"), isKnown(undefined, "https://evil.example/x"), isKnown(undefined)]).toEqual([
    true,
    false,
    false
  ])
})

describe("a caller who creates the first user", () => {
  const isLocal = (request: { ip?: string; accessUrl?: string; headers?: Readonly<Record<string, string>> }): boolean =>
    isLocalCaller(
      { accessUrl: request.accessUrl ?? "http://localhost:3000" },
      { headers: Headers.fromInput({ host: "localhost:3000", ...request.headers }) },
      { ip: request.ip ?? "127.0.0.1", visit: undefined }
    )

  it("is on the server's machine by the loopback address", () => {
    expect(isLocal({})).toBe(true)
    expect(isLocal({ ip: "::1", headers: { host: "[::1]:3000" } })).toBe(true)
    expect(isLocal({ ip: "127.0.0.1", headers: { host: "127.0.0.1:3000" } })).toBe(true)
  })

  it("is on another machine by its address, the host it asks for, a proxy's headers or the access URL", () => {
    for (const request of [
      { ip: "10.0.0.1" },
      { ip: "" },
      { headers: { host: "dev.example.com" } },
      { headers: { host: "" } },
      { headers: { "x-forwarded-for": "127.0.0.1" } },
      { headers: { via: "1.1 proxy" } },
      { accessUrl: "https://dev.example.com" }
    ]) {
      expect([request, isLocal(request)]).toStrictEqual([request, false])
    }
  })
})

describeInterface("the first user", (server) => {
  it("is an active owner with a password, and a member of the default organization", async () => {
    const { token, user } = server().owner()
    const me = await server().call("GET", "/users/me", { token })
    const organization = await server().call("GET", "/organizations/default", { token })
    expect(organization.body).toMatchObject({
      name: "default",
      is_default: true,
      default_org_member_roles: ["organization-workspace-access"]
    })
    expect(organization.body).not.toHaveProperty("deleted")
    expect([me.status, me.body]).toMatchObject([
      200,
      {
        id: user.id,
        username: "owner",
        email: "owner@example.com",
        status: "active",
        login_type: "password",
        roles: [{ name: "owner", display_name: "Owner" }],
        has_ai_seat: false,
        organization_ids: [organization.as(Schema.Struct({ id: Schema.String })).id]
      }
    ])
    expect(me.body).not.toHaveProperty("hashed_password")
  })
})
