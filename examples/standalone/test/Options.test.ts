import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { parseOptions, UsageError } from "../src/Options.js"

describe("the standalone server's options", () => {
  it("start an SQLite server on the loopback address without any", () => {
    expect(parseOptions([], {})).toStrictEqual({
      host: "127.0.0.1",
      port: 3000,
      accessUrl: "",
      database: { kind: "sqlite", filename: resolve("atelier.db") },
      workspacesDirectory: resolve("workspaces"),
      logLevel: "info",
      brand: "Service",
      wire: "seeds",
      provisionerDaemons: 3,
      encryptionKeys: [],
      swagger: false
    })
  })

  it("come from the environment, and before it from the command line", () => {
    const environment = { ATELIER_HTTP_ADDRESS: "[::1]:4000", ATELIER_SWAGGER_ENABLE: "true", ATELIER_BRAND: "Other" }
    expect(parseOptions(["--brand", "Coder", "--access-url", "https://dev.example.com/"], environment)).toMatchObject({
      host: "::1",
      port: 4000,
      swagger: true,
      brand: "Coder",
      accessUrl: "https://dev.example.com"
    })
  })

  it("take keys, and refuse others without showing them", () => {
    const keys = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64"))
    const options = parseOptions([], { ATELIER_ENCRYPTION_KEYS: keys.join(", ") })
    if (options === "help") throw new Error("no options")
    expect(options.encryptionKeys.map(Redacted.value)).toStrictEqual(keys)
    expect(JSON.stringify(options)).not.toContain(keys[0])
    const refused = () => parseOptions([], { ATELIER_ENCRYPTION_KEYS: `${keys[0]},hunter2` })
    expect(refused).toThrow(UsageError)
    expect(refused).not.toThrow(/hunter2/)
  })

  it.each([
    ["--http-address", "3000"],
    ["--http-address", "127.0.0.1:70000"],
    ["--database", "mysql://x"],
    ["--access-url", "ftp://x"],
    ["--log-level", "loud"],
    ["--brand", "two words"],
    ["--provisioner-daemons", "many"],
    ["--unknown", "x"]
  ])("refuse %s %s and say so", (flag, value) => {
    expect(() => parseOptions([flag, value], {})).toThrow(UsageError)
  })
})
