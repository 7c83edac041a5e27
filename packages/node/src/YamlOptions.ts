/** YAML as options are written in it: every scalar is read as its text. */
import type { Yaml, YamlParser } from "@atelier/core/deployment"
import { Either } from "effect"
import { isMap, isScalar, isSeq, parseDocument, Scalar } from "yaml"

/** Bytes of a file with options. */
const maximumLength = 1024 * 1024

const yamlOf = (node: unknown): Yaml => {
  if (isMap(node)) {
    return {
      kind: "map",
      entries: new Map(node.items.map(({ key, value }) => [isScalar(key) ? String(key.value) : String(key), yamlOf(value)]))
    }
  }
  if (isSeq(node)) return { kind: "list", items: node.items.map(yamlOf) }
  if (!isScalar(node)) return { kind: "scalar", text: "", isPlain: true }
  return { kind: "scalar", text: String(node.value ?? ""), isPlain: node.type === undefined || node.type === Scalar.PLAIN }
}

/** Reads one document. Aliases are refused: no option needs them, and they can make a small text a large one. */
export const parseYamlOptions: YamlParser = (text) => {
  if (text.length > maximumLength) return Either.left("must be at most 1 MiB of YAML")
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: false, logLevel: "error" })
  const [error] = document.errors
  if (error !== undefined) return Either.left(`must be YAML: ${error.message}`)
  let hasAlias = false
  const look = (node: unknown): void => {
    if (isMap(node)) node.items.forEach(({ value }) => look(value))
    else if (isSeq(node)) node.items.forEach(look)
    else if (node !== null && typeof node === "object" && !isScalar(node)) hasAlias = true
  }
  look(document.contents)
  return hasAlias ? Either.left("must have no aliases") : Either.right(yamlOf(document.contents))
}
