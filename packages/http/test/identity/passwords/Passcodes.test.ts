import { SqlClient } from "@effect/sql"
import { PasscodeDelivery, Passcodes, PasswordHasher, type User, UserLinkRepository, UserRepository } from "@atelier/core/identity"
import { Mailer, MailNotSent } from "@atelier/core/notifications"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { SmtpMailer } from "@atelier/node"
import { Postgres } from "@atelier/storage-postgres"
import { Effect, Layer, Logger, Redacted, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { databaseUrl, oneDatabase, sqliteIn } from "../../../../../test/store/databases.js"
import { type ReceivedMail, startMailServer } from "../../../../../test/outside/mailServer.js"
import { describeInterface, describeServerOnEach, startServer, type TestServer } from "../../../../../test/http/server.js"
import { completed } from "../../../../../test/run/workers.js"

const mails = await startMailServer()
afterAll(mails.close)

const mailer = SmtpMailer.layer({ smarthost: mails.smarthost, from: "Atelier <atelier@example.com>" })

const former = "AFormerPassword!1"
const next = "TheNextPassword!2"

const sql = Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))

/** A member who logs in with a password, where the fields do not say otherwise. */
const somebody = (server: TestServer, fields: Partial<User> = {}): Promise<User> =>
  server.run(
    Effect.gen(function* () {
      const user = yield* aUser(fields)
      const organizations = yield* OrganizationRepository
      const organization = yield* Effect.flatten(organizations.default)
      const hash = user.login_type === "password" ? yield* (yield* PasswordHasher).hash(Redacted.make(former)) : null
      yield* (yield* UserRepository).insert(user, hash)
      yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: yield* Timestamp.now })
      return user
    })
  )

const logIn = (server: TestServer, email: string, password: string) => server.call("POST", "/users/login", { body: { email, password } })

const session = async (server: TestServer, email: string, password: string) =>
  (await logIn(server, email, password)).as(Schema.Struct({ session_token: Schema.String })).session_token

const request = (server: TestServer, email: string) => server.call("POST", "/users/otp/request", { body: { email } })

const change = (server: TestServer, email: string, one_time_passcode: string, password = next) =>
  server.call("POST", "/users/otp/change-password", { body: { email, one_time_passcode, password } })

/** What the quoted-printable parts of a message say. */
const decoded = ({ raw }: ReceivedMail): string =>
  raw.replaceAll("=\r\n", "").replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const codeOf = (mail: ReceivedMail): string => /otp=([0-9a-f-]{36})/.exec(decoded(mail))?.[1] ?? ""

/** Sends what is due now, before the worker's next run. */
const deliver = (server: TestServer): Promise<void> => server.run(Effect.flatMap(PasscodeDelivery, ({ worker }) => completed(worker)))

/** A code that the user was mailed. */
const codeFor = async (server: TestServer, { email }: User): Promise<string> => {
  expect((await request(server, email)).status).toBe(204)
  return codeOf(await mails.next(email))
}

const entriesOf = (server: TestServer, { id }: User) => server.run(auditEntries({ resource_id: id, resource_type: "user" }))

const stored = (server: TestServer, { id }: User) =>
  server.run(Effect.flatMap(sql, (sql) => sql`SELECT * FROM one_time_passcodes WHERE user_id = ${id}`))

/** Ends when something holds that goes on behind an answer; the event loop turns in between. */
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

/** Whether a code is due later than it was requested. */
const isLater = ({ due_at, expires_at }: Readonly<Record<string, unknown>>): boolean =>
  Date.parse(String(expires_at)) - Date.parse(String(due_at)) < 20 * 60_000 - 20_000

const wrong = {
  status: 400,
  body: { message: "The e-mail address or the one-time passcode is wrong, or the passcode has expired." }
}

const refusal = ({ body, status }: { readonly status: number; readonly body: unknown }) => ({ status, body })

const fieldsOf = ({ body, status }: { readonly status: number; readonly body: unknown }) => {
  const { validations = [] } = Schema.decodeUnknownSync(
    Schema.Struct({ validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String }))) })
  )(body)
  return [status, ...validations.map(({ field }) => field)]
}

describeServerOnEach(
  "a one-time passcode",
  (server, once) => {
    once("is mailed on request and replaces the password once", async () => {
      const user = await somebody(server(), { name: "Ada <b>Lovelace</b>", username: "ada" })
      const token = await session(server(), user.email, former)
      const made = await server().call("POST", "/users/me/keys/tokens", { token, body: {} })
      const { key } = made.as(Schema.Struct({ key: Schema.String }))

      expect(await request(server(), user.email.toUpperCase())).toMatchObject({ status: 204, text: "" })
      const mail = await mails.next(user.email)
      const code = codeOf(mail)
      expect(mail).toMatchObject({ from: "atelier@example.com", to: [user.email] })
      const shown = decoded(mail)
      const link = `http://atelier.test/reset-password/change?otp=${code}&email=${encodeURIComponent(user.email)}`
      expect(shown).toContain(link)
      expect(shown).toContain(`href="${link.replace("&", "&amp;")}"`)
      expect(shown).toContain("Subject: Reset your password for Atelier")
      expect(shown).toContain("<p>Hi Ada &lt;b&gt;Lovelace&lt;/b&gt;,</p>")

      const changed = await change(server(), user.email, code)
      expect(changed).toMatchObject({ status: 204, text: "" })
      expect(changed.headers.getSetCookie().filter((cookie) => !cookie.startsWith("csrf_token"))).toStrictEqual([])
      const statuses = [token, key].map(async (token) => (await server().call("GET", "/users/me", { token })).status)
      expect(await Promise.all(statuses)).toStrictEqual([401, 401])
      expect((await logIn(server(), user.email, former)).status).toBe(401)
      expect((await logIn(server(), user.email, next)).status).toBe(201)
      expect(refusal(await change(server(), user.email, code, "AnotherPassword!3"))).toStrictEqual(wrong)

      const entries = (await entriesOf(server(), user)).filter(({ status_code }) => status_code === 204)
      expect(entries).toMatchObject([
        {
          action: "request_password_reset",
          resource_target: "ada",
          user_id: user.id,
          diff: {
            one_time_passcode_expires_at: {
              old: { Time: Timestamp.never, Valid: false },
              new: { Time: expect.any(String), Valid: true },
              secret: false
            }
          }
        },
        {
          action: "write",
          resource_target: "ada",
          user_id: user.id,
          diff: {
            hashed_password: { secret: true },
            one_time_passcode_expires_at: { old: { Valid: true }, new: { Valid: false }, secret: false }
          }
        }
      ])
      expect(JSON.stringify(entries)).not.toContain(code)
    })

    once("is refused alike for unknown addresses, other users, and wrong, replaced or expired codes", async () => {
      const [ada, bob] = [await somebody(server()), await somebody(server())]
      const [replaced, bobs] = [await codeFor(server(), ada), await codeFor(server(), bob)]
      const code = await codeFor(server(), ada)
      expect(code).not.toBe(replaced)
      const attempts: ReadonlyArray<readonly [string, string]> = [
        ["nobody@example.com", code],
        [ada.email, bobs],
        [ada.email, "00000000-0000-4000-8000-000000000000"],
        [ada.email, replaced],
        [(await somebody(server())).email, code]
      ]
      for (const [email, code] of attempts) expect(refusal(await change(server(), email, code))).toStrictEqual(wrong)
      // None of these has used it up
      expect((await change(server(), ada.email, code)).status).toBe(204)

      server().advance("20 minutes")
      expect(refusal(await change(server(), bob.email, bobs))).toStrictEqual(wrong)
      const again = await codeFor(server(), bob)
      server().advance("19 minutes")
      expect((await change(server(), bob.email, again)).status).toBe(204)
    })

    once("leaves an entry for each attempt at a known account", async () => {
      const user = await somebody(server())
      const code = await codeFor(server(), user)
      await change(server(), user.email, "wrong")
      await change(server(), user.email, code, former)
      await change(server(), user.email, code)
      // Entries of failures are written after the answers, in their order
      const unsuccessful = await change(server(), user.email, code)
      expect(unsuccessful.status).toBe(400)
      await codeFor(server(), user)
      const entries = await entriesOf(server(), user)
      expect(entries.map(({ action, status_code }) => [action, status_code]).toSorted()).toStrictEqual(
        [
          ["request_password_reset", 204],
          ["write", 400],
          ["write", 400],
          ["write", 204],
          ["write", 400],
          ["request_password_reset", 204]
        ].toSorted()
      )
    })

    once("needs every field and a strong new password; otherwise it stays valid", async () => {
      const user = await somebody(server())
      const code = await codeFor(server(), user)
      const post = async (path: string, body: object) => fieldsOf(await server().call("POST", `/users/otp/${path}`, { body }))
      expect(await post("request", {})).toStrictEqual([400, "email"])
      expect(await post("request", { email: "no address" })).toStrictEqual([400, "email"])
      expect(await post("change-password", {})).toStrictEqual([400, "email", "one_time_passcode", "password"])
      expect(fieldsOf(await change(server(), user.email, "wrong", "weak"))).toStrictEqual([400, "password"])
      expect(await change(server(), user.email, code, former)).toMatchObject({
        status: 400,
        body: { message: "New password cannot match old password." }
      })
      expect((await change(server(), user.email, code)).status).toBe(204)
    })

    once("answers alike for addresses without an account", async () => {
      const oidc = await somebody(server(), { login_type: "oidc" })
      const deleted = await somebody(server(), { deleted: true })
      const known = await somebody(server(), { status: "suspended" })
      const unknown = "nobody-at-all@example.com"
      const answers = [unknown, oidc.email, deleted.email, known.email].map((email) => request(server(), email))
      for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 204, text: "" })
      await mails.next(known.email)
      const recipients = mails.received.flatMap(({ to }) => to)
      for (const email of [unknown, oidc.email, deleted.email]) expect(recipients).not.toContain(email)
      expect(await entriesOf(server(), oidc)).toStrictEqual([])
      expect(await stored(server(), oidc)).toStrictEqual([])
    })

    once("ends with a password change, the account, and a change of the login type", async () => {
      const [ada, bob, eve] = [await somebody(server()), await somebody(server()), await somebody(server())]
      const [adas, bobs, eves] = [await codeFor(server(), ada), await codeFor(server(), bob), await codeFor(server(), eve)]
      const { token } = server().owner()
      await server().run(
        Effect.gen(function* () {
          yield* (yield* UserLinkRepository).convert(eve.id, "oidc", yield* Timestamp.now)
        })
      )
      expect((await server().call("PUT", `/users/${ada.id}/password`, { token, body: { password: next } })).status).toBe(204)
      expect((await server().call("DELETE", `/users/${bob.id}`, { token })).status).toBe(200)
      expect(refusal(await change(server(), ada.email, adas, "AnotherPassword!3"))).toStrictEqual(wrong)
      expect(refusal(await change(server(), bob.email, bobs))).toStrictEqual(wrong)
      expect(refusal(await change(server(), eve.email, eves))).toStrictEqual(wrong)
      expect(await Promise.all([ada, bob, eve].map((user) => stored(server(), user)))).toStrictEqual([[], [], []])
    })

    it("is used by one of the callers that race with it", async () => {
      const user = await somebody(server())
      const code = await codeFor(server(), user)
      const passwords = Array.from({ length: 6 }, (_, index) => `TheNextPassword!${index}`)
      const answers = await Promise.all(passwords.map((password) => change(server(), user.email, code, password)))
      const statuses = answers.map(({ status }) => status)
      expect(statuses.toSorted()).toStrictEqual([204, 400, 400, 400, 400, 400])
      for (const answer of answers) if (answer.status !== 204) expect(refusal(answer)).toStrictEqual(wrong)
      expect((await logIn(server(), user.email, passwords[statuses.indexOf(204)] ?? "")).status).toBe(201)
    })

    it("is the last one stored after concurrent requests", async () => {
      const user = await somebody(server())
      await Promise.all(Array.from({ length: 4 }, () => request(server(), user.email)))
      await mails.next(user.email)
      await until(async () => {
        const rows = await stored(server(), user)
        const entries = await entriesOf(server(), user)
        return entries.length === 4 && rows.length === 1 && rows[0]?.["unsent_passcode"] === null
      })
      const [row] = await stored(server(), user)
      expect(row?.["hashed_passcode"]).toMatch(/^\$argon2id\$/)
      // A code that was replaced before it was sent is sent no more; of those that were, one is good
      const codes = new Set(mails.received.filter(({ to }) => to.includes(user.email)).map(codeOf))
      const statuses = []
      for (const code of codes) statuses.push((await change(server(), user.email, code)).status)
      expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    })

    once("is removed from the store once it was sent or has expired", async () => {
      const user = await somebody(server())
      await codeFor(server(), user)
      await server().run(Effect.flatMap(PasscodeDelivery, ({ worker }) => worker.run))
      await server().run(Effect.flatMap(Passcodes, ({ purge }) => purge.run))
      expect(await stored(server(), user)).toMatchObject([{ unsent_passcode: null, unsent_key_id: null }])
      server().advance("21 minutes")
      await server().run(Effect.flatMap(Passcodes, ({ purge }) => purge.run))
      expect(await stored(server(), user)).toStrictEqual([])
    })

    once("is sent again when the mail server did not take it", async () => {
      const user = await somebody(server())
      mails.refuse(1)
      await request(server(), user.email)
      const waiting = mails.next(user.email)
      await until(async () => {
        const [row] = await stored(server(), user)
        return row !== undefined && isLater(row)
      })
      server().advance("31 seconds")
      await deliver(server())
      expect((await change(server(), user.email, codeOf(await waiting))).status).toBe(204)
    })
  },
  { mailer }
)

describeInterface(
  "one-time passcodes",
  (server) => {
    it("are refused while password logins are disabled", async () => {
      const user = await somebody(server())
      expect((await request(server(), user.email)).status).toBe(403)
      expect((await request(server(), "nobody@example.com")).status).toBe(403)
      expect((await change(server(), user.email, "code")).status).toBe(403)
      expect((await change(server(), user.email, "code", "weak")).status).toBe(403)
      expect(fieldsOf(await server().call("POST", "/users/otp/change-password", { body: {} }))).toHaveLength(4)
    })
  },
  { empty: true, options: { disablePasswordAuth: true } }
)

describeInterface(
  "calls about one-time passcodes",
  (server) => {
    it("are counted by the limiter of logins", async () => {
      for (const path of ["request", "change-password"]) {
        const answer = await server().call("POST", `/users/otp/${path}`, { body: {} })
        expect([answer.status, answer.headers.get("X-RateLimit-Limit")]).toStrictEqual([400, "60"])
      }
    })
  },
  { options: { dangerousDisableRateLimits: false } }
)

describe.each(oneDatabase)("a deployment without a mailer on %s", (_, storage) => {
  it("answers the same, keeps no code, and warns once", async () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(String(message)))
    const server = await startServer(storage, { logger, logLevel: "warning" })
    const user = await somebody(server)
    for (const email of [user.email, user.email, "nobody@example.com"]) {
      expect(await request(server, email)).toMatchObject({ status: 204, text: "" })
    }
    await until(async () => (await entriesOf(server, user)).length === 2)
    expect(await stored(server, user)).toMatchObject([{ unsent_passcode: null }])
    expect(logged.filter((message) => message.includes("no mailer is configured"))).toHaveLength(1)
    await server.close()
  })
})

describe.each(oneDatabase)("a mailer that dies of a message, on %s", (_, storage) => {
  it("gets the failed message again later, and the others at once", async () => {
    let arrived: (to: string) => void = () => undefined
    const arrival = new Promise<string>((resolve) => (arrived = resolve))
    const dying = Layer.succeed(Mailer, {
      isConfigured: true,
      send: ({ to }) => (to.startsWith("ada") ? Effect.dieMessage("a defect") : Effect.sync(() => arrived(to)))
    })
    const server = await startServer(storage, { mailer: dying })
    const [ada, bob] = [await somebody(server, { email: `ada-${randomUUID()}@example.com` }), await somebody(server)]
    await request(server, ada.email)
    await until(async () => {
      const [row] = await stored(server, ada)
      return row !== undefined && isLater(row)
    })
    await request(server, bob.email)
    expect(await arrival).toBe(bob.email)
    expect((await stored(server, ada))[0]?.["unsent_passcode"]).not.toBeNull()
    await server.close()
  })
})

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-passcodes-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/** Stores that outlive the server on them. */
const stores = [
  ["SQLite", Effect.map(directory, (path) => sqliteIn(path))],
  ["PostgreSQL", Effect.map(databaseUrl, (url) => Postgres.layer({ url, maxConnections: 5 }))]
] as const

describe.each(stores)("a server that ends before a code is sent, on %s", (_, store) => {
  it("leaves it encrypted to the next one, which sends it", () =>
    Effect.gen(function* () {
      const storage = yield* store
      let attempted: (text: string) => void = () => undefined
      const attempt = new Promise<string>((resolve) => (attempted = resolve))
      const failing = Layer.succeed(Mailer, {
        isConfigured: true,
        send: ({ text }) => {
          attempted(text)
          return Effect.fail(new MailNotSent({ reason: "the server is away", retryable: true }))
        }
      })
      yield* Effect.promise(async () => {
        const before = await startServer(storage, { mailer: failing })
        const user = await somebody(before)
        await request(before, user.email)
        const code = /passcode is ([0-9a-f-]{36})/.exec(await attempt)?.[1] ?? ""
        const [row] = await stored(before, user)
        expect(row?.["unsent_passcode"]).toBeInstanceOf(Uint8Array)
        const bytes = Buffer.from(row?.["unsent_passcode"] as Uint8Array)
        expect(bytes.includes(code)).toBe(false)
        expect(JSON.stringify(row)).not.toContain(code)
        await before.close()

        const after = await startServer(storage, { mailer, empty: true })
        after.advance("1 minute")
        const waiting = mails.next(user.email)
        await deliver(after)
        expect(codeOf(await waiting)).toBe(code)
        expect((await change(after, user.email, code)).status).toBe(204)
        await after.close()
      })
    }).pipe(Effect.scoped, Effect.runPromise))
})
