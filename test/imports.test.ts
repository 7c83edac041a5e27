/** The packages' import directions are those of the architecture: what is not listed may not be imported. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

interface Boundary {
  readonly packages: ReadonlyArray<string>
  /** What is installed with a program that has the other packages in itself. Undefined for a library. */
  readonly installed?: ReadonlyArray<string>
  /** What builds the package, and what its sources do not import. */
  readonly tools?: ReadonlyArray<string>
  /** Whether Node's own modules may be used. */
  readonly node: boolean
}

const boundaries: Readonly<Record<string, Boundary>> = {
  core: { packages: ["effect", "re2js"], node: false },
  client: { packages: [], node: false },
  simulation: { packages: ["effect", "@effect/sql", "@effect/sql-sqlite-node", "@atelier/core", "@atelier/storage"], node: true },
  storage: { packages: ["effect", "@effect/sql", "@atelier/core"], node: false },
  "storage-sqlite": { packages: ["effect", "@effect/sql", "@effect/sql-sqlite-node", "@atelier/core", "@atelier/storage"], node: true },
  "storage-postgres": {
    packages: ["effect", "@effect/sql", "@effect/sql-pg", "pg", "@types/pg", "@atelier/core", "@atelier/storage"],
    node: true
  },
  node: {
    packages: [
      "effect",
      "@node-rs/argon2",
      "asn1js",
      "jose",
      "nodemailer",
      "pprof-format",
      "tar-stream",
      "yaml",
      "yauzl",
      "yazl",
      "@atelier/agent-protocol",
      "@atelier/core"
    ],
    node: true
  },
  provisioner: {
    packages: ["effect", "yaml", "tar-stream", "@atelier/core", "@atelier/agent-protocol", "@atelier/agent"],
    node: true
  },
  "provisioner-kubernetes": {
    packages: ["effect", "@kubernetes/client-node", "yaml", "@atelier/core", "@atelier/provisioner"],
    node: true
  },
  "provisioner-terraform": {
    packages: ["effect", "re2js", "yaml", "tar-stream", "@atelier/core", "@atelier/provisioner"],
    node: true
  },
  "provisioner-docker": {
    packages: ["effect", "dockerode", "tar-stream", "@atelier/core", "@atelier/provisioner"],
    node: true
  },
  console: {
    packages: [
      "@atelier/client",
      "@codemirror/commands",
      "@codemirror/language",
      "@codemirror/legacy-modes",
      "@codemirror/search",
      "@codemirror/state",
      "@codemirror/view",
      "@lezer/highlight",
      "@tanstack/react-query",
      "@tanstack/react-router",
      "@tanstack/react-virtual",
      "@types/react",
      "@types/react-dom",
      "@xterm/addon-fit",
      "@xterm/addon-search",
      "@xterm/addon-web-links",
      "@xterm/xterm",
      "cmdk",
      "lucide-react",
      "marked",
      "radix-ui",
      "react",
      "react-dom",
      "uplot"
    ],
    node: false,
    installed: [],
    tools: ["@vitejs/plugin-react", "vite"]
  },
  cli: { packages: ["@atelier/client", "tar-stream", "ws", "yaml"], node: true },
  mcp: { packages: ["@atelier/client", "@modelcontextprotocol/sdk", "zod"], node: false },
  templates: { packages: ["effect", "tar-stream", "@atelier/core"], node: true },
  "agent-protocol": { packages: ["effect", "@bufbuild/protobuf", "tweetnacl"], node: false },
  agent: { packages: ["effect", "ws", "croner", "tar-stream", "@lydell/node-pty", "ssh2", "@atelier/agent-protocol"], node: true },
  atelier: {
    packages: [
      "effect",
      "yaml",
      "@atelier/agent",
      "@atelier/cli",
      "@atelier/core",
      "@atelier/http",
      "@atelier/mcp",
      "@atelier/node",
      "@atelier/provisioner",
      "@atelier/provisioner-docker",
      "@atelier/provisioner-kubernetes",
      "@atelier/provisioner-terraform",
      "@atelier/storage",
      "@atelier/storage-postgres",
      "@atelier/storage-sqlite",
      "@atelier/templates",
      "@effect/sql",
      "@effect/sql-sqlite-node",
      "pg"
    ],
    node: true,
    installed: ["@lydell/node-pty", "@node-rs/argon2", "better-sqlite3"]
  },
  http: {
    packages: [
      "effect",
      "@effect/platform",
      "@effect/platform-node",
      "ws",
      "jose",
      "openid-client",
      "ssh2",
      "@atelier/client",
      "@atelier/console",
      "@atelier/core",
      "@atelier/node",
      "@atelier/agent-protocol"
    ],
    node: true
  }
}

/** The core's areas: each imports those of its own line and of the lines above it. docs/architecture.md, "One area, one word". */
const areas = [
  ["platform"],
  ["access", "deployment", "audit", "externalAuth"],
  ["identity", "organizations", "groups", "notifications", "ai"],
  ["oauth2"],
  ["provisioning"],
  ["network"],
  ["logs"],
  ["agents"],
  ["templates"],
  ["workspaces"],
  ["sandboxes"],
  ["tasks"],
  ["insights"],
  ["retention"]
]

/** Imports against the order, by file and area. */
const againstTheOrder = [
  // What agents tell of themselves goes to who watches their workspace
  "agents/AgentEvents.ts: workspaces",
  "agents/logs/AgentLogs.ts: workspaces"
]

/**
 * The rooms of the HTTP package: each imports those of earlier lines alone. The index of a room says which of them. docs/architecture.md, "The rooms
 * of a request".
 */
const rooms = [
  ["cluster", "wire", "daemonRpc", "logins"],
  ["contract", "programs", "server/codec", "server/connection"],
  ["client", "node", "server/operate"],
  ["server/request"],
  ["server/credentials", "sockets"],
  ["agentRpc", "server/pipeline"],
  ["mcp", "pages", "relay", "server/listener"],
  ["apps", "externalAuth", "Options", "privateNetwork", "replicas"],
  ["oauth2", "proxy", "sandboxes", "ssh", "terminal"],
  ["assembly", "handlers", "swagger"],
  ["inProcessClient"],
  ["Atelier"],
  ["index"]
]

/** Parts of a package that run in browsers too. */
const browserSafe: Readonly<Record<string, ReadonlyArray<string>>> = { http: ["client", "contract", "wire"] }

const root = fileURLToPath(new URL("..", import.meta.url))

const sourcesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))

const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\()["']([^"'.][^"']*)["']/g)].map((match) => match[1] ?? "")

/** The files of a package that a file imports. */
const neighboursOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(/(?:\bfrom |\bimport\()"(\.[^"]*)"/g)].map((match) => join(dirname(file), match[1] ?? ""))

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

describe("imports", () => {
  it.each(Object.entries(boundaries))("of %s stay within the architecture", (name, { node, packages }) => {
    const folder = join(root, "packages", name, "src")
    const outside = sourcesOf(folder).flatMap((file) => {
      const forBrowsers = (browserSafe[name] ?? []).some((part) => relative(folder, file).startsWith(`${part}/`))
      return importsOf(file)
        .filter((specifier) => (specifier.startsWith("node:") ? !node || forBrowsers : !packages.includes(packageOf(specifier))))
        .map((specifier) => `${relative(root, file)}: ${specifier}`)
    })
    expect(outside).toStrictEqual([])
  })

  it.each(Object.entries(boundaries))("of %s are its dependencies, and each one is used", (name, { installed, packages, tools = [] }) => {
    const folder = join(root, "packages", name)
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8")
    )
    const declared = { ...dependencies, ...peerDependencies, ...optionalDependencies }
    expect(Object.keys(declared).toSorted()).toStrictEqual([...(installed ?? packages)].toSorted())
    if (installed !== undefined) expect(Object.keys(devDependencies).toSorted()).toStrictEqual([...packages, ...tools].toSorted())
    else expect(Object.keys(dependencies ?? {}).filter((each) => /^(effect$|@effect\/)/.test(each))).toStrictEqual([])
    const texts = sourcesOf(join(folder, "src")).map((file) => readFileSync(file, "utf8"))
    expect(packages.filter((each) => !texts.some((text) => text.includes(`"${each.replace("@types/", "")}`)))).toStrictEqual([])
  })

  it("of the core's areas go one way", () => {
    const folder = join(root, "packages", "core", "src")
    const lineOf = (area: string): number => areas.findIndex((line) => line.includes(area))
    const areaOf = (file: string): string => relative(folder, file).split("/")[0] ?? ""
    const against = sourcesOf(folder)
      .filter((file) => relative(folder, file).includes("/"))
      .flatMap((file) =>
        neighboursOf(file)
          .map(areaOf)
          .filter((area) => lineOf(area) > lineOf(areaOf(file)))
          .map((area) => `${relative(folder, file)}: ${area}`)
      )
    expect([...new Set(against)].toSorted()).toStrictEqual(againstTheOrder)
    expect(readdirSync(folder).filter((name) => !name.endsWith(".ts") && lineOf(name) < 0)).toStrictEqual([])
  })

  describe("of the rooms of a request", () => {
    const folder = join(root, "packages", "http", "src")
    const roomOf = (file: string): string => /^(?:server\/)?\w+/.exec(relative(folder, file))?.[0] ?? ""
    const lineOf = (room: string): number => rooms.findIndex((line) => line.includes(room))
    const crossing = sourcesOf(folder).flatMap((file) =>
      neighboursOf(file)
        .filter((other) => roomOf(other) !== roomOf(file))
        .map((other) => ({ file: relative(folder, file), from: roomOf(file), to: roomOf(other) }))
    )

    it("go one way", () => {
      expect([...new Set(sourcesOf(folder).map(roomOf))].toSorted()).toStrictEqual(rooms.flat().toSorted())
      expect(crossing.filter(({ from, to }) => lineOf(to) >= lineOf(from)).map(({ file, to }) => `${file}: ${to}`)).toStrictEqual([])
    })

    it.each(["wire", "programs", "assembly", ...rooms.flat().filter((room) => room.startsWith("server/"))])(
      "are those that the index of %s names",
      async (room) => {
        const { mayImport } = await import(join(folder, room, "index.ts"))
        const imported = new Set(crossing.filter(({ from }) => from === room).map(({ to }) => to))
        expect([...imported].toSorted()).toStrictEqual(mayImport)
      }
    )
  })

  it("of an example without HTTP need no package of the interface", () => {
    const folder = join(root, "examples", "domain-only")
    const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const imported = new Set(sourcesOf(join(folder, "src")).flatMap(importsOf).map(packageOf))
    expect([...imported].toSorted()).toStrictEqual(Object.keys(dependencies).toSorted())
    expect(Object.keys(dependencies)).not.toContain("@atelier/http")
  })

  // Its root carries two browsers of API descriptions, which every process would hold in memory: 25 MB
  it("of the platform are of its modules, not of its root", () => {
    const whole = Object.keys(boundaries).flatMap((name) =>
      sourcesOf(join(root, "packages", name, "src")).filter((file) =>
        importsOf(file).some((specifier) => /^@effect\/platform(-node)?$/.test(specifier))
      )
    )
    expect(whole.map((file) => relative(root, file))).toStrictEqual([])
  })
})

it("programs of packages have names of their own, so that all can be installed beside each other", () => {
  const bins = Object.keys(boundaries).flatMap((name) => {
    const { bin = {} }: { readonly bin?: Readonly<Record<string, string>> } = JSON.parse(
      readFileSync(join(root, "packages", name, "package.json"), "utf8")
    )
    return Object.keys(bin)
  })
  expect(bins.toSorted()).toStrictEqual([...new Set(bins)].toSorted())
  expect(bins).toContain("atelier")
})
