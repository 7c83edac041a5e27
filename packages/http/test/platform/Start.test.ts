import { StartError } from "@atelier/core/platform"
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { Duration } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { refuseOldNode } from "../../src/version.js"
import { sqlite } from "../../../../test/databases.js"

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
      `provisioner.directory ${JSON.stringify(here)}: the folder ${here} cannot be made: EEXIST: file already exists, mkdir '${here}'`
    ]
  ])("names %s, with the reason", async (_, options, message) => {
    const error: unknown = await Atelier.make({ logLevel: "none", ...options }).catch((refusal: unknown) => refusal)
    expect(error).toBeInstanceOf(StartError)
    expect(error).toHaveProperty("message", message)
  })

  it("names the missing storage", async () => {
    // As JavaScript may call it
    const options = { accessUrl } as Parameters<typeof Atelier.make>[0]
    await expect(Atelier.make(options)).rejects.toThrow("storage: must be Sqlite.layer({ filename }) or Postgres.layer({ url })")
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
