import { DeploymentOptions, optionDefinitions, optionName } from "@atelier/core/deployment"
import { Duration, Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { sqlite } from "../../../../../test/store/databases.js"
import { describeInterface, startServer } from "../../../../../test/http/server.js"

const Described = Schema.Struct({
  config: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  options: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
})

/** What no answer may contain. */
const marker = "marker-of-a-secret"

const secretFlags = Object.entries(optionDefinitions).flatMap(([flag, definition]) => ("secret" in definition ? [flag] : []))

const key = createHash("sha256").update(marker).digest("base64")

/** Every secret option has a value that contains the marker, or is derived from it. */
const secrets = Object.fromEntries(
  secretFlags.map((flag) => [optionName(flag), flag === "external-token-encryption-keys" ? [key] : `${marker}-${flag}`])
)

const provider = {
  id: "git",
  type: "gitlab",
  client_id: "client",
  client_secret: marker,
  auth_url: "",
  token_url: "",
  validate_url: "",
  revoke_url: "",
  redirect_url: "",
  app_install_url: "",
  app_installations_url: "",
  no_refresh: false,
  scopes: null,
  extra_token_keys: null,
  device_flow: false,
  device_code_url: "",
  mcp_url: "",
  mcp_tool_allow_regex: "",
  mcp_tool_deny_regex: "",
  regex: "",
  api_base_url: "",
  display_name: "",
  display_icon: "",
  code_challenge_methods_supported: null
}

describeInterface(
  "the deployment's options",
  (server) => {
    it("are shown to owners and auditors, and refused to members and anonymous callers", async () => {
      const { token: member } = await server().aMember()
      const { token: auditor } = await server().aMember({ rbac_roles: ["auditor"] })
      const statusFor = async (token?: string) =>
        (await server().call("GET", "/deployment/config", token === undefined ? {} : { token })).status
      expect(await Promise.all([server().owner().token, auditor, member, undefined].map(statusFor))).toEqual([200, 200, 403, 401])
    })

    it("are all reported, in the order of their definition", async () => {
      const { options } = (await server().call("GET", "/deployment/config", { token: server().owner().token })).as(Described)
      expect(options.map(({ flag }) => flag)).toEqual(Object.keys(optionDefinitions))
      expect(options.every(({ name, description }) => name !== "" && description !== "")).toBe(true)
    })

    it("are reported with value, source and place", async () => {
      const { config, options } = (await server().call("GET", "/deployment/config", { token: server().owner().token })).as(Described)
      const option = (flag: string) => options.find((one) => one["flag"] === flag)
      expect(option("session-duration")).toMatchObject({ value: 172_800_000_000_000, value_source: "flag", default: "24h0m0s" })
      expect(option("default-token-lifetime")).toMatchObject({ value: 604_800_000_000_000, value_source: "default" })
      expect(option("log-filter")).not.toHaveProperty("value_source")
      expect(option("access-url")).toMatchObject({ env: "SERVICE_ACCESS_URL", value_source: "flag", group: { name: "Networking" } })
      expect(config).toMatchObject({
        session_lifetime: { default_duration: 172_800_000_000_000 },
        oidc: { scopes: ["openid", "profile", "email"] }
      })
      expect(config).not.toHaveProperty("verbose")
    })

    it("show no secret at any depth, but that it is set", async () => {
      const answer = await server().call("GET", "/deployment/config", { token: server().owner().token })
      expect(answer.text).not.toContain(marker)
      expect(answer.text).not.toContain(key)
      const { options } = answer.as(Described)
      for (const flag of secretFlags) {
        const option = options.find((one) => one["flag"] === flag)
        expect(option, flag).toMatchObject({ value_source: "flag" })
        expect(option, flag).not.toHaveProperty("value")
      }
    })

    it("give SSH clients their settings", async () => {
      const { token } = await server().aMember()
      expect((await server().call("GET", "/deployment/ssh", { token })).body).toEqual({
        hostname_prefix: "service.",
        hostname_suffix: "dev",
        ssh_config_options: { ForwardAgent: "yes", Port: "23" }
      })
    })

    it("switch experiments on, known or not", async () => {
      const { token } = await server().aMember()
      expect((await server().call("GET", "/experiments", { token })).body).toEqual(["foo", "foo", "minimum-implicit-member", "example"])
      expect((await server().call("GET", "/experiments/available", { token })).body).toEqual(["minimum-implicit-member"])
    })
  },
  {
    options: {
      ...secrets,
      sessionDuration: "48 hours",
      defaultOauthRefreshLifetime: Duration.days(30),
      workspaceHostnameSuffix: "dev",
      sshConfigOptions: ["ForwardAgent=yes", "Port 22", "Port=23"],
      experiments: ["Foo", "foo", "*", "example"],
      externalAuthProviders: [provider]
    }
  }
)

describeInterface("violations of the content security policy", (server) => {
  const report = (body: unknown, type = "application/csp-report") =>
    server().call("POST", "/csp/reports", { body, headers: { "content-type": type } })

  it("are accepted without a credential", async () => {
    const { status, text } = await report({ "csp-report": { "blocked-uri": "https://a.example.com", "line-number": 3 } })
    expect([status, text]).toEqual([200, ""])
    expect((await report({ "csp-report": null })).status).toBe(200)
  })

  it.each([["[]"], ['{"csp-report":"text"}'], ['{"csp-report":[]}'], [""], ["nope"]])("are refused as %j", async (body) => {
    expect((await report(body)).status).toBe(400)
  })

  it("are refused above 64 KiB", async () => {
    const of = (length: number) => `{"csp-report":{"a":"${"x".repeat(length - 24)}"}}`.padEnd(length)
    expect([(await report(of(65_536))).status, (await report(of(65_537))).status]).toEqual([200, 413])
  })
})

describeInterface("the start script of agents", (server) => {
  it.each(["linux/amd64", "LINUX/AMD64", "linux/armv7", "darwin/arm64"])("is a shell script for %s", async (platform) => {
    const { headers, status, text } = await server().call("GET", `/init-script/${platform}`)
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
    expect(text).toContain(`http://atelier.test/bin/service-${platform.toLowerCase().replace("/", "-")}`)
    expect(text).toContain('SERVICE_AGENT_AUTH="token"')
    expect(headers.get("content-digest")).toBe(`sha-256=:${createHash("sha256").update(text).digest("base64")}:`)
  })

  it("is a PowerShell script for Windows", async () => {
    expect((await server().call("GET", "/init-script/windows/amd64")).text).toContain("Invoke-WebRequest")
  })

  it.each(["darwin/armv7", "plan9/amd64", "constructor/toString"])("does not exist for %s", async (platform) => {
    expect((await server().call("GET", `/init-script/${platform}`)).status).toBe(400)
  })
})

it("a newer release is reported once the feed names it", async () => {
  let asked = 0
  const releaseFeed = async () => ({ version: `v99.${asked++}.0`, url: "https://releases.test" })
  const server = await startServer(sqlite, { empty: true, releaseFeed })
  try {
    const check = async () => (await server.call("GET", "/updatecheck")).body
    expect(await check()).toEqual({ current: false, version: "v99.0.0", url: "https://releases.test" })
    expect(await check()).toMatchObject({ version: "v99.0.0" })
    expect(asked).toBe(1)
  } finally {
    await server.close()
  }
})

it("no release is newer without a feed, or with update checks switched off", async () => {
  const server = await startServer(sqlite, {
    empty: true,
    options: { updateCheck: false },
    releaseFeed: () => Promise.reject(new Error("must not be asked"))
  })
  try {
    const { version } = (await server.call("GET", "/buildinfo")).as(Schema.Struct({ version: Schema.String }))
    expect((await server.call("GET", "/updatecheck")).body).toMatchObject({ current: true, version })
  } finally {
    await server.close()
  }
})

it("a host's bad option keeps the service from starting, in one sentence that names it", async () => {
  const start = startServer(sqlite, { empty: true, options: { workspaceHostnameSuffix: ".dev" } })
  await expect(start).rejects.toThrow('options.workspaceHostnameSuffix ".dev": must not begin with a dot')
})

it.each([
  [{ tlsEnable: true }, "options.tlsEnable: is for the standalone server"],
  [{ ephemeral: true }, "options.ephemeral: is not supported: data would stay after the end"]
])("a host's option %j that an operator would rely on keeps the service from starting", async (options, message) => {
  await expect(startServer(sqlite, { empty: true, options })).rejects.toThrow(message)
})

it("a rule between two options names both as a host knows them", async () => {
  const start = startServer(sqlite, { empty: true, options: { sessionDuration: "60 days" } })
  await expect(start).rejects.toThrow("options.defaultOauthRefreshLifetime: must be longer than sessionDuration")
})

it("the defaults of the options are the service's own", async () => {
  const defaults = Effect.runSync(DeploymentOptions)
  const server = await startServer(sqlite, { empty: true, options: {} })
  try {
    const options = await server.run(DeploymentOptions)
    expect(options).toEqual({ ...defaults, accessUrl: options.accessUrl, dangerousDisableRateLimits: true })
  } finally {
    await server.close()
  }
})

it("the start script downloads the agent and runs it with its settings", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-init-"))
  const program = `#!/usr/bin/env node
if (process.argv[2] === "--version") process.exit(0)
const { SERVICE_AGENT_URL, SERVICE_AGENT_AUTH } = process.env
process.stdout.write(JSON.stringify({ SERVICE_AGENT_URL, SERVICE_AGENT_AUTH, arguments: process.argv.slice(2) }))
`
  const server = await startServer(sqlite, { empty: true, agentProgram: async () => new TextEncoder().encode(program) })
  try {
    const { text } = await server.call("GET", "/init-script/linux/amd64")
    // The test's server has another address than the one it is configured with
    const script = text.replaceAll("http://atelier.test", server.url.replace(/\/$/, ""))
    const { stdout } = await promisify(execFile)("sh", ["-c", script], { env: { ...process.env, BINARY_DIR: directory } })
    expect(JSON.parse(stdout)).toEqual({
      SERVICE_AGENT_URL: `${server.url.replace(/\/$/, "")}/`,
      SERVICE_AGENT_AUTH: "token",
      arguments: ["--environment-prefix", "SERVICE"]
    })
    const old = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.18.3"})`
    const env = { ...process.env, BINARY_DIR: directory, NODE_OPTIONS: `--import ${old.replaceAll('"', "%22")}` }
    await expect(promisify(execFile)("sh", ["-c", script], { env })).rejects.toMatchObject({
      code: 1,
      stderr: "Node.js 20.18.3 is too old: the agent needs >=20.19\n"
    })
    expect((await server.call("GET", "//bin/other-linux-amd64")).status).toBe(404)
  } finally {
    await server.close()
    await rm(directory, { recursive: true })
  }
})
