/** The files of the built console. */

/** A file of the console, as its build has listed it. */
export interface SiteFile {
  /** Below the folder, without a slash at the beginning: `assets/index-4f2a91.js`. */
  readonly path: string
  /** The value of `Content-Type`. */
  readonly type: string
  /** SHA-256 of the content, in the URL-safe alphabet of base64. */
  readonly hash: string
  /** Codings that the build has made of the file. The coded file's name is the file's with `.br` or `.gz` behind it. */
  readonly encodings: ReadonlyArray<"br" | "gzip">
  /** Whether the name changes with the content, so that a copy is right for ever. */
  readonly immutable: boolean
}

/** What the build has written. */
export interface Site {
  readonly files: ReadonlyArray<SiteFile>
  /** The addresses that the application has screens for: `/templates/$name`, `/@{$owner}/$workspace`. `$` stands for any rest. */
  readonly routes: ReadonlyArray<string>
}

/** The folder of the files, with a slash at its end. */
export const folder: URL = new URL("../../dist/site/", import.meta.url)

/** The file in the folder that holds the list. It is not listed itself. */
export const listPath = "files.json"

/** Reads the text of the list. Throws for a text that the build has not written. */
export const parseSite = (text: string): Site => {
  const site: unknown = JSON.parse(text)
  if (typeof site !== "object" || site === null || !("files" in site) || !("routes" in site) || !Array.isArray(site.files))
    throw new Error(`${listPath} does not list the console's files`)
  return site as Site
}

const byPath = new WeakMap<Site, ReadonlyMap<string, SiteFile>>()

/** The file at a path below the console's base, as the client sent it; undefined for any other path. `index.html` is not listed. */
export const fileOf = (site: Site, path: string): SiteFile | undefined => {
  let known = byPath.get(site)
  if (known === undefined) byPath.set(site, (known = new Map(site.files.map((file) => [file.path, file]))))
  return known.get(path)
}

const segmentPattern = (segment: string): string =>
  segment
    .split(/(\{\$[^}]*\}|\$\w+)/)
    .map((part, index) => (index % 2 === 1 ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("")

/** A pattern for the paths of a route. An optional part, `{-$name}`, may be missing with its slash. */
const routePattern = (route: string): string =>
  route
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => (segment === "$" ? "(?:/.*)?" : segment.startsWith("{-$") ? "(?:/[^/]+)?" : `/${segmentPattern(segment)}`))
    .join("")

const patterns = new WeakMap<Site, RegExp>()

/** Whether the application has a screen at a path below the console's base, which begins with a slash. */
export const isRoute = (site: Site, path: string): boolean => {
  let known = patterns.get(site)
  if (known === undefined) patterns.set(site, (known = new RegExp(`^(?:${site.routes.map(routePattern).join("|")})/?$`)))
  return known.test(path)
}
