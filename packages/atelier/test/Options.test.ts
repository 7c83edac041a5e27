import {
  type Configuration,
  type Definition,
  defaultOf,
  optionsOf,
  report,
  resolve as resolveOptions,
  valueOf
} from "@atelier/core/deployment"
import { StartError } from "@atelier/core/platform"
import { parseYamlOptions, SmtpMailer } from "@atelier/node"
import { Duration, Either, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { availableParallelism, homedir, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { certificate } from "../../../test/outside/mailServer.js"
import { explained } from "../src/explained.js"
import { type Options, parseOptions, UsageError } from "../src/Options.js"

/** The options, where they are neither help nor YAML. */
const parsed = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>): Options => {
  const options = parseOptions(args, environment)
  if (options === "help" || "yaml" in options) throw new Error("no options")
  return options
}

describe("the standalone server's options", () => {
  it("start an SQLite server on the loopback address without any", () => {
    expect(parseOptions([], { XDG_DATA_HOME: "relative" })).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      accessUrl: "",
      database: { kind: "sqlite", filename: join(homedir(), ".local/share/atelier/atelier.db") },
      workspacesDirectory: join(homedir(), ".local/share/atelier/workspaces"),
      logLevel: "info",
      compatibility: undefined,
      brand: undefined,
      drainGrace: Duration.seconds(5),
      drainTimeout: Duration.seconds(10),
      workers: 1,
      warnings: []
    })
  })

  it("have the values that their default texts would have as given ones", () => {
    const resolvedWith = (given: (definition: Definition) => string | undefined, parseYaml: typeof parseYamlOptions) =>
      Either.getOrThrow(
        resolveOptions({
          prefix: "SERVICE",
          brand: "Service",
          given: (flag, definition) => {
            const text = given(definition)
            return text === undefined ? undefined : { source: "flag", texts: [text], name: `--${flag}` }
          },
          parseYaml
        })
      )
    const withoutYaml = () => Either.left("is read without the library of YAML")
    const values = ({ resolved }: Configuration) => [...resolved].map(([flag, { value }]) => [flag, value])
    const asGiven = resolvedWith((definition) => defaultOf(definition, "Service"), parseYamlOptions)
    expect(values(resolvedWith(() => undefined, withoutYaml))).toStrictEqual(values(asGiven))
  })

  it("keep everything in one directory, except what has a place of its own", () => {
    const inData = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) => {
      const { database, terraformDirectory, workspacesDirectory } = parsed(args, environment)
      return { database, terraformDirectory, workspacesDirectory }
    }
    const xdg = { XDG_DATA_HOME: "/home/ada/data" }
    expect(inData([], xdg)).toStrictEqual({
      database: { kind: "sqlite", filename: "/home/ada/data/atelier/atelier.db" },
      terraformDirectory: "/home/ada/data/atelier/workspaces/.engine/terraform",
      workspacesDirectory: "/home/ada/data/atelier/workspaces"
    })
    expect(inData(["--data-directory", "kept", "--database", "sqlite:other.db"], xdg)).toStrictEqual({
      database: { kind: "sqlite", filename: resolve("other.db") },
      terraformDirectory: resolve("kept/workspaces/.engine/terraform"),
      workspacesDirectory: resolve("kept/workspaces")
    })
  })

  it("come from the environment, and before it from the command line", () => {
    const environment = { ATELIER_HTTP_ADDRESS: "[::1]:4000", ATELIER_SWAGGER_ENABLE: "true", ATELIER_BRAND: "Other" }
    expect(parseOptions(["--brand", "Coder", "--access-url", "https://dev.example.com/"], environment)).toMatchObject({
      host: "::1",
      port: 4000,
      brand: "Coder",
      accessUrl: "https://dev.example.com"
    })
  })

  it("are read by name, without printing secrets", () => {
    const options = parsed(["--allow-workspace-renames", "--provisioner-daemons", "0"], { ATELIER_SCIM_AUTH_HEADER: "hunter2" })
    expect(valueOf(options.configuration, "allow-workspace-renames")).toBe(true)
    expect(valueOf(options.configuration, "provisioner-daemons")).toBe(0)
    expect(valueOf(options.configuration, "scim-auth-header")).toBe("hunter2")
    expect(JSON.stringify(report(options.configuration))).not.toContain("hunter2")
  })

  it("name several workers on PostgreSQL alone", () => {
    const postgres = ["--database", "postgres://127.0.0.1/atelier"]
    expect(parsed([...postgres, "--workers", "4"], {}).workers).toBe(4)
    expect(parsed([...postgres, "--workers", "auto"], {}).workers).toBe(Math.min(availableParallelism(), 64))
    expect(parsed(["--workers", "auto"], {}).workers).toBe(1)
    const refusals = [
      [["--workers", "2"], "--workers needs PostgreSQL: one process at a time opens a SQLite database"],
      [["--workers", "0"], '--workers must be auto or a number from 1 to 64, not "0"'],
      [[...postgres, "--workers", "65"], '--workers must be auto or a number from 1 to 64, not "65"'],
      [
        [...postgres, "--workers", "2", "--derp-server-relay-url", "https://a.test"],
        '--derp-server-relay-url must be http://HOST:PORT for several workers, not "https://a.test"'
      ]
    ] as const
    for (const [args, message] of refusals) expect(() => parseOptions(args, {})).toThrow(new UsageError(message))
  })

  it.each(["https://dev.example.com/?next=1", "https://dev.example.com/#home", "https://user:secret@dev.example.com"])(
    "refuse the access URL %s, which nothing can be appended to or be shown",
    (url) => {
      expect(() => parseOptions([`--access-url=${url}`], {})).toThrow("--access-url must have no user, query or fragment")
    }
  )

  it("name the sender that mail needs", () => {
    expect(() => parseOptions(["--email-smarthost", "mail.example.com:25"], {})).toThrow("--email-from: is missing: mail needs a sender")
  })

  it("are named in what an engine refuses", () => {
    const refusal = new StartError({ option: "kubernetes.runtimeImage", reason: "is missing" })
    expect(explained(refusal)).toBe("The server could not start: --kubernetes-runtime-image: is missing")
  })

  it("that have no effect are named at the start", () => {
    expect(parsed(["--telemetry", "--pprof-address", "127.0.0.1:1"], {}).warnings).toStrictEqual([
      "--pprof-address has no effect in this product",
      "--telemetry has no effect in this product"
    ])
    expect(parsed(["--tls-min-version", "tls13", "--tls-cert-file", "a.crt", "--provisioner-daemons", "-1"], {}).warnings).toStrictEqual([
      "--tls-cert-file has no effect without --tls-enable",
      "--tls-min-version has no effect without --tls-enable",
      "--provisioner-daemons is negative: no job runs on this server"
    ])
  })

  it("name the ecosystem whose clients connect, and a brand of one's own", () => {
    expect(parseOptions(["--compatibility", "coder"], {})).toMatchObject({ compatibility: "coder", brand: undefined })
    expect(parseOptions(["--brand", "Acme"], { ATELIER_COMPATIBILITY: "coder" })).toMatchObject({ compatibility: "coder", brand: "Acme" })
  })

  it.each([
    [["--port", "3000"], "There is no option --port: write --http-address 127.0.0.1:PORT (serve --help lists the options)"],
    [["--colour"], "There is no option --colour (serve --help lists the options)"],
    [["--log-level", "loud"], '--log-level must be one of debug, info, warning, error, not "loud" (serve --help lists the options)'],
    [
      ["--oauth2-github-client-id", "x", "--oauth2-github-allowed-orgs", "a", "--oauth2-github-enterprise-base-url", "nowhere"],
      '--oauth2-github-enterprise-base-url "nowhere": must be a URL (serve --help lists the options)'
    ],
    [
      ["--email-smarthost", "mail.example.com", "--email-from", "a@example.com"],
      '--email-smarthost "mail.example.com": must be host:port (serve --help lists the options)'
    ]
  ])("explain in one sentence what is wrong with %j", (args, sentence) => {
    const refusal = (() => {
      try {
        return parseOptions(args, {})
      } catch (error) {
        return explained(error)
      }
    })()
    expect(refusal).toBe(sentence)
  })

  it("report the library's refusals by the flags that cause them", () => {
    const filename = new StartError({ option: "storage.filename", value: "/data/a.db", reason: "another server uses it" })
    expect(explained(filename)).toBe('The server could not start: --database "/data/a.db": another server uses it')
    const access = new StartError({ option: "accessUrl", value: "nonsense", reason: "must be a URL" })
    expect(explained(access)).toBe('The server could not start: --access-url "nonsense": must be a URL')
    expect(explained(new Error("outer", { cause: new Error("inner") }))).toBe("The server could not start: inner")
  })

  it("take keys, and refuse others without showing them", () => {
    const keys = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64"))
    const options = parsed([], { ATELIER_EXTERNAL_TOKEN_ENCRYPTION_KEYS: keys.join(",") })
    expect(valueOf(options.configuration, "external-token-encryption-keys")).toStrictEqual(keys)
    expect(JSON.stringify(report(options.configuration))).not.toContain(keys[0])
    const refused = () => parseOptions([], { ATELIER_EXTERNAL_TOKEN_ENCRYPTION_KEYS: `${keys[0]},hunter2` })
    expect(refused).toThrow(UsageError)
    expect(refused).not.toThrow(/hunter2/)
  })

  it("say with which accounts users log in, without showing secrets", () => {
    const environment = {
      ATELIER_OIDC_ISSUER_URL: "https://id.example.com",
      ATELIER_OIDC_CLIENT_ID: "atelier",
      ATELIER_OIDC_CLIENT_SECRET: "hunter2",
      ATELIER_OIDC_ALLOW_SIGNUPS: "false",
      ATELIER_OAUTH2_GITHUB_CLIENT_ID: "client",
      ATELIER_OAUTH2_GITHUB_ALLOWED_ORGS: "acme, other",
      ATELIER_OAUTH2_GITHUB_ALLOWED_TEAMS: "acme/core"
    }
    const options = parsed(["--oidc-email-domain", "example.com"], environment)
    expect(optionsOf(options.configuration)).toMatchObject({
      oidcIssuerUrl: "https://id.example.com",
      oidcClientId: "atelier",
      oidcClientSecret: Redacted.make("hunter2"),
      oidcAllowSignups: false,
      oidcEmailDomain: ["example.com"],
      oauth2GithubClientId: "client",
      oauth2GithubAllowedTeams: ["acme/core"],
      oauth2GithubAllowEveryone: false
    })
    expect(JSON.stringify({ ...options, configuration: report(options.configuration) })).not.toContain("hunter2")
    for (const wrong of [
      { ...environment, ATELIER_OIDC_ISSUER_URL: "" },
      { ...environment, ATELIER_OIDC_CLIENT_ID: "" },
      { ...environment, ATELIER_OAUTH2_GITHUB_ALLOWED_ORGS: "" },
      { ...environment, ATELIER_OAUTH2_GITHUB_ALLOWED_TEAMS: "core" },
      { ...environment, ATELIER_OAUTH2_GITHUB_ALLOW_EVERYONE: "true" }
    ]) {
      expect(() => parseOptions([], wrong)).toThrow(UsageError)
    }
  })

  it("read the secrets of login providers from files", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-options-"))
    const file = join(directory, "secret")
    await writeFile(file, "hunter2\n")
    const { configuration } = parsed(["--oidc-client-secret-file", file], {})
    expect(optionsOf(configuration).oidcClientSecret).toStrictEqual(Redacted.make("hunter2"))
    expect(JSON.stringify(report(configuration))).not.toContain("hunter2")
    expect(() => parseOptions(["--oauth2-github-client-secret-file", directory], {})).toThrow(UsageError)
    await rm(directory, { recursive: true })
  })

  it("say how mail is sent, without showing secrets", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-options-"))
    const [secret, authority] = [join(directory, "password"), join(directory, "ca.pem")]
    await Promise.all([writeFile(secret, "hunter2\n"), writeFile(authority, certificate.cert)])
    const environment = {
      ATELIER_EMAIL_SMARTHOST: "mail.example.com:587",
      ATELIER_EMAIL_FROM: "Atelier <atelier@example.com>",
      ATELIER_EMAIL_TLS_STARTTLS: "true",
      ATELIER_EMAIL_AUTH_USERNAME: "atelier"
    }
    const options = parsed(["--email-auth-password-file", secret, "--email-tls-ca-cert-file", authority], environment)
    const email = SmtpMailer.fromOptions(optionsOf(options.configuration))
    if (email?.auth === undefined) throw new Error("no options")
    const { auth, ...rest } = email
    expect(rest).toStrictEqual({
      smarthost: "mail.example.com:587",
      from: "Atelier <atelier@example.com>",
      hello: "localhost",
      forceTls: false,
      tls: { startTls: true, insecureSkipVerify: false, ca: certificate.cert }
    })
    expect([auth.username, Redacted.isRedacted(auth.password) && Redacted.value(auth.password)]).toStrictEqual(["atelier", "hunter2"])
    expect(JSON.stringify({ ...options, configuration: report(options.configuration) })).not.toContain("hunter2")
    await rm(directory, { recursive: true })
  })

  it.each(["email-tls-ca-cert-file", "email-tls-cert-file", "email-tls-cert-key-file"])(
    "refuse to send mail with an empty %s, rather than to do without",
    async (name) => {
      const directory = await mkdtemp(join(tmpdir(), "atelier-options-"))
      const empty = join(directory, "empty.pem")
      await writeFile(empty, "")
      const environment = { ATELIER_EMAIL_SMARTHOST: "mail.example.com:25", ATELIER_EMAIL_FROM: "atelier@example.com" }
      expect(() => parseOptions([`--${name}`, empty], environment)).toThrow(UsageError)
      await rm(directory, { recursive: true })
    }
  )

  it.each([
    ["no sender", { ATELIER_EMAIL_FROM: "" }],
    ["no port", { ATELIER_EMAIL_SMARTHOST: "mail.example.com" }],
    ["a file that is not there", { ATELIER_EMAIL_TLS_CACERTFILE: join(tmpdir(), "no", "such", "file") }],
    ["no password", { ATELIER_EMAIL_AUTH_USERNAME: "atelier" }],
    ["a switch that is neither on nor off", { ATELIER_EMAIL_FORCE_TLS: "perhaps" }]
  ])("refuse to send mail with %s", (_, wrong) => {
    const environment = { ATELIER_EMAIL_SMARTHOST: "mail.example.com:25", ATELIER_EMAIL_FROM: "atelier@example.com" }
    expect(() => parseOptions([], { ...environment, ...wrong })).toThrow(UsageError)
    expect(() => parseOptions([], environment)).not.toThrow()
  })

  it.each([
    ["--http-address", "3000"],
    ["--http-address", "127.0.0.1:70000"],
    ["--database", "mysql://x"],
    ["--access-url", "ftp://x"],
    ["--log-level", "loud"],
    ["--brand", "two words"],
    ["--compatibility", "other"],
    ["--provisioner-daemons", "many"],
    ["--unknown", "x"]
  ])("refuse %s %s and say so", (flag, value) => {
    expect(() => parseOptions([flag, value], {})).toThrow(UsageError)
  })
})
