import { type Mail, Mailer } from "@atelier/core/notifications"
import { Uuid } from "@atelier/core/platform"
import { SmtpMailer } from "@atelier/node"
import { Effect, Redacted } from "effect"
import { createServer } from "node:net"
import type { SMTPServerOptions } from "smtp-server"
import { describe, expect, it } from "vitest"
import { certificate, type MailServer, startMailServer } from "../../../test/outside/mailServer.js"

const mail: Mail = {
  id: Uuid.Uuid.make("018f0000-0000-7000-8000-00000000000a"),
  to: "ada@example.com",
  subject: "A reset für you",
  text: "Hi Ada,\n\nöpen the door.",
  html: "<p>öpen the door.</p>"
}

/** The mailer of options, in a test with a server of options. */
const withServer =
  (
    serverOptions: SMTPServerOptions,
    options: Partial<SmtpMailer.EmailOptions>,
    test: (server: MailServer, mailer: Mailer["Type"]) => Effect.Effect<void, unknown>
  ) =>
  () =>
    Effect.acquireUseRelease(
      Effect.promise(() => startMailServer(serverOptions)),
      (server) =>
        Effect.flatMap(Mailer, (mailer) => test(server, mailer)).pipe(
          Effect.provide(SmtpMailer.layer({ smarthost: server.smarthost, from: "Atelier <atelier@example.com>", ...options }))
        ),
      (server) => Effect.promise(server.close)
    ).pipe(Effect.runPromise)

const lines = (raw: string): ReadonlyArray<string> => raw.split("\r\n")

/** A header's value; folded lines are joined. */
const header = (raw: string, name: string): string | undefined =>
  lines(raw.split("\r\n\r\n", 1)[0]?.replaceAll(/\r\n[ \t]/g, " ") ?? "")
    .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    ?.slice(name.length + 1)
    .trim()

const password = (expected: string): SMTPServerOptions => ({
  disabledCommands: ["STARTTLS"],
  allowInsecureAuth: true,
  onAuth: ({ method, password, username }, _session, callback) =>
    password === expected && username !== undefined ? callback(null, { user: `${username} by ${method}` }) : callback(new Error("no"))
})

describe("mail over SMTP", () => {
  it(
    "is a text and an HTML part, from the configured sender to one recipient",
    withServer({}, { hello: "atelier.example.com" }, (server, mailer) =>
      Effect.gen(function* () {
        yield* mailer.send(mail)
        const [received] = server.received
        expect(received).toMatchObject({
          from: "atelier@example.com",
          to: ["ada@example.com"],
          secure: false,
          greeting: "atelier.example.com"
        })
        const raw = received?.raw ?? ""
        expect(["From", "To", "Subject", "MIME-Version"].map((name) => header(raw, name))).toStrictEqual([
          "Atelier <atelier@example.com>",
          "ada@example.com",
          "=?UTF-8?Q?A_reset_f=C3=BCr_you?=",
          "1.0"
        ])
        expect(header(raw, "Message-Id")).toMatch(new RegExp(`^<${mail.id}@[^>\\s]+>$`))
        expect(header(raw, "Content-Type")).toMatch(/^multipart\/alternative/)
        expect(Date.parse(header(raw, "Date") ?? "")).toBeGreaterThan(0)
        const parts = lines(raw).filter((line) => /^Content-T/i.test(line))
        expect(parts.slice(1)).toStrictEqual([
          "Content-Type: text/plain; charset=utf-8",
          "Content-Transfer-Encoding: quoted-printable",
          "Content-Type: text/html; charset=utf-8",
          "Content-Transfer-Encoding: quoted-printable"
        ])
        expect(raw).toContain("=C3=B6pen the door.")
      })
    )
  )

  it(
    "shares a few connections",
    withServer({}, {}, (server, mailer) =>
      Effect.gen(function* () {
        yield* Effect.forEach(Array.from({ length: 20 }), () => mailer.send(mail), { concurrency: "unbounded" })
        expect(server.received).toHaveLength(20)
        expect(server.connections()).toBeLessThanOrEqual(3)
      })
    )
  )

  it(
    "takes nothing of a message for a header or a command, whatever it holds",
    withServer({}, {}, (server, mailer) =>
      Effect.gen(function* () {
        const injected = "x\r\nBcc: eve@example.com\r\n\r\n.\r\nRCPT TO:<eve@example.com>"
        yield* mailer.send({ ...mail, subject: injected, text: `${injected}\r\n.\r\nQUIT`, html: injected })
        const [received] = server.received
        expect(received?.to).toStrictEqual(["ada@example.com"])
        expect(header(received?.raw ?? "", "Bcc")).toBeUndefined()
        expect(server.received).toHaveLength(1)
        for (const to of [
          "ada@example.com\r\nRCPT TO:<eve@example.com>",
          "ada@example.com, eve@example.com",
          "Ada <ada@example.com>",
          ""
        ]) {
          expect(yield* Effect.flip(mailer.send({ ...mail, to }))).toMatchObject({ _tag: "MailNotSent", retryable: false })
        }
        expect(server.received).toHaveLength(1)
      })
    )
  )

  it(
    "is upgraded to TLS where that is asked for, with the server's name checked",
    withServer(
      { disabledCommands: ["AUTH"] },
      { tls: { startTls: true, serverName: "mail.example.com", ca: certificate.cert } },
      (server, mailer) =>
        Effect.gen(function* () {
          yield* mailer.send(mail)
          expect(server.received).toMatchObject([{ secure: true }])
        })
    )
  )

  it(
    "speaks TLS from the first byte where that is forced",
    withServer(
      { secure: true, disabledCommands: ["AUTH"] },
      { forceTls: true, tls: { startTls: true, insecureSkipVerify: true } },
      (server, mailer) =>
        Effect.gen(function* () {
          yield* mailer.send(mail)
          expect(server.received).toMatchObject([{ secure: true }])
        })
    )
  )

  it.each([
    ["another name", { disabledCommands: ["AUTH"] }, { startTls: true, serverName: "other.example.com", ca: certificate.cert }],
    ["an unknown authority", { disabledCommands: ["AUTH"] }, { startTls: true, serverName: "mail.example.com" }],
    ["no STARTTLS", {}, { startTls: true, insecureSkipVerify: true }]
  ])("is not sent to a server with %s", (_, serverOptions, tls) =>
    withServer(serverOptions, { tls }, (server, mailer) =>
      Effect.gen(function* () {
        expect(yield* Effect.flip(mailer.send(mail))).toMatchObject({ _tag: "MailNotSent", retryable: true })
        expect(server.received).toStrictEqual([])
      })
    )()
  )

  it.each([
    ["PLAIN", ["LOGIN", "PLAIN"]],
    ["LOGIN", ["LOGIN"]]
  ] as const)("authenticates by %s where the server offers %j", (method, authMethods) =>
    withServer(
      { ...password("a secret"), authMethods: [...authMethods] },
      { auth: { username: "atelier", password: Redacted.make("a secret") } },
      (server, mailer) =>
        Effect.gen(function* () {
          yield* mailer.send(mail)
          expect(server.received).toMatchObject([{ user: `atelier by ${method}` }])
        })
    )()
  )

  it("is not sent without the configured authentication", async () => {
    const auth = { username: "atelier", password: "wrong secret" }
    await withServer(password("a secret"), { auth }, (server, mailer) =>
      Effect.gen(function* () {
        const refused = yield* Effect.flip(mailer.send(mail))
        expect(refused).toMatchObject({ _tag: "MailNotSent", retryable: true })
        expect(JSON.stringify(refused)).not.toMatch(/wrong secret|d3Jvbmcgc2VjcmV0/)
        expect(server.received).toStrictEqual([])
      })
    )()
    await withServer({}, { auth }, (server, mailer) =>
      Effect.gen(function* () {
        expect(yield* Effect.flip(mailer.send(mail))).toMatchObject({ _tag: "MailNotSent", retryable: false })
        expect(server.received).toStrictEqual([])
      })
    )()
  })

  it(
    "may be tried again when the server refuses it or is not there",
    withServer({}, {}, (server, mailer) =>
      Effect.gen(function* () {
        server.refuse(1)
        expect(yield* Effect.flip(mailer.send(mail))).toMatchObject({ retryable: true, reason: expect.stringContaining("451") })
        yield* mailer.send(mail)
        expect(server.received).toHaveLength(1)
        yield* Effect.promise(server.close)
        expect(yield* Effect.flip(mailer.send(mail))).toMatchObject({ retryable: true })
      })
    )
  )

  it(
    "leaves nothing of itself in why it was refused, whatever the server quotes",
    withServer({}, {}, (server, mailer) =>
      Effect.gen(function* () {
        server.refuse(1, (raw) => `spam: ${/secret-[a-z]+/.exec(raw)?.[0]}`)
        const refused = yield* Effect.flip(mailer.send({ ...mail, text: "The code is secret-word." }))
        expect(refused).toMatchObject({ _tag: "MailNotSent", retryable: true, reason: expect.stringContaining("451") })
        expect(JSON.stringify(refused)).not.toContain("secret")
      })
    )
  )

  it("stops when its caller is interrupted", async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const address = silent.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    const connected = new Promise((resolve) => silent.once("connection", resolve))
    const sending = Effect.flatMap(Mailer, ({ send }) => send(mail)).pipe(
      Effect.raceFirst(Effect.promise(() => connected)),
      Effect.provide(SmtpMailer.layer({ smarthost: `127.0.0.1:${port}`, from: "atelier@example.com" }))
    )
    await Effect.runPromise(sending)
    await new Promise((resolve) => silent.close(resolve))
  })
})

describe("options of mail", () => {
  const options = { smarthost: "mail.example.com:587", from: "atelier@example.com" }

  it.each([
    ["smarthost", { smarthost: "mail.example.com" }],
    ["smarthost", { smarthost: "mail.example.com:0" }],
    ["smarthost", { smarthost: "user@mail.example.com:25" }],
    ["from", { from: "" }],
    ["from", { from: "atelier" }],
    ["from", { from: "a@example.com, b@example.com" }],
    ["auth", { auth: { username: "atelier", password: "" } }],
    ["tls", { tls: { cert: certificate.key } }],
    ["tls", { tls: { cert: certificate.cert, key: "-----BEGIN PRIVATE KEY-----" } }],
    ["tls", { tls: { ca: "mail.example.com" } }]
  ])("that cannot be are refused by name: %s", (name, wrong) => {
    expect(() => SmtpMailer.layer({ ...options, ...wrong })).toThrow(new RegExp(`^email\\.${name}[ :]`))
  })
})
