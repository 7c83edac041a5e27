/** Functions of paths and of the template's files. */
import { createHash } from "node:crypto"
import { posix } from "node:path"
import { refuse } from "../EvaluationError.js"
import { parseTemplate } from "../ExpressionParser.js"
import { HclError } from "../Hcl.js"
import type { Scope } from "../Scope.js"
import { makeSet, toMap, type Value } from "../Values.js"
import { argument, type Arguments, type Functions, type Implementation, textAt } from "./Arguments.js"
import { decodeText } from "./EncodingFunctions.js"
import { maximumPattern, patterns } from "./Patterns.js"

const pathOf = (path: string): string => {
  const clean = posix.normalize(path)
  return posix.isAbsolute(clean) || clean.startsWith("..") ? refuse(`${path} is not a file of the template`) : clean
}

const fileBytes = (given: Arguments, { files, work }: Scope): Uint8Array => {
  const path = textAt(given, 0)
  const bytes = files.get(pathOf(path)) ?? refuse(`there is no file ${path}`)
  work.visit(bytes.byteLength / 100)
  return bytes
}

const fileHash =
  (algorithm: string, encoding: "hex" | "base64"): Implementation =>
  (given, scope) =>
    createHash(algorithm).update(fileBytes(given, scope)).digest(encoding)

/** A pattern of paths with `*`, `**`, `?`, classes and alternatives. */
const globPattern = (glob: string): string => {
  let groups = 0
  return `^${glob.replaceAll(/\*\*\/|\*\*|\*|\?|\[[^\]]*\]|[{},]|[.+^$()|\\]/g, (sign) => {
    if (sign === "**/") return "(?:.*/)?"
    if (sign === "**") return ".*"
    if (sign === "*") return "[^/]*"
    if (sign === "?") return "[^/]"
    if (sign === "{") {
      groups++
      return "(?:"
    }
    if (sign === "}") {
      groups--
      return ")"
    }
    if (sign === ",") return groups > 0 ? "|" : ","
    return sign.startsWith("[") ? sign : `\\${sign}`
  })}$`
}

const fileset: Implementation = (given, { files, work }) => {
  const folder = pathOf(textAt(given, 0))
  if (textAt(given, 1).length > maximumPattern) return refuse("the pattern is too long")
  const glob = globPattern(posix.normalize(textAt(given, 1)))
  const prefix = folder === "." || folder === "./" ? "" : `${folder.replace(/\/$/, "")}/`
  work.step(files.size)
  return makeSet(
    [...files.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .filter((path) => patterns(glob, path, work).test(path)),
    work
  )
}

/** A template with values of its own: it sees no names of the module around. */
const renderTemplate = (source: string, values: Value, scope: Scope): Value => {
  try {
    const names = toMap(values)
    const resolve = (root: string) => refuse(`the template is given no ${root}`)
    return scope.evaluate(parseTemplate(source, 1), { ...scope, names, resolve })
  } catch (error) {
    if (error instanceof HclError) return refuse(error.message)
    throw error
  }
}

export const fileFunctions: Functions = {
  abspath: (given) => posix.resolve("/", textAt(given, 0)),
  basename: (given) => posix.basename(textAt(given, 0)),
  dirname: (given) => posix.dirname(textAt(given, 0)),
  pathexpand: (given) => textAt(given, 0),
  file: (given, scope) => decodeText(fileBytes(given, scope)),
  filebase64: (given, scope) => Buffer.from(fileBytes(given, scope)).toString("base64"),
  filebase64sha256: fileHash("sha256", "base64"),
  filebase64sha512: fileHash("sha512", "base64"),
  fileexists: (given, { files }) => files.has(pathOf(textAt(given, 0))),
  filemd5: fileHash("md5", "hex"),
  fileset,
  filesha1: fileHash("sha1", "hex"),
  filesha256: fileHash("sha256", "hex"),
  filesha512: fileHash("sha512", "hex"),
  templatefile: (given, scope) => renderTemplate(decodeText(fileBytes(given, scope)), argument(given, 1), scope),
  templatestring: (given, scope) => renderTemplate(textAt(given, 0), argument(given, 1), scope)
}
