/** Functions of hashes and identifiers. What differs from run to run, or needs a secret key, is unknown. */
import { createHash } from "node:crypto"
import { refuse } from "../EvaluationError.js"
import { unknown } from "../Values.js"
import { type Functions, type Implementation, textAt } from "./Arguments.js"

const hash =
  (algorithm: string, encoding: "hex" | "base64"): Implementation =>
  (given) =>
    createHash(algorithm).update(textAt(given, 0)).digest(encoding)

const uuidv5: Implementation = (given) => {
  const namespaces: Readonly<Record<string, string>> = { dns: "10", url: "11", oid: "12", x500: "14" }
  const [space, name] = [textAt(given, 0), textAt(given, 1)]
  const id = namespaces[space] === undefined ? space : `6ba7b8${namespaces[space]}-9dad-11d1-80b4-00c04fd430c8`
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return refuse("the namespace is no UUID")
  const bytes = createHash("sha1")
    .update(Buffer.from(id.replaceAll("-", ""), "hex"))
    .update(name)
    .digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

export const hashFunctions: Functions = {
  base64sha256: hash("sha256", "base64"),
  base64sha512: hash("sha512", "base64"),
  md5: hash("md5", "hex"),
  sha1: hash("sha1", "hex"),
  sha256: hash("sha256", "hex"),
  sha512: hash("sha512", "hex"),
  uuidv5,
  bcrypt: () => unknown,
  uuid: () => unknown,
  rsadecrypt: () => unknown
}
