import { Background, EventBus, StartError } from "@atelier/core/platform"
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { Duration, Effect, Layer, Option } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it, vi } from "vitest"
import { refuseOldNode } from "../../src/programs/version.js"
import { sqlite } from "../../../../test/store/databases.js"

const storage = sqlite
const accessUrl = "https://dev.example.com"
const here = fileURLToPath(import.meta.url)

describe("a service that cannot start", () => {
  it.each([
    ["an access URL that is not a URL", { accessUrl: "nonsense", storage }, 'accessUrl "nonsense": must be an http or https URL'],
    ["an access URL of another scheme", { accessUrl: "ftp://x", storage }, 'accessUrl "ftp://x": must be an http or https URL'],
    [
      "a database file in an absent directory",
      { accessUrl, storage: Sqlite.layer({ filename: "/no/such/a.db" }) },
      'storage.filename "/no/such/a.db": Cannot open database because the directory does not exist'
    ],
    [
      "a trusted origin that is not a network",
      { accessUrl, storage, options: { proxyTrustedOrigins: ["proxy"] } },
      'options.proxyTrustedOrigins "proxy": must be networks in CIDR notation'
    ],
    [
      "refresh tokens that end before access tokens",
      {
        accessUrl,
        storage,
        options: { sessionDuration: Duration.days(2), defaultOauthRefreshLifetime: Duration.days(1) }
      },
      "options.defaultOauthRefreshLifetime: must be longer than sessionDuration"
    ],
    [
      "a directory of workspaces that is a file",
      { accessUrl, storage, provisioner: LocalProvisioner.layer({ directory: here, agent: { command: ["agent"] } }) },
      `local.directory ${JSON.stringify(here)}: the folder ${here} cannot be made: EEXIST: file already exists, mkdir '${here}'`
    ]
  ])("names %s, with the reason", async (_, options, message) => {
    const error: unknown = await Atelier.make({ logLevel: "none", ...options }).catch((refusal: unknown) => refusal)
    expect(error).toBeInstanceOf(StartError)
    expect(error).toHaveProperty("message", message)
  })

  /** As JavaScript may call it. */
  const refusalOf = async (options: unknown): Promise<unknown> =>
    Atelier.make(options as Parameters<typeof Atelier.make>[0]).catch((error: unknown) => {
      expect(error).toBeInstanceOf(StartError)
      return error instanceof StartError ? error.message : error
    })
  const layers =
    "must be a layer: Sqlite.layer({ filename }) of @atelier/storage-sqlite, or Postgres.layer({ url }) of @atelier/storage-postgres"
  const time = 'must be a duration of at most 106751 days, such as "2 days", milliseconds or a Duration'

  it.each([
    ["no options", undefined, "options: is missing: it must be an object"],
    ["no storage", { accessUrl }, `storage: is missing: it ${layers}`],
    ["options of a storage", { accessUrl, storage: { filename: "a.db" } }, `storage: ${layers}, not an object with filename`],
    ["a misspelled option", { accessUrl, storage, authentcate: () => null }, "authentcate: is unknown; did you mean authenticate?"],
    [
      "a user",
      { accessUrl, storage, authenticate: { subject: "1" } },
      "authenticate: must be a function that returns the user of a request, or null, not an object with subject"
    ],
    ["a misspelled page", { accessUrl, storage, pages: { logn: "/login" } }, "pages.logn: is unknown; did you mean login?"],
    [
      "a misspelled name",
      { accessUrl, storage, names: { sessionheader: "S" } },
      "names.sessionheader: is unknown; did you mean sessionHeader?"
    ],
    [
      "an unknown level",
      { accessUrl, storage, logLevel: "verbose" },
      'logLevel "verbose": must be one of debug, info, warning, error, none'
    ],
    ["a bad time", { accessUrl, storage, drainTimeout: "5 sec" }, `drainTimeout "5 sec": ${time}`],
    ["a path without a slash", { accessUrl, storage, basePath: "dev" }, 'basePath "dev": must be a path that begins with a slash'],
    [
      "a dispatcher's options",
      { accessUrl, storage, dispatchers: [{ endpoint: "" }] },
      "dispatchers.0: must be a dispatcher, such as WebhookDispatcher.make({ endpoint }) of @atelier/node, not an object with endpoint"
    ],
    [
      "a bad duration of the deployment",
      { accessUrl, storage, options: { sessionDuration: "2 dayz" } },
      `options.sessionDuration "2 dayz": ${time}`
    ],
    [
      "an endless duration",
      { accessUrl, storage, options: { sessionDuration: Duration.infinity } },
      `options.sessionDuration: ${time}, not Infinity`
    ],
    [
      "a misspelled option of the deployment",
      { accessUrl, storage, options: { sesionDuration: "1 day" } },
      "options.sesionDuration: is unknown; did you mean sessionDuration?"
    ],
    [
      "a text for a truth",
      { accessUrl, storage, options: { disablePasswordAuth: "yes" } },
      'options.disablePasswordAuth "yes": must be true or false'
    ],
    ["a text for a number", { accessUrl, storage, options: { apiRateLimit: "512" } }, 'options.apiRateLimit "512": must be a whole number'],
    ["a fraction", { accessUrl, storage, options: { apiRateLimit: 0.5 } }, "options.apiRateLimit: must be a whole number, not 0.5"],
    ["a text for a list", { accessUrl, storage, options: { experiments: "*" } }, 'options.experiments "*": must be a list'],
    [
      "an unknown choice",
      { accessUrl, storage, options: { samesiteAuthCookie: "strict" } },
      'options.samesiteAuthCookie "strict": must be one of lax, none'
    ],
    [
      "an origin with a path",
      { accessUrl, storage, options: { corsAllowedOrigins: ["https://app.test/a"] } },
      'options.corsAllowedOrigins "https://app.test/a": must be origins such as https://app.example.com'
    ],
    [
      "any origin",
      { accessUrl, storage, options: { corsAllowedOrigins: ["*"] } },
      'options.corsAllowedOrigins "*": must be origins such as https://app.example.com'
    ],
    [
      "a bad pattern",
      { accessUrl, storage, options: { oidcGroupRegexFilter: "(" } },
      /^options\.oidcGroupRegexFilter "\(": must be a regular expression: /
    ],
    [
      "a number for a secret",
      { accessUrl, storage, options: { oidcClientSecret: 1234 } },
      "options.oidcClientSecret: must be a text, or a redacted one"
    ],
    [
      "a misspelled member of a provider",
      { accessUrl, storage, options: { externalAuthProviders: [{ client_id: "a", client_secrt: "b" }] } },
      "options.externalAuthProviders.0.client_secrt: is unknown; did you mean client_secret?"
    ],
    [
      "no file name",
      { accessUrl, storage: Sqlite.layer({} as Parameters<typeof Sqlite.layer>[0]) },
      "storage.filename: is missing: it must be a text that is not empty"
    ]
  ])("names the option for %s, with what is expected", async (_, options, message) => {
    const refusal = await refusalOf(options)
    if (message instanceof RegExp) expect(refusal).toMatch(message)
    else expect(refusal).toBe(message)
  })
})

describe("the version of Node", () => {
  const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { engines: { node: string } }

  it.each(["20.19.0", "20.20.2", "22.0.0", "26.1.0", process.versions.node])("%s is enough", (running) => {
    expect(() => refuseOldNode(running)).not.toThrow()
  })

  it.each(["20.18.3", "18.20.8", "4.9.1"])("%s is refused", (running) => {
    expect(() => refuseOldNode(running)).toThrow(
      new StartError({ option: "Node.js", value: running, reason: `Atelier needs ${engines.node}` }).message
    )
  })
})

it("a port beside the store stands in place of the store's own", async () => {
  const published: Array<string> = []
  const events = Layer.succeed(EventBus, {
    isShared: false,
    listen: () => Effect.void,
    publish: (channel: string) => Effect.sync(() => void published.push(channel))
  })
  const { dispose, runtime } = await Atelier.make({ accessUrl, logLevel: "none", storage: Layer.merge(storage, events) })
  await runtime.runPromise(Effect.flatMap(Effect.serviceOption(EventBus), (bus) => Option.getOrThrow(bus).publish("a channel", "")))
  expect(published).toContain("a channel")
  await dispose()
})

it("background work leaves the process to the first requests for as long as the host says", async () => {
  const reapers = () => Effect.runSync(Background.health).find(({ name }) => name === "job_reaper")?.loops ?? 0
  const others = reapers()
  const waiting = await Atelier.make({ accessUrl, storage, logLevel: "error", backgroundDelay: "1 hour" })
  const working = await Atelier.make({ accessUrl, storage, logLevel: "error" })
  await vi.waitFor(() => expect(reapers()).toBeGreaterThan(others))
  expect(reapers()).toBe(others + 1)
  await Promise.all([waiting.dispose(), working.dispose()])
})
