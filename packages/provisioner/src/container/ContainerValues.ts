/** The values of a container's fields: how each is read from its text, and what is refused. */
import { Either } from "effect"
import { localPath } from "../engine/LocalPath.js"

/** Reads a text, or answers why it cannot be read. */
export type Read<A> = (text: string) => Either.Either<A, string>

const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

const refuse = (what: string, text: string) => Either.left(`must be ${what}, not ${text === "" ? "empty" : shown(text)}`)

/** Bytes of each unit: those of powers of two, and those of the SI. */
const units: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40
}

const mebibyte = 2 ** 20
const maximumSize = 2 ** 50

/** Bytes: a number, with or without a unit. A container needs a few mebibytes to start at all. */
export const size: Read<number> = (text) => {
  const [, number = "", unit = ""] = /^(\d{1,16}(?:\.\d{1,9})?)(k|M|G|T|Ki|Mi|Gi|Ti)?$/.exec(text) ?? []
  const bytes = Math.round(Number(number) * (units[unit] ?? Number.NaN))
  return number !== "" && bytes >= 16 * mebibyte && bytes <= maximumSize
    ? Either.right(bytes)
    : refuse("a size from 16Mi to 1024Ti, such as 512Mi, 4Gi or 4000000000", text)
}

/** Cores; a hundredth is the least that both engines can hold. */
export const cores: Read<number> = (text) => {
  const number = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
  return number >= 0.01 && number <= 1024 ? Either.right(number) : refuse("a number of cores from 0.01 to 1024, such as 2 or 0.5", text)
}

const wholeNumber =
  (min: number, max: number, what: string): Read<number> =>
  (text) =>
    /^\d{1,5}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? Either.right(Number(text))
      : refuse(`${what} from ${min} to ${max}`, text)

export const gpus = wholeNumber(0, 64, "a number of devices")
export const port = wholeNumber(1, 65_535, "a port")

export const truth: Read<boolean> = (text) =>
  text === "true" || text === "false" ? Either.right(text === "true") : refuse("true or false", text)

const matching =
  (pattern: RegExp, max: number, what: string): Read<string> =>
  (text) =>
    text.length <= max && pattern.test(text) ? Either.right(text) : refuse(what, text)

/** Host and port, folders, a tag and a digest, as registries take them. */
export const imageReference = matching(
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@[a-z0-9]+:[a-f0-9]{32,128})?$/,
  512,
  'the name of an image, such as "node:22" or "registry.example.com/team/image:v1"'
)

export const user = matching(/^[a-zA-Z0-9_][\w.-]{0,63}(?::[a-zA-Z0-9_][\w.-]{0,63})?$/, 129, 'a user, such as node, 1000 or "1000:1000"')

export const runtime = matching(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, 128, "the name of a runtime, such as runsc")

export const stage = matching(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, 128, "the name of a stage of the Dockerfile")

export const network: Read<"default" | "none"> = (text) =>
  text === "default" || text === "none" ? Either.right(text) : refuse("one of default, none", text)

/** One argument of a command. */
export const word: Read<string> = (text) =>
  text.length <= 4096 && !text.includes("\0") ? Either.right(text) : Either.left("must be text of at most 4096 characters")

/** What the engines put into a container, and what a container cannot live without. */
const reserved = ["/opt/atelier", "/run/atelier", "/proc", "/sys", "/dev", "/etc"]

/** Where a volume is mounted. */
export const mountPath: Read<string> = (text) => {
  const what = 'an absolute path of a folder, such as "/data"'
  if (!text.startsWith("/") || /[:,]/.test(text)) return refuse(what, text)
  return Either.match(localPath(text.slice(1) || "."), {
    onLeft: (cause) => Either.left(`${shown(text)} ${cause}; it must be ${what}`),
    onRight: (local) => {
      const path = `/${local}`
      if (path === "/") return refuse(what, text)
      const own = reserved.find((folder) => path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`))
      return own === undefined || (own === "/etc" && path !== "/etc")
        ? Either.right(path)
        : Either.left(`must not be ${shown(text)}, because the container needs its own ${own}`)
    }
  })
}

/** A file or folder of the source. */
export const sourcePath: Read<string> = (text) =>
  Either.mapLeft(localPath(text === "" ? "." : text), (cause) => `${shown(text)} ${cause}; it must be a path of the template's source`)
