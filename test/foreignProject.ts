/** A project that uses the packed packages, with their declared dependencies and nothing else. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

export const root = fileURLToPath(new URL("..", import.meta.url))
const run = promisify(execFile)

interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export const manifestOf = async (folder: string): Promise<Manifest> => JSON.parse(await readFile(join(folder, "package.json"), "utf8"))

const needsOf = ({ dependencies, peerDependencies }: Manifest): ReadonlyArray<string> =>
  Object.keys({ ...dependencies, ...peerDependencies })

/** Where a dependency of a workspace of this repository is installed. */
const placeOf = (name: string, workspace: string): string => {
  const own = join(workspace, "node_modules", name)
  return existsSync(own) ? own : join(root, "node_modules", name)
}

/** The file that npm packs a package into. */
export const tarballOf = ({ name, version }: Pick<Manifest, "name" | "version">): string =>
  `${name.replace("@", "").replace("/", "-")}-${version}.tgz`

/** Packages whose compiled part a project may lack, and those that would find it beside themselves if they were links. */
const copied = ["better-sqlite3", "@effect/sql-sqlite-node"]

/**
 * Packs workspaces of this repository and installs them into an empty folder. Their dependencies are links to those of this repository, whose own
 * installation has checked the same ranges: a package manager would write 15,000 files. SQLite's driver has no compiled part, as after
 * an installation without scripts.
 */
export const installPacked = async (folder: string, workspaces: ReadonlyArray<string>): Promise<void> => {
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder, ...workspaces], { cwd: root })
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const modules = join(folder, "node_modules")
  await mkdir(join(modules, ".bin"), { recursive: true })
  const versions = new Map<string, string>()

  const install = async (name: string, place: string): Promise<void> => {
    const { version } = await manifestOf(place)
    const known = versions.get(name)
    if (known === version) return
    if (known !== undefined) throw new Error(`the packages want ${name} ${known} and ${version}`)
    versions.set(name, version)
    const target = join(modules, name)
    await mkdir(dirname(target), { recursive: true })
    if (!copied.includes(name)) return symlink(place, target)
    const left = ["build", "deps", "node_modules"].map((part) => join(place, part))
    await cp(place, target, { recursive: true, filter: (path) => !left.includes(path) })
    for (const needed of needsOf(await manifestOf(place))) await install(needed, placeOf(needed, place))
  }

  const manifests = new Map(await Promise.all(workspaces.map(async (place) => [place, await manifestOf(place)] as const)))
  const own = [...manifests.values()].map(({ name }) => name)
  for (const [place, manifest] of manifests) {
    const target = join(modules, manifest.name)
    await mkdir(target, { recursive: true })
    await run("tar", ["-xzf", join(folder, tarballOf(manifest)), "--strip-components=1", "-C", target])
    for (const [name, path] of Object.entries(manifest.bin ?? {})) await symlink(join(target, path), join(modules, ".bin", name))
    for (const name of needsOf(manifest)) if (!own.includes(name)) await install(name, placeOf(name, place))
  }
}
