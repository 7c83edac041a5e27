// Builds the web console into packages/console/dist/site, compresses its files, and lists them with the addresses of its screens. Does nothing where
// nothing has changed since the last time: a build takes some seconds.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { extname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { libraryFolders, licensesOf } from "./bundle/licenses.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = join(root, "packages/console")
const site = join(folder, "dist/site")
const list = join(site, "files.json")

/** The build's own list of what each chunk needs. Nothing in a browser asks for it. */
const manifest = "manifest.json"

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/vnd.microsoft.icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2"
}

/** What is compressed already. */
const compressed = new Set([".png", ".woff2"])

const filesOf = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()

/** Everything that the site is made of: the application, the client that it carries, the libraries, and this program. */
const inputsHash = () => {
  const hash = createHash("sha256")
  const sources = [
    ...["src", "public"].flatMap((name) => filesOf(join(folder, name))),
    ...["index.html", "package.json", "tsconfig.json", "vite.config.ts"].map((name) => join(folder, name)),
    ...filesOf(join(root, "packages/client/src")),
    join(root, "package-lock.json"),
    fileURLToPath(import.meta.url)
  ]
  for (const path of sources)
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update("\0")
  return hash.digest("base64url")
}

const builtOf = () => {
  try {
    return JSON.parse(readFileSync(list, "utf8")).inputs
  } catch {
    return undefined
  }
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Writes the codings of a file that are worth it, and describes the file. */
const describe = async (path) => {
  const name = relative(site, path).replaceAll("\\", "/")
  const extension = extname(name)
  const type = types[extension]
  if (type === undefined) throw new Error(`${name}: scripts/console.mjs knows no media type of ${extension}`)
  const content = await readFile(path)
  const encodings = []
  if (!compressed.has(extension)) {
    const small = (bytes) => bytes.length < content.length * 0.9
    const br = await brotli(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
    })
    const gz = await gzipped(content, { level: 9 })
    if (small(br)) await writeFile(`${path}.br`, br).then(() => encodings.push("br"))
    if (small(gz)) await writeFile(`${path}.gz`, gz).then(() => encodings.push("gzip"))
  }
  return {
    path: name,
    type,
    hash: createHash("sha256").update(content).digest("base64url"),
    encodings,
    // Vite puts a hash into these names alone
    immutable: name.startsWith("assets/")
  }
}

/** The addresses of the application's screens, which its own routes say. */
const routesOf = async (createServer) => {
  const server = await createServer({
    root: folder,
    configFile: join(folder, "vite.config.ts"),
    logLevel: "error",
    appType: "custom",
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    optimizeDeps: { noDiscovery: true, include: [] }
  })
  try {
    const { patterns } = await server.ssrLoadModule("/src/app/routes.ts")
    return patterns().toSorted()
  } finally {
    await server.close()
  }
}

const inputs = inputsHash()
if (builtOf() !== inputs) {
  const { build, createServer } = await import("vite")
  rmSync(site, { recursive: true, force: true })
  const built = await build({ root: folder, configFile: join(folder, "vite.config.ts"), logLevel: "warn" })
  const modules = [built].flat().flatMap(({ output }) => output.flatMap(({ moduleIds = [] }) => moduleIds))
  await writeFile(join(site, "LICENSES.txt"), await licensesOf(libraryFolders(modules.map((id) => id.replace(/^\0|\?.*$/g, "")))))
  const routes = await routesOf(createServer)
  const files = []
  for (const path of filesOf(site))
    if (relative(site, path) !== manifest && relative(site, path) !== "index.html") files.push(await describe(path))
  // Last, so that what is interrupted is made again
  await writeFile(list, `${JSON.stringify({ inputs, routes, files }, null, 1)}\n`)
}
