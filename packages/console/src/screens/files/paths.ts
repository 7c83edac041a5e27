/** Paths in a workspace, which may be one of Windows, and what is shown of files. */

/** Whether paths of this kind begin with a drive, as those of Windows do. */
const isWindows = (path: string): boolean => /^[A-Za-z]:[\\/]/.test(path)

const separatorOf = (path: string): string => (isWindows(path) && path.includes("\\") ? "\\" : "/")

/** The path of something in a folder. */
export const within = (folder: string, name: string): string => {
  const separator = separatorOf(folder)
  return folder.endsWith(separator) ? `${folder}${name}` : `${folder}${separator}${name}`
}

export interface Ancestor {
  readonly name: string
  readonly path: string
}

/** The folders that lead to a path, from the root on, and the path itself. */
export const ancestors = (path: string): ReadonlyArray<Ancestor> => {
  const separator = separatorOf(path)
  const names = path.split(separator).filter((name) => name !== "")
  const root = isWindows(path) ? [] : [{ name: "/", path: "/" }]
  const start = isWindows(path) ? "" : "/"
  return [
    ...root,
    ...names.map((name, index) => {
      const here = `${start}${names.slice(0, index + 1).join(separator)}`
      return { name, path: isWindows(path) && index === 0 ? `${here}${separator}` : here }
    })
  ]
}

/** The folder that holds a path; undefined for the root. */
export const folderOf = (path: string): string | undefined => ancestors(path).at(-2)?.path

export const nameOf = (path: string): string => ancestors(path).at(-1)?.name ?? path

/** Whether a name can be one of a file in a folder. */
export const isName = (name: string): boolean => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name)

const pictureTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    avif: "image/avif",
    bmp: "image/bmp",
    gif: "image/gif",
    ico: "image/x-icon",
    jpeg: "image/jpeg",
    jpg: "image/jpeg",
    png: "image/png",
    svg: "image/svg+xml",
    webp: "image/webp"
  })
)

/** The media type of a picture that browsers show; undefined for any other file. */
export const pictureType = (name: string): string | undefined => pictureTypes.get(/\.(\w+)$/.exec(name.toLowerCase())?.[1] ?? "")

export type Content =
  | { readonly kind: "binary" }
  | {
      readonly kind: "text"
      /** With line feeds alone, as editors have it. */
      readonly text: string
      readonly lineEnd: "\n" | "\r\n"
      /** Lines end in both ways, so that the text cannot be written as it was. */
      readonly isMixed: boolean
    }

/** Reads the bytes of a file as text, unless they are something else. */
export const contentOf = (bytes: Uint8Array): Content => {
  if (bytes.includes(0)) return { kind: "binary" }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    const returns = text.split("\r").length - 1
    const pairs = text.split("\r\n").length - 1
    const feeds = text.split("\n").length - 1
    const isMixed = returns !== pairs || (pairs > 0 && pairs !== feeds)
    return { kind: "text", text: text.replaceAll("\r\n", "\n"), lineEnd: pairs > 0 ? "\r\n" : "\n", isMixed }
  } catch {
    return { kind: "binary" }
  }
}

/** The bytes of a text that was read by `contentOf`. */
export const bytesOf = (text: string, lineEnd: "\n" | "\r\n"): Uint8Array =>
  new TextEncoder().encode(lineEnd === "\n" ? text : text.replaceAll("\n", lineEnd))
