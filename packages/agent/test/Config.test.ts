import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { readFileSync } from "node:fs"
import { Either, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { AgentConfig, version } from "@atelier/agent"
import { leastNode } from "../src/Version.js"

const configure = (environment: Record<string, string>, args: AgentConfig.Arguments = {}) =>
  Either.map(AgentConfig.fromEnvironment(environment, args), (config) => ({
    url: config.url.href,
    token: Redacted.value(config.token),
    sessionHeader: config.brand.sessionHeader,
    environmentName: config.brand.environmentName
  }))

const refusal = (environment: Record<string, string>, args: AgentConfig.Arguments = {}) =>
  Either.getOrElse(Either.flip(configure(environment, args)), () => undefined)?.message

describe("the configuration", () => {
  it("is found under the prefix of the only token", () => {
    expect(configure({ CODER_AGENT_URL: "https://dev.example.com", CODER_AGENT_TOKEN: "t" })).toStrictEqual(
      Either.right({ url: "https://dev.example.com/", token: "t", sessionHeader: "Coder-Session-Token", environmentName: "CODER" })
    )
    expect(configure({ SERVICE_AGENT_URL: "http://x", SERVICE_AGENT_TOKEN: "t", CODER_AGENT_TOKEN: "u" })).toMatchObject({
      right: { token: "t", sessionHeader: "Service-Session-Token" }
    })
    expect(refusal({ A_AGENT_TOKEN: "t", B_AGENT_TOKEN: "u" })).toContain("--environment-prefix")
  })

  it("is found under the prefix or brand that the command line names", () => {
    const both = { A_AGENT_TOKEN: "t", A_AGENT_URL: "http://a", MY_PRODUCT_AGENT_TOKEN: "u", MY_PRODUCT_AGENT_URL: "http://b" }
    expect(configure(both, { environmentPrefix: "A_" })).toMatchObject({ right: { url: "http://a/", sessionHeader: "A-Session-Token" } })
    expect(configure(both, { brand: "My Product" })).toMatchObject({
      right: { url: "http://b/", sessionHeader: "My-Product-Session-Token", environmentName: "MY_PRODUCT" }
    })
    expect(configure(both, { environmentPrefix: "A", brand: "Other" })).toMatchObject({ right: { sessionHeader: "Other-Session-Token" } })
    expect(configure({ ...both, A_AGENT_BRAND: "Third" }, { environmentPrefix: "A" })).toMatchObject({
      right: { sessionHeader: "Third-Session-Token" }
    })
    expect(refusal(both, { environmentPrefix: "=" })).toContain("cannot begin")
  })

  it("may name a file with the token", () => {
    const directory = mkdtempSync(join(tmpdir(), "agent-test-"))
    const file = join(directory, "token")
    writeFileSync(file, "from-file\n")
    expect(configure({ SERVICE_AGENT_URL: "http://x", SERVICE_AGENT_TOKEN_FILE: file })).toMatchObject({ right: { token: "from-file" } })
    rmSync(directory, { recursive: true })
    expect(refusal({ SERVICE_AGENT_URL: "http://x", SERVICE_AGENT_TOKEN_FILE: file })).toContain("cannot be read")
  })

  it("reports missing and wrong values", () => {
    expect(refusal({})).toBe("SERVICE_AGENT_URL is not set")
    expect(refusal({ SERVICE_AGENT_URL: "http://x" })).toBe("SERVICE_AGENT_TOKEN is not set")
    expect(refusal({ SERVICE_AGENT_URL: "ftp://x", SERVICE_AGENT_TOKEN: "t" })).toContain("ftp://x")
    expect(refusal({ SERVICE_AGENT_URL: "http://x", SERVICE_AGENT_TOKEN_FILE: "/dev/null" })).toBe("The token is empty")
    expect(refusal({ SERVICE_AGENT_URL: "http://x", SERVICE_AGENT_TOKEN: "a\nb" })).toBe("The token holds characters that no token has")
  })

  it("does not show the token", () => {
    const config = AgentConfig.fromEnvironment({ SERVICE_AGENT_URL: "http://x", SERVICE_AGENT_TOKEN: "t" })
    expect(String(Either.getOrThrow(config).token)).toBe("<redacted>")
  })
})

it("the version and the oldest Node are the package's", () => {
  const least = { engines: { node: `>=${leastNode.join(".")}` } }
  expect(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))).toMatchObject({ version, ...least })
})

describe("a login that nothing has made", () => {
  const login = (environment: Record<string, string>) => {
    const config = Either.getOrThrow(
      AgentConfig.fromEnvironment({ SERVICE_AGENT_URL: "http://x", SERVICE_AGENT_TOKEN: "t", ...environment })
    )
    const { HOME, LOGNAME, SHELL, USER } = config.environment
    return { HOME, LOGNAME, SHELL, USER, home: config.homeDirectory, shell: config.shell }
  }

  it("is that of the system's user", () => {
    const { homedir, username } = userInfo()
    expect(login({})).toMatchObject({ HOME: homedir, home: homedir, USER: username, LOGNAME: username })
  })

  it("does not replace what is set", () => {
    const set = { HOME: "/h", LOGNAME: "l", SHELL: "/s", USER: "u" }
    expect(login(set)).toStrictEqual({ ...set, home: "/h", shell: "/s" })
  })
})
