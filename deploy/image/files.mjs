// Writes a tar of what the images hold, out of a built repository: `node deploy/image/files.mjs >context.tar`.
// `files/server` has the program with its production dependencies, in the versions of the lock file. `files/agent` has the agent's runtime, and
// `files/state` is empty. The Dockerfile is there too, so that the tar is a context for `docker build -` with nothing left to install and compile.
import { runtimeArchive } from "@atelier/provisioner/container"
import { Effect } from "effect"
import { createReadStream, existsSync } from "node:fs"
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { fileURLToPath } from "node:url"
import { sbomOf } from "../../scripts/sbom.mjs"
import { extract, pack } from "tar-stream"

const root = await realpath(fileURLToPath(new URL("../..", import.meta.url)))

/** What a running server never reads: sources, declarations, the form of modules that nothing asks for, and what a compiler has left. */
const isLeft = (path) =>
  /\.(?:d\.[cm]?ts|map|tsbuildinfo|gyp|[ch]pp|[cho]|a)$/.test(path) ||
  /(?:^|\/)(?:better-sqlite3\/(?:deps|src)|@atelier\/[^/]+\/(?:src|test)|atelier\/(?:src|test)|(?:effect|@effect\/[^/]+)\/(?:src|dist\/(?:cjs|dts)))$/.test(
    path
  )

const manifestOf = async (folder) => JSON.parse(await readFile(join(folder, "package.json"), "utf8"))

/** The folder of a dependency, as Node looks for it; undefined for an optional one that is not installed. */
const folderOf = (name, from) => {
  for (let place = from; ; place = dirname(place)) {
    const folder = join(place, "node_modules", name)
    if (existsSync(join(folder, "package.json"))) return folder
    if (place === dirname(place)) return undefined
  }
}

/** All folders that a package needs, by their places in the image. */
const needed = async (name, from, found = new Map()) => {
  const place = folderOf(name, from)
  if (place === undefined) return found
  const folder = await realpath(place)
  // A package of this repository is a link
  const isOwn = !folder.includes("node_modules")
  const to = isOwn
    ? join("node_modules", name)
    : relative(root, folder).replace(/^packages\/([^/]+)\/node_modules/, "node_modules/@atelier/$1/node_modules")
  if (found.has(to)) return found
  found.set(to, folder)
  const { dependencies, optionalDependencies, peerDependencies } = await manifestOf(folder)
  for (const one of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) await needed(one, folder, found)
  return found
}

const archive = pack()
/** Adds an entry, once there is room for it. */
const add = (header, body) =>
  new Promise((resolve, reject) => {
    const done = (error) => (error ? reject(error) : resolve())
    // An entry without content takes no stream
    if (body === undefined || !header.size) archive.entry(header, Buffer.alloc(0), done)
    else body.on("error", reject).pipe(archive.entry(header, done))
    if (!header.size) body?.resume()
  })
const addFile = async (name, path) => {
  const { mode, size } = await stat(path)
  return add({ name, mode: mode & 0o111 ? 0o755 : 0o644, size }, createReadStream(path))
}

/** Adds a folder without what is left, its links, and its own `node_modules`. */
const addFolder = async (from, to) => {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const place = join(to, entry.name)
    if (isLeft(place) || entry.name === "node_modules") continue
    if (entry.isDirectory()) await addFolder(join(from, entry.name), place)
    else if (entry.isFile()) await addFile(place, join(from, entry.name))
  }
}

/** Adds the entries of a tar. */
const addAll = (tar, to) => {
  const reading = extract()
  reading.on("entry", (header, body, next) => {
    const { mode, name, size, type } = header
    add({ mode, name: join(to, name), size, type }, body).then(next, (error) => reading.destroy(error))
  })
  return pipeline(tar, reading)
}

const written = pipeline(archive, process.stdout)
for (const folder of ["files/server", "files/agent", "files/state"]) await add({ name: folder, type: "directory", mode: 0o755 })
for (const [to, folder] of await needed("atelier", root)) await addFolder(folder, join("files/server", to))
await addFile("files/server/health.mjs", join(root, "deploy/image/health.mjs"))
const sbom = Buffer.from(JSON.stringify(sbomOf(JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")))))
await add({ name: "files/server/sbom.cdx.json", mode: 0o644, size: sbom.length }, Readable.from([sbom]))
await addFile("files/server/LICENSE", join(root, "LICENSE"))
await addAll((await Effect.runPromise(runtimeArchive())).tar(), "files/agent")
await addFile("Dockerfile", join(root, "deploy/Dockerfile"))
archive.finalize()
await written
