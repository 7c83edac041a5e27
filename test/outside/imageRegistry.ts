/** A registry of images, as a Docker daemon pulls from one. It has one user. OCI Distribution Specification; Image Manifest Version 2, Schema 2. */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import { pack } from "tar-stream"

/** Files by their paths. */
type Layer = Readonly<Record<string, string>>

export interface ImageRegistry {
  /** As names of images begin with it. */
  readonly host: string
  /** Gives a name with a tag an image of these layers, and returns its digest. */
  readonly push: (name: string, tag: string, layers: ReadonlyArray<Layer>) => Promise<string>
  readonly close: () => void
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

const tarOf = (layer: Layer): Promise<Buffer> => {
  const archive = pack()
  for (const [name, text] of Object.entries(layer)) archive.entry({ name }, text)
  archive.finalize()
  return buffer(archive)
}

const manifestType = "application/vnd.docker.distribution.manifest.v2+json"

/** Starts a registry that this user alone may read. */
export const startImageRegistry = async (user: string, password: string): Promise<ImageRegistry> => {
  const blobs = new Map<string, Buffer>()
  const manifests = new Map<string, Buffer>()
  const allowed = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

  const keep = (bytes: Buffer) => {
    const digest = digestOf(bytes)
    blobs.set(digest, bytes)
    return { digest, size: bytes.length }
  }

  const server = createServer((request, response) => {
    if (request.headers.authorization !== allowed)
      return response.writeHead(401, { "www-authenticate": 'Basic realm="test"' }).end('{"errors":[{"code":"UNAUTHORIZED"}]}')
    if (request.url === "/v2/") return response.end("{}")
    const [, name = "", kind = "", reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(request.url ?? "") ?? []
    const found = kind === "blobs" ? blobs.get(reference) : (manifests.get(`${name}:${reference}`) ?? blobs.get(reference))
    if (found === undefined) return response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}')
    response.writeHead(200, {
      "content-type": kind === "blobs" ? "application/octet-stream" : manifestType,
      "content-length": found.length,
      "docker-content-digest": digestOf(found)
    })
    return response.end(request.method === "HEAD" ? undefined : found)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")

  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    push: async (name, tag, layers) => {
      const tars = await Promise.all(layers.map(tarOf))
      const config = {
        architecture: process.arch === "x64" ? "amd64" : process.arch,
        os: "linux",
        config: { Env: ["PATH=/bin"], User: "1000" },
        rootfs: { type: "layers", diff_ids: tars.map(digestOf) }
      }
      const manifest = {
        schemaVersion: 2,
        mediaType: manifestType,
        config: { mediaType: "application/vnd.docker.container.image.v1+json", ...keep(Buffer.from(JSON.stringify(config))) },
        layers: tars.map((tar) => ({ mediaType: "application/vnd.docker.image.rootfs.diff.tar.gzip", ...keep(gzipSync(tar)) }))
      }
      const bytes = Buffer.from(JSON.stringify(manifest))
      manifests.set(`${name}:${tag}`, bytes)
      return keep(bytes).digest
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
