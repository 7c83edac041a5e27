/** `npm ci` installs from the lock file on every platform, wherever the registry is. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type LockFile, missingPackages, reachablePackages } from "../scripts/lockFile.mjs"
import { sbomOf } from "../scripts/sbom.mjs"

const read = (path: string) => {
  const lock = JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as LockFile
  const packages = Object.entries(lock.packages)
  return { lock, installed: packages.filter(([name, { link }]) => name.includes("node_modules/") && link !== true) }
}

describe.each(["../package-lock.json", "nodes/package-lock.json", "../scripts/docs/package-lock.json"])("%s", (path) => {
  const { installed, lock } = read(path)

  it("the lock file has every package that its packages ask for, on every platform", () => {
    expect(missingPackages(lock), "run `npm run lock`").toEqual([])
  })

  it("the lock file fixes the contents of each package", () => {
    expect(installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([])
  })

  it("the lock file names no registry other than the public one", () => {
    const hosts = installed.flatMap(([, { resolved }]) => (resolved === undefined ? [] : [new URL(resolved).host]))
    expect(hosts.filter((host) => host !== "registry.npmjs.org")).toEqual([])
  })
})

it("the lock file has the packages of the other platforms", () => {
  const { lock } = read("../package-lock.json")
  const platforms = [
    "darwin-arm64",
    "darwin-x64",
    "linux-arm64-gnu",
    "linux-x64-gnu",
    "linux-x64-musl",
    "win32-arm64-msvc",
    "win32-x64-msvc"
  ]
  const native = ["@oxfmt/binding", "@oxlint/binding", "@rollup/rollup"]
  const missing = native
    .flatMap((name) => platforms.map((platform) => `node_modules/${name}-${platform}`))
    .filter((path) => !(path in lock.packages))
  expect(missing).toEqual([])
})

it("a package without an entry is reported with the entry that asks for it", () => {
  const packages = {
    "": { dependencies: { outer: "^1.0.0" } },
    "node_modules/outer": { dependencies: { inner: "^1.0.0" }, optionalDependencies: { native: "1.2.3" } },
    "node_modules/outer/node_modules/inner": { dependencies: { outer: "*" } }
  }
  expect(missingPackages({ packages })).toEqual([{ from: "node_modules/outer", name: "native", range: "1.2.3" }])
})

/** Packages that report their use, or their installation, to their makers. */
const reporting =
  /(?:^|\/)(?:@scarf|@segment|@sentry|@amplitude|@datadog|@newrelic|posthog|mixpanel|analytics|universal-analytics|insight|applicationinsights|dd-trace|newrelic|rudder-sdk|ga-4)(?:[-/]|$)|telemetry/

it("hosts get no package that reports its use", () => {
  const { lock } = read("../package-lock.json")
  const published = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path))
  const reached = reachablePackages(lock, published)
  const names = reached.map((path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length))
  expect(names).toContain("effect")
  expect(names.filter((name) => reporting.test(name))).toStrictEqual([])
  // A report at an installation needs a script
  expect(reached.filter((path) => lock.packages[path]?.hasInstallScript === true)).toStrictEqual([
    "node_modules/@parcel/watcher",
    "node_modules/better-sqlite3",
    "node_modules/cpu-features",
    "node_modules/msgpackr-extract",
    "node_modules/protobufjs",
    "node_modules/ssh2"
  ])
})

/** Licenses under which hosts may pass the packages on, with a notice at the most. */
const permissive = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense"
])

/** Their manifests name the MIT license in an older form, which the lock file leaves out. */
const olderForm = new Set(["node_modules/buildcheck", "node_modules/cpu-features", "node_modules/ssh2"])

it("hosts get packages of permissive licenses alone", () => {
  const { lock } = read("../package-lock.json")
  const published = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path))
  // One of several is enough where a package offers a choice, and all are needed where it combines them
  const isPermissive = (license: string): boolean =>
    license
      .replace(/[()]/g, "")
      .split(" OR ")
      .some((choice) => choice.split(" AND ").every((name) => permissive.has(name)))
  const others = reachablePackages(lock, published)
    .filter((path) => lock.packages[path]?.link !== true && !olderForm.has(path))
    .map((path) => `${path}: ${lock.packages[path]?.license}`)
    .filter((entry) => !isPermissive(entry.slice(entry.indexOf(": ") + 2)))
  expect(others).toStrictEqual([])
})

it("the bill of materials has each package that hosts get, with its content", () => {
  const { lock } = read("../package-lock.json")
  const { components } = sbomOf(lock)
  const published = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path))
  const got = reachablePackages(lock, published).filter((path) => path.includes("node_modules/") && lock.packages[path]?.link !== true)
  const listed = new Set(components.map(({ group, name, version }) => `${group === undefined ? "" : `${group}/`}${name}@${version}`))
  const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
  expect(got.map((path) => `${nameOf(path)}@${lock.packages[path]?.version}`).filter((each) => !listed.has(each))).toStrictEqual([])
  expect(listed.has(`effect@${lock.packages["node_modules/effect"]?.version}`)).toBe(true)
  expect([...listed].filter((each) => each.startsWith("vitest@"))).toStrictEqual([])
  const foreign = components.filter(({ group }) => group !== "@atelier")
  expect(foreign.filter(({ hashes, name }) => hashes === undefined && name !== "atelier")).toStrictEqual([])
})

it("no installed package reports its installation", () => {
  const { installed } = read("../package-lock.json")
  const withScript = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path)
  expect(withScript.filter((path) => reporting.test(path.slice("node_modules/".length)))).toStrictEqual([])
})
