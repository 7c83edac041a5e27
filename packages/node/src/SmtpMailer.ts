import type { Options } from "@atelier/core/deployment"
import { isEmailAddress } from "@atelier/core/identity"
import { type Mail, Mailer, MailNotSent } from "@atelier/core/notifications"
import { reasonOf, service, StartError } from "@atelier/core/platform"
import { Effect, type Layer, Redacted } from "effect"
import addressparser from "nodemailer/lib/addressparser"
import { readFileSync } from "node:fs"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { isIP } from "node:net"
import { hostname } from "node:os"
import { createSecureContext, type SecureContextOptions } from "node:tls"

/** How mail is sent. notifications-audit-insights.md §A5. */
export interface EmailOptions {
  /** `host:port` of the server that takes mail; an IPv6 address is in brackets. */
  readonly smarthost: string
  /** One address, with or without a name: `Atelier <atelier@example.com>`. */
  readonly from: string
  /** How the client greets; default `localhost`. */
  readonly hello?: string
  /** Speaks TLS from the first byte, which port 465 always does. */
  readonly forceTls?: boolean
  readonly tls?: {
    /** Refuses to send over a connection that cannot be upgraded. */
    readonly startTls?: boolean
    /** Default: the host of `smarthost`. */
    readonly serverName?: string
    readonly insecureSkipVerify?: boolean
    /** Certificates that the server's is judged by instead of the usual ones, in PEM. */
    readonly ca?: string
    /** The client's own certificate and key, in PEM. */
    readonly cert?: string
    readonly key?: string | Redacted.Redacted<string>
  }
  readonly auth?: {
    /** On whose behalf; PLAIN alone knows of it. */
    readonly identity?: string
    readonly username: string
    readonly password: string | Redacted.Redacted<string>
  }
}

const contentOf = (option: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new StartError({ option, value: path, reason: `cannot be read: ${reasonOf(error)}` })
  }
}

/** Returns how a deployment's options say that mail is sent; undefined without a server. Throws `StartError` for a file that cannot be read. */
export const fromOptions = (options: Options): EmailOptions | undefined => {
  if (options.emailSmarthost === "") return undefined
  const { emailAuthPasswordFile, emailTlsCaCertFile, emailTlsCertFile, emailTlsCertKeyFile } = options
  const password = emailAuthPasswordFile === "" ? "" : contentOf("options.emailAuthPasswordFile", emailAuthPasswordFile).trimEnd()
  return {
    smarthost: options.emailSmarthost,
    from: options.emailFrom,
    hello: options.emailHello,
    forceTls: options.emailForceTls,
    tls: {
      startTls: options.emailTlsStarttls,
      insecureSkipVerify: options.emailTlsSkipVerify,
      ...(options.emailTlsServerName === "" ? {} : { serverName: options.emailTlsServerName }),
      ...(emailTlsCaCertFile === "" ? {} : { ca: contentOf("options.emailTlsCaCertFile", emailTlsCaCertFile) }),
      ...(emailTlsCertFile === "" ? {} : { cert: contentOf("options.emailTlsCertFile", emailTlsCertFile) }),
      ...(emailTlsCertKeyFile === "" ? {} : { key: Redacted.make(contentOf("options.emailTlsCertKeyFile", emailTlsCertKeyFile)) })
    },
    ...(options.emailAuthUsername === ""
      ? {}
      : {
          auth: {
            username: options.emailAuthUsername,
            identity: options.emailAuthIdentity,
            password: password === "" ? options.emailAuthPassword : Redacted.make(password)
          }
        })
  }
}

/** Milliseconds: until a connection stands, until the server greets, until it says anything, and for a message as a whole. */
const timeouts = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 12_000 }
const messageTimeout = 60_000

/** Connections of one process, each kept for as many milliseconds after its last message. */
const maximumConnections = 3
const idleTimeout = 30_000

/** Characters of a server's words that reach the log. */
const maximumReason = 200

const hostAndPort = (smarthost: string): { readonly host: string; readonly port: number } => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:@/[\]]+)):(\d{1,5})$/.exec(smarthost)
  const port = Number(match?.[3])
  if (match === null || port < 1 || port > 65_535)
    throw new StartError({ option: "email.smarthost", value: smarthost, reason: "must be host:port" })
  return { host: match[1] ?? match[2] ?? "", port }
}

const sender = (from: string): { readonly name: string; readonly address: string } => {
  if (from === "") throw new StartError({ option: "email.from", reason: "is missing: mail needs a sender" })
  const [parsed, ...others] = addressparser(from, { flatten: true })
  if (parsed === undefined || others.length > 0 || !isEmailAddress(parsed.address)) {
    throw new StartError({ option: "email.from", value: from, reason: "must be one address" })
  }
  return parsed
}

const revealed = (secret: string | Redacted.Redacted<string>): string => (Redacted.isRedacted(secret) ? Redacted.value(secret) : secret)

const base64 = (text: string): string => Buffer.from(text).toString("base64")

/** The server offers no way to authenticate that we know. */
class NoAuthentication extends Error {}

/** Authenticates by PLAIN (RFC 4616), or LOGIN where the server knows nothing better. */
const authentication = ({ identity = "", password, username }: NonNullable<EmailOptions["auth"]>) => {
  if (username === "" || revealed(password) === "")
    throw new StartError({ option: "email.auth", reason: "needs a username and a password" })
  const method = "ATELIER"
  return {
    forceAuth: true,
    auth: { type: "custom", method, user: username, pass: revealed(password) },
    customAuth: {
      [method]: async ({ authMethods, sendCommand }: AuthenticationContext) => {
        const accepted = async (command: string, status: number): Promise<void> => {
          const answer = await sendCommand(command)
          if (answer.status !== status) throw new Error(`the server refuses to authenticate: ${answer.status}`)
        }
        if (authMethods.includes("PLAIN")) {
          await accepted(`AUTH PLAIN ${base64(`${identity}\0${username}\0${revealed(password)}`)}`, 235)
        } else if (authMethods.includes("LOGIN")) {
          await accepted("AUTH LOGIN", 334)
          await accepted(base64(username), 334)
          await accepted(base64(revealed(password)), 235)
        } else {
          throw new NoAuthentication("the server offers no authentication by password")
        }
      }
    }
  }
}

interface AuthenticationContext {
  readonly authMethods: ReadonlyArray<string>
  readonly sendCommand: (command: string) => Promise<{ readonly status: number }>
}

/** Certificates and keys as connections take them. Fails without showing what cannot be read. */
const credentials = ({ ca, cert, key }: NonNullable<EmailOptions["tls"]>) => {
  const given: SecureContextOptions & { readonly key?: string } = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: revealed(key) })
  }
  try {
    createSecureContext(given)
    // The TLS context ignores empty texts and unreadable authorities, so each is checked here
    for (const certificate of [ca, cert]) if (certificate !== undefined) void new X509Certificate(certificate)
    if (given.key !== undefined) createPrivateKey(given.key)
  } catch (error) {
    throw new StartError({ option: "email.tls", reason: `must have certificates and a key in PEM: ${reasonOf(error)}` })
  }
  return given
}

const transportOptions = ({ auth, forceTls = false, hello = "localhost", smarthost, tls = {} }: EmailOptions) => {
  const { host, port } = hostAndPort(smarthost)
  const secure = forceTls || port === 465
  return {
    pool: true,
    maxConnections: maximumConnections,
    idleTimeout,
    maxRequeues: 1,
    host,
    port,
    name: hello,
    secure,
    requireTLS: !secure && tls.startTls === true,
    ignoreTLS: !secure && tls.startTls !== true,
    tls: {
      // An address is not a server name: the certificate is then checked against the address
      ...(tls.serverName === undefined && isIP(host) !== 0 ? {} : { servername: tls.serverName ?? host }),
      rejectUnauthorized: tls.insecureSkipVerify !== true,
      ...credentials(tls)
    },
    ...timeouts,
    ...(auth === undefined ? {} : authentication(auth)),
    logger: false,
    disableFileAccess: true,
    disableUrlAccess: true
  } as const
}

/**
 * Describes an error with the server's words, without the recipient's address, which they may quote. Once the server has seen the message
 * it may quote that too, as spam filters do; then only the status of its answer is shown.
 */
const described = (error: Error): string => {
  const { code, command, response, responseCode } = { code: "", command: "", response: "", responseCode: "", ...error }
  const mayQuoteMessage = command === "DATA" || code === "EMESSAGE" || code === "ECONNECTION"
  return mayQuoteMessage && response ? `${error.message.slice(0, -response.length)}${responseCode}` : error.message
}

const notSent = (error: unknown): MailNotSent => {
  const reason = error instanceof Error ? described(error) : String(error)
  return new MailNotSent({ reason: reason.slice(0, maximumReason), retryable: !(error instanceof NoAuthentication) })
}

/**
 * Sends over SMTP, by a few connections that are kept while there is something to send. Throws a `StartError` for options that cannot be.
 * No text of a message reaches a header or a command unencoded, whatever it holds.
 */
export const layer = (options: EmailOptions): Layer.Layer<Mailer> => {
  const from = sender(options.from)
  const connection = transportOptions(options)
  return service(
    Mailer,
    Effect.gen(function* () {
      // Most of the library is of no use to a deployment without a mail server
      const { default: nodemailer } = yield* Effect.promise(() => import("nodemailer"))
      const transport = yield* Effect.acquireRelease(
        Effect.sync(() => nodemailer.createTransport(connection)),
        (transport) => Effect.sync(() => transport.close())
      )
      return Mailer.of({
        isConfigured: true,
        send: ({ html, id, subject, text, to }: Mail) =>
          isEmailAddress(to)
            ? Effect.tryPromise({
                try: (signal) =>
                  transport.sendMail({
                    from,
                    to: { name: "", address: to },
                    subject,
                    text,
                    html,
                    textEncoding: "quoted-printable",
                    messageId: `<${id}@${hostname()}>`,
                    disableFileAccess: true,
                    disableUrlAccess: true,
                    signal
                  }),
                catch: notSent
              }).pipe(
                Effect.timeoutFail({
                  duration: messageTimeout,
                  onTimeout: () => new MailNotSent({ reason: "the server takes too long", retryable: true })
                }),
                Effect.asVoid
              )
            : new MailNotSent({ reason: "the recipient's address is none", retryable: false })
      })
    })
  )
}
