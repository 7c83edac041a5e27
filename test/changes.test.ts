/** How versions are made of what changed. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { version as agentVersion } from "../packages/agent/src/Version.js"
import { version as daemonVersion } from "../packages/provisioner/src/daemon/Version.js"
import { changelogWith, isUnreleased, nextVersion, parseChange } from "../scripts/changes.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const manifest = (path: string): { readonly name: string; readonly version: string } => JSON.parse(read(path))
const manifests = readdirSync(join(root, "packages")).map((name) => manifest(`packages/${name}/package.json`))
const names = manifests.map(({ name }) => name)

const added = '---\n"@atelier/http": minor\n"@atelier/core": patch\n---\n\nWorkspaces move\nbetween organizations.\n'

describe("a change", () => {
  it("has the greatest bump of its packages", () => {
    expect(parseChange("a.md", added, names)).toStrictEqual({
      packages: ["@atelier/http", "@atelier/core"],
      bump: "minor",
      words: "Workspaces move\nbetween organizations."
    })
  })

  it.each([
    ["Workspaces move.", "begins with lines such as"],
    ['---\n"@atelier/htpp": minor\n---\nMove.', "@atelier/htpp: is not a package"],
    ['---\n"@atelier/http": big\n---\nMove.', "big: must be one of patch, minor, major"],
    ['---\n"@atelier/http": minor\n---\n', "says nothing"]
  ])("%j is refused", (text, reason) => {
    expect(() => parseChange("a.md", text, names)).toThrow(`a.md: ${reason}`)
  })

  it("of this repository can be read", () => {
    const files = readdirSync(join(root, ".changeset")).filter((name) => name.endsWith(".md") && name !== "README.md")
    expect(files.map((name) => parseChange(name, read(`.changeset/${name}`), names))).toHaveLength(files.length)
  })
})

it.each([
  ["0.1.2", ["patch", "patch"], "0.1.3"],
  ["0.1.2", ["patch", "minor"], "0.2.0"],
  ["0.1.2", ["major"], "0.2.0"],
  ["1.1.2", ["major", "patch"], "2.0.0"],
  ["1.1.2", ["minor"], "1.2.0"]
] as const)("after %s and %j comes %s", (version, bumps, next) => {
  expect(
    nextVersion(
      version,
      bumps.map((bump) => ({ bump }))
    )
  ).toBe(next)
})

const change = parseChange("a.md", added, names)

it("the changelog gets a section on top", () => {
  const former = "# Changelog\n\nWords.\n\n## 0.1.0 (2026-01-01)\n\nThe first version.\n"
  expect(changelogWith(former, "0.2.0", "2026-02-01", [change])).toBe(
    "# Changelog\n\nWords.\n\n## 0.2.0 (2026-02-01)\n\n### Additions\n\n- `@atelier/http`, `@atelier/core`: Workspaces move\n  between organizations.\n\n## 0.1.0 (2026-01-01)\n\nThe first version.\n"
  )
})

it("changes belong to the version that is not released yet", () => {
  const former = "# Changelog\n\n## 0.2.0 (not released)\n\nMany things.\n\n## 0.1.0 (2026-01-01)\n\nThe first version.\n"
  expect(isUnreleased(former, "0.2.0")).toBe(true)
  expect(isUnreleased(former, "0.1.0")).toBe(false)
  expect(changelogWith(former, "0.2.0", "2026-02-01", [change])).toBe(
    "# Changelog\n\n## 0.2.0 (2026-02-01)\n\nMany things.\n\n### Additions\n\n- `@atelier/http`, `@atelier/core`: Workspaces move\n  between organizations.\n\n## 0.1.0 (2026-01-01)\n\nThe first version.\n"
  )
})

it("everything has one version", () => {
  const { version } = manifest("package.json")
  expect(new Set([...manifests.map((each) => each.version), agentVersion, daemonVersion])).toStrictEqual(new Set([version]))
  expect(read("deploy/chart/Chart.yaml")).toContain(`\nversion: ${version}\nappVersion: ${version}\n`)
  expect(new Set(read("deploy/Dockerfile").match(/(?<=^ARG VERSION=).*$/gm))).toStrictEqual(new Set([version]))
  expect(read("packages/mcp/src/answer.ts")).toContain(`version: "${version}"`)
})
