import { LicenseRepository } from "@atelier/core/deployment"
import { Ids, Timestamp } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import type { Options } from "@atelier/http"
import { Duration, Effect, Schema } from "effect"
import { EventEmitter, once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { issueLicense, newKey, verificationKey } from "../../../../../examples/embed-node/src/issueLicense.js"
import { databaseUrl, sqlite, sqliteIn } from "../../../../../test/store/databases.js"
import {
  describeInterface,
  describeServer,
  describeServerOnEach,
  startServer,
  type TestServer,
  unlicensed
} from "../../../../../test/http/server.js"

const key = newKey("vendor")
const licensed = { options: { licenseKeys: [verificationKey(key)] } }

const seconds = (days: number): number => Math.floor(Date.now() / 1000) + days * 24 * 60 * 60

const License = Schema.Struct({
  id: Schema.Number,
  uuid: Schema.String,
  claims: Schema.Record({ key: Schema.String, value: Schema.Unknown })
})
const Entitlements = Schema.Struct({
  features: Schema.Record({ key: Schema.String, value: Schema.Struct({ entitlement: Schema.String, enabled: Schema.Boolean }) }),
  has_license: Schema.Boolean,
  errors: Schema.Array(Schema.String),
  warnings: Schema.Array(Schema.String)
})

const tokenOf = (server: TestServer): string => server.owner().token
const upload = (server: TestServer, license: unknown, token = tokenOf(server)) =>
  server.call("POST", "/licenses", { token, body: { license } })
const entitlements = async (server: TestServer) => (await server.call("GET", "/entitlements", { token: tokenOf(server) })).as(Entitlements)
const stateOf = async (server: TestServer, feature: string) => (await entitlements(server)).features[feature]?.entitlement
const removed = (server: TestServer, id: number) => server.call("DELETE", `/licenses/${id}`, { token: tokenOf(server) })

describeServer(
  "licenses",
  (server) => {
    afterEach(async () => {
      const { body } = await server().call("GET", "/licenses", { token: tokenOf(server()) })
      for (const { id } of Schema.decodeUnknownSync(Schema.Array(License))(body)) await removed(server(), id)
    })

    const add = async (claims: Readonly<Record<string, unknown>> = {}) => {
      const answer = await upload(server(), issueLicense(key, claims))
      expect([answer.status, answer.text]).toStrictEqual([201, expect.anything()])
      return answer.as(License)
    }

    it("open and close gates at once", async () => {
      const { token } = await server().aMember()
      const gate = async () => (await server().call("GET", "/users/me/quiet-hours", { token })).status
      expect(await gate()).toBe(403)
      const { id, claims } = await add({ feature_set: "Premium", features: { user_limit: 9 } })
      expect(claims).toMatchObject({ feature_set: "Premium", features: { user_limit: 9 } })
      expect(await gate()).toBe(200)
      expect(await entitlements(server())).toMatchObject({ has_license: true, errors: [] })
      expect((await removed(server(), id)).status).toBe(200)
      expect(await gate()).toBe(403)
      expect((await removed(server(), id)).status).toBe(404)
    })

    it("are listed with claims and without tokens, for owners alone", async () => {
      const { id, uuid } = await add()
      const list = async (token: string) => (await server().call("GET", "/licenses", { token })).body
      const [only] = Schema.decodeUnknownSync(Schema.Array(License))(await list(tokenOf(server())))
      expect(only).toMatchObject({ id, uuid, claims: { jti: uuid, version: 3, account_id: "test" } })
      expect(Object.keys(Object(((await list(tokenOf(server()))) as ReadonlyArray<unknown>)[0])).toSorted()).toStrictEqual([
        "claims",
        "id",
        "uploaded_at",
        "uuid"
      ])
      const member = await server().aMember()
      expect(await list(member.token)).toStrictEqual([])
      expect((await upload(server(), "x", member.token)).status).toBe(403)
      expect((await server().call("DELETE", `/licenses/${id}`, { token: member.token })).status).toBe(403)
      expect((await server().call("DELETE", "/licenses/2147483648", { token: member.token })).status).toBe(404)
      expect((await server().call("DELETE", "/licenses/1.5", { token: tokenOf(server()) })).status).toBe(404)
    })

    it("are stored once", async () => {
      const license = issueLicense(key)
      const both = await Promise.all([upload(server(), license), upload(server(), `${license}\n`)])
      expect(both.map(({ status }) => status).toSorted()).toStrictEqual([201, 409])
    })

    it("are audited without their tokens", async () => {
      const license = issueLicense(key)
      const { id, uuid } = (await upload(server(), license)).as(License)
      await removed(server(), id)
      const audit = await server().call("GET", "/audit?q=resource_type:license&limit=2", { token: tokenOf(server()) })
      expect(audit.body).toMatchObject({
        audit_logs: [
          { action: "delete", resource_id: uuid, status_code: 200 },
          { action: "create", resource_id: uuid, status_code: 201 }
        ]
      })
      expect(audit.text).not.toContain(license.slice(-40))
    })

    it("count users and builds of this deployment", async () => {
      await add({ features: { user_limit: 1 } })
      const { warnings } = await entitlements(server())
      expect(warnings).toContainEqual(expect.stringMatching(/^The deployment has \d+ active users and is licensed for 1\.$/))
      const answer = await server().call("GET", "/users/me", { token: tokenOf(server()) })
      expect(answer.headers.get("x-service-entitlements-warning")).toContain("active users")
      const member = await server().call("GET", "/users/me", { token: (await server().aMember()).token })
      expect(member.headers.get("x-service-entitlements-warning")).toBeNull()
    })

    it("in grace grant what they granted, with a warning", async () => {
      await add({ iat: seconds(-20), nbf: seconds(-20), license_expires: seconds(-1), exp: seconds(10) })
      const { features, warnings } = await entitlements(server())
      expect(features.template_rbac).toStrictEqual({ entitlement: "grace_period", enabled: true })
      expect(warnings).toContain("Template RBAC is on, and its license has expired.")
    })

    it("that are not valid yet are stored and grant nothing", async () => {
      await add({ nbf: seconds(5) })
      expect(await entitlements(server())).toMatchObject({ has_license: false, errors: [], warnings: [] })
    })

    it("are computed anew at most once in a minute", async () => {
      await add()
      const refresh = (token = tokenOf(server())) => server().call("POST", "/licenses/refresh-entitlements", { token })
      const early = await refresh()
      expect(early.status).toBe(400)
      expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(50)
      server().advance(Duration.seconds(61))
      expect((await refresh()).status).toBe(200)
      expect((await refresh()).status).toBe(400)
      expect((await refresh((await server().aMember()).token)).status).toBe(403)
    })
  },
  licensed
)

describeServerOnEach(
  "many licenses",
  (server) => {
    it("are at most a hundred, also when several are added at once", async () => {
      await server().run(
        Effect.gen(function* () {
          const { insert } = yield* LicenseRepository
          const ids = yield* Ids
          const at = yield* Timestamp.now
          for (let count = 0; count < 98; count++) {
            yield* insert({ uuid: yield* ids.next, uploaded_at: at, exp: at, token: `expired ${count}` }, Buffer.from(`expired ${count}`))
          }
        })
      )
      const answers = await Promise.all(Array.from({ length: 6 }, () => upload(server(), issueLicense(key))))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 201, 400, 400, 400, 400])
    })
  },
  licensed
)

describeInterface(
  "a license",
  (server) => {
    const [header = "", payload = "", signature = ""] = issueLicense(key).split(".")
    const claims = (changed: object): string => Buffer.from(JSON.stringify({ ...parsed, ...changed })).toString("base64url")
    const parsed = JSON.parse(Buffer.from(payload, "base64url").toString()) as object

    it.each([
      ["is empty", ""],
      ["is no token", "x"],
      ["has three parts of nothing", "a.b.c"],
      ["has a blank before it", ` ${header}.${payload}.${signature}`],
      ["has a character more", `${header}.${payload}.${signature}x`],
      ["was tampered with", `${header}.${claims({ feature_set: "premium", exp: seconds(4000) })}.${signature}`],
      ["names an unknown key", issueLicense({ ...key, id: "other" })],
      ["is signed by another with the key's name", issueLicense(newKey("vendor"))],
      ["is not signed", `${Buffer.from('{"alg":"none","kid":"vendor"}').toString("base64url")}.${payload}.`],
      ["is signed with a shared secret", `${Buffer.from('{"alg":"HS256","kid":"vendor"}').toString("base64url")}.${payload}.${signature}`],
      ["has another version", issueLicense(key, { version: 2 })],
      ["has no end", issueLicense(key, { exp: undefined })],
      ["has expired", issueLicense(key, { iat: seconds(-40), nbf: seconds(-40), license_expires: seconds(-20), exp: seconds(-10) })],
      ["is issued in the future", issueLicense(key, { iat: seconds(2) })],
      ["names no account", issueLicense(key, { account_id: "" })],
      ["is paid for more than five years", issueLicense(key, { license_expires: seconds(2000), exp: seconds(2000) })],
      ["is for another deployment", issueLicense(key, { deployment_ids: ["00000000-0000-4000-8000-000000000000"] })],
      ["is not valid yet and has expired", issueLicense(key, { nbf: seconds(2), license_expires: seconds(-2), exp: seconds(-1) })]
    ])("is refused that %s", async (_, license) => {
      expect((await upload(server(), license)).status).toBe(400)
      expect((await server().call("GET", "/licenses", { token: tokenOf(server()) })).body).toStrictEqual([])
    })

    it("is accepted that names this deployment", async () => {
      const { body } = await server().call("GET", "/buildinfo")
      const { deployment_id } = Schema.decodeUnknownSync(Schema.Struct({ deployment_id: Schema.String }))(body)
      const answer = await upload(server(), issueLicense(key, { deployment_ids: [deployment_id] }))
      expect(answer.status).toBe(201)
      await removed(server(), answer.as(License).id)
    })

    it("is needed by anonymous callers too", async () => {
      expect((await server().call("GET", "/licenses")).status).toBe(401)
      expect((await server().call("POST", "/licenses/refresh-entitlements")).status).toBe(401)
    })
  },
  licensed
)

describeInterface(
  "a deployment without keys",
  (server) => {
    it("stores no license", async () => {
      expect((await upload(server(), issueLicense(key))).body).toMatchObject({ message: expect.stringContaining("no keys") })
    })
  },
  unlicensed
)

describe("processes on one store", () => {
  const closesElsewhere = async (one: TestServer, other: TestServer) => {
    const { token } = one.owner()
    const gate = async () => (await other.call("GET", "/users/me/quiet-hours", { token })).status
    const added = await upload(one, issueLicense(key))
    expect(added.status).toBe(201)
    await expect.poll(gate, { interval: 50 }).toBe(200)
    await removed(one, added.as(License).id)
    await expect.poll(gate, { interval: 50 }).toBe(403)
  }

  it("learn of licenses from events on PostgreSQL", () =>
    Effect.gen(function* () {
      const url = yield* databaseUrl
      yield* Effect.promise(async () => {
        const one = await startServer(Postgres.layer({ url, maxConnections: 3 }), licensed)
        const other = await startServer(Postgres.layer({ url, maxConnections: 3 }), { ...licensed, empty: true })
        await closesElsewhere(one, other)
        await Promise.all([one.close(), other.close()])
      })
    }).pipe(Effect.scoped, Effect.runPromise))

  it("close a gate at the end of a license", async () => {
    const one = await startServer(sqlite, licensed)
    const exp = Math.floor(Date.now() / 1000) + 3600
    expect((await upload(one, issueLicense(key, { license_expires: exp, exp }))).status).toBe(201)
    expect(await stateOf(one, "template_rbac")).toBe("entitled")
    one.advance("61 minutes")
    await expect.poll(() => stateOf(one, "template_rbac"), { interval: 50 }).toBe("not_entitled")
    await one.close()
  })

  it("do not count a stored license whose key is gone", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-licenses-"))
    const storage = sqliteIn(directory)
    const before = await startServer(storage, licensed)
    const { token } = before.owner()
    await upload(before, issueLicense(key))
    await before.close()
    const after = await startServer(storage, { empty: true, options: { licenseKeys: [verificationKey(newKey("vendor"))] } })
    const answer = (await after.call("GET", "/entitlements", { token })).as(Entitlements)
    expect(answer).toMatchObject({ has_license: false, errors: [expect.stringContaining("its signature is wrong")] })
    await after.close()
    await rm(directory, { recursive: true })
  })

  it("do not start with invalid keys, or with another rule for licenses", async () => {
    const storage = sqlite
    await expect(startServer(storage, { options: { licenseKeys: ["vendor=AAAA"] } })).rejects.toThrow("licenseKeys")
    await expect(startServer(storage, { ...licensed, ...unlicensed, options: licensed.options })).rejects.toThrow("entitlements")
  })
})

describe("a trial license", () => {
  const person = {
    email: "ada@example.com",
    first_name: "Ada",
    last_name: "Lovelace",
    phone_number: "5551234567",
    job_title: "Engineer",
    company_name: "Analytical",
    country: "UK",
    developers: "1-100"
  }
  const asked = (server: TestServer, body: object = person, token = tokenOf(server)) =>
    server.call("POST", "/licenses/trial", { token, body })

  it("is found nowhere without an issuer", async () => {
    const server = await startServer(sqlite, licensed)
    try {
      expect((await asked(server)).status).toBe(404)
    } finally {
      await server.close()
    }
  })

  it("comes from the host's issuer, once, or is refused in the issuer's words", async () => {
    const answers = [
      async () => ({ refused: "One trial for a company." }),
      () => Promise.reject(new Error("away")),
      // As JavaScript may answer
      async () => JSON.parse("null"),
      async () => ({ license: "nonsense" }),
      async () => ({ license: issueLicense(key, {}) })
    ]
    const trialIssuer: NonNullable<Options["trialIssuer"]> = async () => {
      const next = answers.shift()
      if (next === undefined) throw new Error("the issuer is asked once more")
      return next()
    }
    const server = await startServer(sqlite, { ...licensed, trialIssuer })
    try {
      const { token } = await server.aMember()
      expect((await asked(server, person, token)).status).toBe(403)
      const incomplete = await asked(server, { ...person, email: "ada", phone_number: "1", country: "" })
      expect(incomplete.body).toMatchObject({ validations: [{ field: "email" }, { field: "phone_number" }, { field: "country" }] })
      const refused = await asked(server)
      expect([refused.status, refused.body]).toMatchObject([400, { detail: "One trial for a company." }])
      expect([(await asked(server)).status, (await asked(server)).status, (await asked(server)).status]).toStrictEqual([502, 502, 502])
      const given = await asked(server)
      expect([given.status, given.as(License).claims]).toMatchObject([201, { account_id: "test" }])
      expect((await asked(server)).status).toBe(409)
      expect(answers).toHaveLength(0)
    } finally {
      await server.close()
    }
  })

  it("is given to one of two requests at once", async () => {
    const issuer = new EventEmitter()
    let questions = 0
    const trialIssuer: NonNullable<Options["trialIssuer"]> = async () => {
      questions++
      const given = once(issuer, "answer")
      issuer.emit("asked")
      await given
      return { license: issueLicense(key, {}) }
    }
    const server = await startServer(sqlite, { ...licensed, trialIssuer })
    try {
      const isAsked = once(issuer, "asked")
      const first = asked(server)
      await isAsked
      expect((await asked(server)).status).toBe(409)
      issuer.emit("answer")
      expect([(await first).status, questions]).toStrictEqual([201, 1])
    } finally {
      await server.close()
    }
  })
})
