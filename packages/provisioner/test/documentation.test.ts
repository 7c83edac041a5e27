import { Either } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { evaluate } from "../src/template/Evaluation.js"
import { parseCondition } from "../src/template/ExpressionParser.js"
import { readTemplate } from "../src/template/TemplateSource.js"
import { formatProblems } from "../src/template/YamlSource.js"
import { aPlanInput, runAtOnce, uuid } from "./builders.js"

const page = readFileSync(new URL("../../../docs/templates.md", import.meta.url), "utf8")
const examples = Array.from(page.matchAll(/```yaml\n(.*?)```/gs), ([, yaml = ""]) => yaml)
const templates = examples.filter((yaml) => yaml.includes("agents:"))
const conditions = examples.flatMap((yaml) => (yaml.startsWith("when: ") ? yaml.trim().split("\n") : []))

const file = (text: string) => ({ bytes: new TextEncoder().encode(text), mode: 0o755 })

describe("the templates of the documentation", () => {
  it.each(templates)("are right: %#", (yaml) => {
    const template = runAtOnce(
      readTemplate(new Map([["template.yaml", file(yaml)] as const, ["home/bin/hello", file("#!/bin/sh\n")] as const]))
    )
    expect(Either.isRight(template) ? formatProblems(template.right.warnings) : formatProblems(template.left)).toBe("")
    const place = {
      kind: yaml.includes("container:") ? "container" : "machine",
      resourceType: "local_directory",
      directory: "/w",
      platform: { os: "linux", arch: "amd64" },
      port: 4321,
      token: () => uuid(1)
    } as const
    const evaluated = Either.flatMap(template, (sound): Either.Either<unknown, unknown> => evaluate(sound, aPlanInput(), place))
    expect(evaluated).toEqual(Either.right(expect.objectContaining({ parameterProblems: [] })))
  })

  it("are four, and the conditions three", () => {
    expect(templates).toHaveLength(4)
    expect(conditions).toHaveLength(3)
    for (const condition of conditions) expect(parseCondition(condition.slice("when: ".length))).toEqual(Either.right(expect.anything()))
  })
})
