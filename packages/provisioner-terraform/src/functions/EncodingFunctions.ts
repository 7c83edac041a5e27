/** Functions between values or texts and their encodings. */
import { gzipSync } from "node:zlib"
import { refuse } from "../EvaluationError.js"
import { HclError } from "../Hcl.js"
import { parseJson } from "../Json.js"
import { encodeJson, type Value } from "../Values.js"
import type { Work } from "../Work.js"
import { argument, type Functions, textAt } from "./Arguments.js"
import { decodeCsv } from "./Csv.js"
import { decodeYaml, encodeYaml } from "./Yaml.js"

export const decodeText = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuse("the content is not UTF-8")
  }
}

/** Steps for each character that is escaped. */
const stepsOfEscape = 0.3

/** As Go writes JSON: these characters are escaped too. */
const escapedJson = (value: Value, work: Work): string =>
  encodeJson(value, work).replaceAll(/[<>&\u2028\u2029]/g, (sign) => {
    work.step(stepsOfEscape)
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`
  })

const encodings: Readonly<Record<string, BufferEncoding>> = {
  "utf-8": "utf8",
  utf8: "utf8",
  "utf-16le": "utf16le",
  "us-ascii": "latin1",
  "iso-8859-1": "latin1"
}
const encodingOf = (name: string): BufferEncoding =>
  encodings[name.toLowerCase()] ?? refuse(`the encoding ${name} is not supported in forms`)

const base64 = (text: string): Buffer => {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? bytes : refuse("the text is not Base64")
}

const urlEncode = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

export const encodingFunctions: Functions = {
  base64decode: (given) => decodeText(base64(textAt(given, 0))),
  base64encode: (given) => Buffer.from(textAt(given, 0)).toString("base64"),
  base64gzip: (given) => gzipSync(textAt(given, 0)).toString("base64"),
  csvdecode: (given, { work }) => decodeCsv(textAt(given, 0), work),
  jsondecode: (given, { work }) => {
    try {
      return parseJson(textAt(given, 0), work)
    } catch (error) {
      if (error instanceof HclError) return refuse("the text is not JSON")
      throw error
    }
  },
  jsonencode: (given, { work }) => escapedJson(argument(given, 0), work),
  textdecodebase64: (given) => base64(textAt(given, 0)).toString(encodingOf(textAt(given, 1))),
  textencodebase64: (given) => Buffer.from(textAt(given, 0), encodingOf(textAt(given, 1))).toString("base64"),
  urlencode: (given) => urlEncode(textAt(given, 0)),
  yamldecode: (given, { work }) => decodeYaml(textAt(given, 0), work),
  yamlencode: (given, { work }) => encodeYaml(argument(given, 0), work)
}
