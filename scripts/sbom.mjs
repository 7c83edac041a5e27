// Prints a bill of materials in the CycloneDX format: every package that hosts get with the packages of this repository, or as a part of their bundles, in the
// versions of the lock file. `npm sbom` leaves out what is also a development dependency of the root.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { reachablePackages } from "./lockFile.mjs"

const inFolder = "node_modules/"

/** The name of a package of which the lock file has the place alone. */
const nameOf = (path) => path.slice(path.includes(inFolder) ? path.lastIndexOf(inFolder) + inFolder.length : path.lastIndexOf("/") + 1)

const componentOf = (path, { integrity, license, name, resolved, version }) => {
  const fullName = name ?? nameOf(path)
  const [group, short] = fullName.startsWith("@") ? fullName.split("/") : [undefined, fullName]
  const purl = `pkg:npm/${group === undefined ? "" : `${encodeURIComponent(group)}/`}${short}@${version}`
  const [algorithm, digest] = integrity?.split("-") ?? []
  return {
    "bom-ref": purl,
    type: "library",
    ...(group === undefined ? {} : { group }),
    name: short,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: [/ (?:AND|OR) /.test(license) ? { expression: license } : { license: { id: license } }] }),
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: algorithm === "sha512" ? "SHA-512" : "SHA-1", content: Buffer.from(digest, "base64").toString("hex") }] }),
    ...(resolved === undefined ? {} : { externalReferences: [{ type: "distribution", url: resolved }] })
  }
}

/** The bill of materials of a lock file. */
export const sbomOf = (lock) => {
  const published = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path))
  // What a package bundles is a development dependency of it
  const bundled = published.flatMap((path) =>
    Object.keys(lock.packages[path].devDependencies ?? {})
      .map((name) => [`${path}/${inFolder}${name}`, `${inFolder}${name}`].find((place) => place in lock.packages))
      .filter((place) => place !== undefined)
  )
  const entries = reachablePackages(lock, [...published, ...bundled]).map((path) => [path, lock.packages[path]])
  const components = entries.filter(([, { link }]) => link !== true).map(([path, entry]) => componentOf(path, entry))
  const { license, version } = lock.packages["packages/atelier"]
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: { "bom-ref": "root", type: "application", name: "atelier", version, licenses: [{ license: { id: license } }] } },
    components: [...new Map(components.map((one) => [one.purl, one])).values()]
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lock = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"))
  process.stdout.write(`${JSON.stringify(sbomOf(lock), null, 2)}\n`)
}
