/** A registry of npm packages: it has those that were published to it, and sends clients to another registry for all others. */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

interface Document {
  readonly name: string
  readonly "dist-tags": Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, { readonly dist: { readonly tarball: string } }>>
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>
}

export interface Registry {
  readonly url: string
  /** The packages in it, in the order of their publication. */
  readonly names: () => ReadonlyArray<string>
  /** The published file of a package. */
  readonly tarballOf: (name: string) => Buffer
  readonly close: () => void
}

/** Starts a registry. `elsewhere` is the URL of the one with the other packages; without it there are no others. */
export const startRegistry = async (elsewhere?: string): Promise<Registry> => {
  const documents = new Map<string, Omit<Document, "_attachments">>()
  const tarballs = new Map<string, Buffer>()

  /** Keeps what `npm publish` sends: a document of one version, with its file. */
  const publish = (url: string, { _attachments, ...document }: Document): void => {
    const [file] = Object.values(_attachments)
    const [version] = Object.values(document.versions)
    if (file === undefined || version === undefined) throw new Error(`${document.name} was published without a file`)
    const tarball = `${url}/files/${encodeURIComponent(document.name)}`
    Object.assign(version.dist, { tarball })
    documents.set(document.name, document)
    tarballs.set(document.name, Buffer.from(file.data, "base64"))
  }

  const server = createServer(async (request, response) => {
    const path = (request.url ?? "/").slice(1)
    const name = decodeURIComponent(path.replace(/^files\//, ""))
    const found = path.startsWith("files/") ? tarballs.get(name) : documents.get(name)
    if (request.method === "PUT") {
      publish(`http://${request.headers.host}`, JSON.parse((await buffer(request)).toString()))
      response.writeHead(201, { "content-type": "application/json" }).end("{}")
    } else if (found !== undefined) response.end(found instanceof Buffer ? found : JSON.stringify(found))
    else if (elsewhere === undefined) response.writeHead(404).end()
    else response.writeHead(302, { location: new URL(path, elsewhere.replace(/\/?$/, "/")).href }).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the registry listens on no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    names: () => [...documents.keys()],
    tarballOf: (name) => tarballs.get(name) ?? Buffer.alloc(0),
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** Publishes a package that is installed here, and those that it depends on: another machine can install them without another registry. */
export const publishInstalled = async (url: string, name: string, known = new Set<string>()): Promise<void> => {
  if (known.has(name)) return
  known.add(name)
  const folder = fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url))
  const manifest: {
    readonly version: string
    readonly dependencies?: Readonly<Record<string, string>>
    readonly optionalDependencies?: Readonly<Record<string, string>>
  } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"))
  const options = { encoding: "buffer", maxBuffer: 2 ** 26 } as const
  const { stdout } = await promisify(execFile)("tar", ["-C", folder, "--transform", "s,^[.],package,", "-cz", "."], options)
  const answer = await fetch(new URL(encodeURIComponent(name), `${url}/`), {
    method: "PUT",
    body: JSON.stringify({
      name,
      "dist-tags": { latest: manifest.version },
      versions: { [manifest.version]: { ...manifest, dist: {} } },
      _attachments: { [`${name}.tgz`]: { data: stdout.toString("base64") } }
    })
  })
  if (!answer.ok) throw new Error(`${name} cannot be published: ${answer.status}`)
  for (const one of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) await publishInstalled(url, one, known)
}
