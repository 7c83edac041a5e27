/**
 * Tries the interface's description with the tools that its readers use: two linters, four generators of clients, whose output
 * is compiled, and schemathesis, which calls the service with what the description allows. Needs Node, Python, Go and the registries of
 * each; `npm run build` comes first. `npm test` needs none of that: there, ajv holds each answer against the description.
 *
 *   node test/description/check.mjs [lint] [typescript] [hey-api] [python] [go] [schemathesis]
 */
import { Atelier } from "@atelier/http"
import { makeServer } from "@atelier/http/node"
import { Sqlite } from "@atelier/storage-sqlite"
import { LocalProvisioner } from "@atelier/provisioner"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Redacted } from "effect"

const here = dirname(fileURLToPath(import.meta.url))
const folder = await mkdtemp(join(tmpdir(), "atelier-description-"))
const wanted = process.argv.slice(2)

/** Milliseconds that one command may take. */
const timeout = 15 * 60_000

const run = (command, args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: folder, stdio: "inherit", timeout, ...options })
    child.on("error", reject)
    child.on("exit", (code, signal) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code ?? signal}`))))
  })

/** A deployment with an owner, whose description is in `doc.json`. */
const start = async () => {
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1",
    storage: Sqlite.layer({ filename: ":memory:" }),
    provisioner: LocalProvisioner.layer({ directory: join(folder, "workspaces"), agent: { command: ["true"] } }),
    logLevel: "error",
    // Without a key, SCIM is nowhere, and a request without one is not refused with 401
    options: { dangerousDisableRateLimits: true, swaggerEnable: true, scimAuthHeader: Redacted.make(randomUUID()) },
    entitlements: { has: () => true }
  })
  // A bare server of Node answers a head that is too large without a body, and resets the connection
  const server = makeServer().on("request", atelier.handler).on("upgrade", atelier.upgrade)
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  const post = async (path, body, session = "") => {
    const headers = { "Service-Session-Token": session }
    const response = await fetch(`${url}/api/v2${path}`, { method: "POST", body: JSON.stringify(body), headers })
    return response.json()
  }
  const owner = { email: "owner@example.com", password: "SomeSecurePassword!" }
  await post("/users/first", { ...owner, username: "owner" })
  const { session_token: session } = await post("/users/login", owner)
  // Outlives what the tools do to the owner's sessions
  const { key: token } = await post("/users/me/keys/tokens", {}, session)
  await writeFile(join(folder, "doc.json"), await (await fetch(`${url}/swagger/doc.json`)).text())
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await atelier.dispose()
  }
  return { url, token, stop }
}

const npx = (packages, ...command) => run("npx", ["--yes", ...packages.flatMap((name) => ["--package", name]), ...command])

/** A Python environment of the script's own. */
const python = async (...packages) => {
  await run("python3", ["-m", "venv", "python"])
  await run(join(folder, "python/bin/pip"), ["install", "--quiet", ...packages])
}

/** Gives fields whose names begin in lower case, and differ from another by case alone, a name of their own in Go. */
const nameApart = (node) => {
  if (typeof node !== "object" || node === null) return
  const names = Object.keys(node.properties ?? {})
  for (const name of names.filter((each) => /^[a-z]/.test(each))) {
    if (names.some((other) => other !== name && other.toLowerCase() === name.toLowerCase())) {
      node.properties[name] = { ...node.properties[name], "x-go-name": `Lower${name}` }
    }
  }
  for (const value of Object.values(node)) nameApart(value)
}

const checks = {
  lint: async () => {
    await npx(["@redocly/cli@2"], "redocly", "lint", "--config", join(here, "redocly.yaml"), "--max-problems", "100", "doc.json")
    await npx(
      ["@stoplight/spectral-cli@6"],
      "spectral",
      "lint",
      "--ruleset",
      join(here, "spectral.yaml"),
      "--fail-severity",
      "hint",
      "doc.json"
    )
  },

  typescript: async () => {
    const packages = ["openapi-typescript@7", "typescript@5"]
    await npx(packages, "openapi-typescript", "doc.json", "-o", "client.d.ts")
    await npx(packages, "tsc", "--noEmit", "--strict", "client.d.ts")
  },

  python: async () => {
    await python("openapi-python-client==0.29.1", "ruff")
    // Archives are bytes
    const types = ["application/x-tar", "application/zip", "application/x-zip-compressed", "application/gzip"]
    await writeFile(
      join(folder, "python.yaml"),
      `content_type_overrides:\n${types.map((type) => `  ${type}: application/octet-stream\n`).join("")}`
    )
    const env = { ...process.env, PATH: `${join(folder, "python/bin")}:${process.env.PATH}` }
    // Of a body in several media types, this version writes a module that lacks an import
    const description = JSON.parse(await readFile(join(folder, "doc.json"), "utf8"))
    const { content } = description.paths["/api/v2/files"].post.requestBody
    for (const type of types.slice(1)) delete content[type]
    await writeFile(join(folder, "python.json"), JSON.stringify(description))
    const generate = [
      "generate",
      "--path",
      "python.json",
      "--output-path",
      "client",
      "--meta",
      "none",
      "--config",
      "python.yaml",
      "--fail-on-warning"
    ]
    await run(join(folder, "python/bin/openapi-python-client"), generate, { env })
    const importAll =
      "import importlib, pkgutil, client\nfor module in pkgutil.walk_packages(client.__path__, 'client.'): importlib.import_module(module.name)"
    await run(join(folder, "python/bin/python"), ["-c", importAll])
  },

  go: async () => {
    // Some answers have a field under two names that differ by case alone, which are one name in Go
    const description = JSON.parse(await readFile(join(folder, "doc.json"), "utf8"))
    nameApart(description)
    await writeFile(join(folder, "go.json"), JSON.stringify(description))
    await mkdir(join(folder, "go/client"), { recursive: true })
    await writeFile(join(folder, "go/go.mod"), "module example.com/description\n\ngo 1.24\n")
    await writeFile(join(folder, "go/oapi.yaml"), "package: client\noutput: client/client.go\ngenerate:\n  models: true\n  client: true\n")
    const options = { cwd: join(folder, "go") }
    const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
    await run("go", ["run", generator, "-config", "oapi.yaml", "../go.json"], options)
    await run("go", ["mod", "tidy"], options)
    await run("go", ["build", "./client"], options)
  },

  "hey-api": async () => {
    await npx(["@hey-api/openapi-ts@0.95.0", "typescript@5"], "openapi-ts", "-i", "doc.json", "-o", "sdk")
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "es2022",
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["es2022", "dom", "dom.iterable"],
      types: [],
      skipLibCheck: true
    }
    await writeFile(join(folder, "sdk/tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }))
    await npx(["typescript@5"], "tsc", "-p", "sdk")
  },

  schemathesis: async ({ token, url }) => {
    await python("schemathesis==4.32.5")
    const options = ["--url", url, "--header", `Service-Session-Token: ${token}`, "--seed", "1", "--max-time", "300"]
    const schemathesis = join(folder, "python/bin/schemathesis")
    const config = ["--config-file", join(here, "schemathesis.toml")]
    // Stateful tests would repeat until the time is over, and learn of few links
    const phases = ["--phases", "examples,coverage,fuzzing", "--max-failures", "1000"]
    // Every call after it would be refused with 401
    const left = ["--exclude-path", "/api/v2/users/logout"]
    await run(schemathesis, [...config, "run", "doc.json", ...phases, ...left, ...options])
  }
}

const service = await start()
const failed = []
for (const [name, check] of Object.entries(checks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  try {
    await check(service)
    process.stdout.write(`${name}: passed\n`)
  } catch (error) {
    failed.push(name)
    process.stderr.write(`${name}: ${error.message}\n`)
  }
}
await service.stop()
await rm(folder, { recursive: true, force: true })
process.exitCode = failed.length === 0 ? 0 : 1
