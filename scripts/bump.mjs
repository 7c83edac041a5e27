// Makes the next version of all packages: `npm run bump`. It reads what changed from .changeset, writes CHANGELOG.md, and sets the version wherever it is
// written. It commits and publishes nothing.
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { changelogWith, isUnreleased, nextVersion, parseChange } from "./changes.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (path) => readFileSync(join(root, path), "utf8")

const manifests = ["packages", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}/package.json`)
)
const names = manifests.map((path) => JSON.parse(read(path)).name)
const files = readdirSync(join(root, ".changeset")).filter((name) => name.endsWith(".md") && name !== "README.md")
const changes = files.toSorted().map((name) => parseChange(name, read(`.changeset/${name}`), names))

const { version } = JSON.parse(read("package.json"))
const changelog = read("CHANGELOG.md")
const next = isUnreleased(changelog, version) ? version : nextVersion(version, changes)

/** Replaces the version in lines of a form, which the file has to have. */
const replaceIn = (path, pattern, to) => {
  const text = read(path)
  if (!pattern.test(text)) throw new Error(`${path}: does not have the version ${version}`)
  writeFileSync(join(root, path), text.replaceAll(pattern, to))
}

const escaped = version.replaceAll(".", "\\.")
writeFileSync(join(root, "CHANGELOG.md"), changelogWith(changelog, next, new Date().toISOString().slice(0, 10), changes))
for (const name of files) rmSync(join(root, ".changeset", name))
if (next !== version) {
  // The version of a package, and that of its dependencies of this repository
  for (const path of ["package.json", ...manifests])
    replaceIn(path, new RegExp(`"(version|atelier|@atelier/[\\w-]+)": "${escaped}"`, "g"), `"$1": "${next}"`)
  for (const path of ["packages/agent/src/Version.ts", "packages/provisioner/src/daemon/Version.ts", "packages/mcp/src/answer.ts"])
    replaceIn(path, new RegExp(`"${escaped}"`, "g"), `"${next}"`)
  for (const path of ["README.md", "docs/operating.md"])
    replaceIn(path, new RegExp(`\\batelier-${escaped}\\.tgz`, "g"), `atelier-${next}.tgz`)
  replaceIn("deploy/Dockerfile", new RegExp(`^ARG VERSION=${escaped}$`, "gm"), `ARG VERSION=${next}`)
  replaceIn("deploy/chart/Chart.yaml", new RegExp(`^(version|appVersion): ${escaped}$`, "gm"), `$1: ${next}`)
  const { status } = spawnSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], {
    cwd: root,
    shell: process.platform === "win32",
    stdio: "inherit"
  })
  if (status !== 0) process.exit(status ?? 1)
}
process.stdout.write(
  `Version ${next}, with ${files.length} changes. Look at CHANGELOG.md, run the tests with --update for what records the version, and commit.\n`
)
