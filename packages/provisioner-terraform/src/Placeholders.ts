/**
 * Values for required parameters whose rules refuse an empty value: without them, Terraform cannot plan what an import looks at.
 * terraform.md §2.
 */
import { compilePattern, matchesPattern } from "@atelier/core/platform"
import type { ParameterValue } from "@atelier/core/provisioning"
import { Effect, Option } from "effect"
import { type Block, literalValue } from "./Hcl.js"
import { makePace } from "./Pace.js"
import { readBody } from "./ReadBody.js"
import { configurationFiles } from "./ConfigurationFiles.js"

/** Texts to try against a pattern. */
const texts = `a A 0 1 aa ab abc abcd Abc ABC 12 123 1234 a1 a-b a_b a/b a.b main latest example Example example.com user@example.com
  https://example.com https://example.com/a/b git@example.com:a/b.git 1.0 1.0.0 v1.0.0 10.0.0.1 10.0.0.0/8 2020-01-01 12:00 /home /a/b us-east-1
  00000000-0000-4000-8000-000000000000 abcdefgh abcdefghijkl Abcdefgh1! 12345678`.split(/\s+/)

const matching = (source: string): string | undefined => {
  const pattern = compilePattern(source)
  return typeof pattern === "string" ? undefined : texts.find((text) => matchesPattern(pattern, text) === true)
}

const literalOf = ({ body }: Block, name: string) => literalValue(body.attributes.get(name) ?? "")

const valueFor = (rule: Block): string | undefined => {
  const regex = literalOf(rule, "regex")
  if (typeof regex === "string") return matching(regex)
  const limit = [literalOf(rule, "min"), literalOf(rule, "max"), 0].find((value) => typeof value === "number")
  return String(limit)
}

/** The values by the names of their parameters; none for a rule that is no literal, or whose pattern matches no text known here. */
export const placeholders = (files: ReadonlyMap<string, Uint8Array>): Effect.Effect<ReadonlyArray<ParameterValue>> =>
  Effect.gen(function* () {
    const pace = yield* makePace
    const values: Array<ParameterValue> = []
    for (const path of configurationFiles(files.keys()).filter((path) => path.endsWith(".tf"))) {
      const read = yield* Effect.option(readBody(new TextDecoder().decode(files.get(path)), pace))
      if (Option.isNone(read)) continue
      for (const block of read.value.blocks) {
        const { body, labels, type } = block
        if (type !== "data" || labels[0] !== "coder_parameter" || body.attributes.has("default")) continue
        const name = literalOf(block, "name")
        yield* pace
        const rule = body.blocks.find((inner) => inner.type === "validation")
        const value = rule === undefined ? undefined : valueFor(rule)
        if (typeof name === "string" && value !== undefined) values.push({ name, value })
        yield* pace
      }
    }
    return values
  })
