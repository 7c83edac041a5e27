/** YAML as Terraform reads and writes it. */
import { Document, parse as parseYaml, type ScalarTag, type Tags, visit } from "yaml"
import { EvaluationError, refuse } from "../EvaluationError.js"
import { fromBigInt, fromDouble, numberText, Real } from "../Numbers.js"
import { plain, type Value } from "../Values.js"
import type { Work } from "../Work.js"

/** Numbers in YAML with all their digits. */
const yamlNumber: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => value instanceof Real,
  resolve: (text) => text,
  stringify: ({ value }) => (value instanceof Real ? numberText(value) : String(value))
}

/** As Terraform writes it: texts in quotes, and those of several lines as blocks. */
export const encodeYaml = (value: Value, work: Work): string => {
  const document = new Document(plain(value, work), { customTags: [yamlNumber] })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string") scalar.type = scalar.value.includes("\n") ? "BLOCK_LITERAL" : "QUOTE_DOUBLE"
    }
  })
  return document.toString({ lineWidth: 0, indentSeq: false })
}

const fromYaml = (value: unknown, work: Work): Value => {
  work.visit(1)
  if (typeof value === "bigint") return fromBigInt(value)
  if (typeof value === "number") return fromDouble(value)
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (Array.isArray(value)) return value.map((item) => fromYaml(item, work))
  if (typeof value === "object") return new Map(Object.entries(value).map(([key, item]) => [key, fromYaml(item, work)]))
  return refuse("the value is of no type that expressions know")
}

/** Words such as `yes` are bools; times stay texts. */
const yamlOptions = {
  maxAliasCount: 100,
  intAsBigInt: true,
  schema: "yaml-1.1",
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:timestamp")
}

/** The value of a text. Throws `EvaluationError`. */
export const decodeYaml = (source: string, work: Work): Value => {
  try {
    return fromYaml(parseYaml(source, yamlOptions), work)
  } catch (error) {
    if (error instanceof EvaluationError) throw error
    return refuse("the text is not YAML")
  }
}
