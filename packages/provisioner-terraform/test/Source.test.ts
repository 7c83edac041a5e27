import { Clock, Effect, Either } from "effect"
import { longestTurn, maximumTurn } from "../../core/test/platform/longestTurn.js"
import { describe, expect, it } from "vitest"
import { literalValue } from "../src/Hcl.js"
import { configurationFiles } from "../src/ConfigurationFiles.js"
import { readBody } from "../src/ReadBody.js"
import { parseSource, variableFile } from "../src/Source.js"

const parsed = (files: Readonly<Record<string, string>>) =>
  parseSource(new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)])))

const parse = (files: Readonly<Record<string, string>>) => Effect.runPromise(Effect.either(parsed(files)))

const variablesOf = async (text: string) => Either.getOrThrow(await parse({ "main.tf": text })).variables

describe("a source", () => {
  it("declares variables with their types, defaults and descriptions", async () => {
    const variables = await variablesOf(`
# a comment with a "quote
variable "plain" {}
variable "number" { default = 2.5 }
variable "null" {
  type    = string /* } */
  default = null
}
variable "secret" {
  type        = string
  default     = "a \\"b\\" $\${c} \\u00e9"
  description = <<-EOT
    Two
      lines
  EOT
  sensitive   = true
  validation {
    condition     = can(regex("^[a-z]+\${"}"}$", var.secret))
    error_message = "No."
  }
}
variable "object" {
  type = object({
    name = string # }
    size = optional(number, 10)
  })
  default = {
    name = "disk",
    "size" : 3
  }
}
variable "list" {
  type    = list(string)
  default = ["a", "b",]
}
resource "null_resource" "x" {
  triggers = { a = "\${join(",", [for k, v in { b = "}" } : "\${k}=\${v}"])}" }
}
`)
    expect(variables.map(({ default_value, name, required, type }) => [name, type, default_value, required])).toEqual([
      ["list", "list(string)", '["a","b"]', false],
      ["null", "string", "", true],
      ["number", "", "2.5", false],
      ["object", "object({\n    name = string # }\n    size = optional(number, 10)\n  })", '{"name":"disk","size":3}', false],
      ["plain", "", "", true],
      ["secret", "string", 'a "b" ${c} é', false]
    ])
    expect(variables.find(({ name }) => name === "secret")).toMatchObject({ description: "Two\n  lines\n", sensitive: true })
  })

  it("may be written in JSON, and override single attributes", async () => {
    const source = await parse({
      "a.tf.json": '{"variable": {"zone": {"type": "string", "default": "north"}, "count": [{"default": 3}]}}',
      "a_override.tf": 'variable "zone" {\n  default = "south"\n}\n',
      "modules/b.tf": 'variable "inner" {}',
      "README.md": "# Read me"
    })
    const { readme, variables } = Either.getOrThrow(source)
    expect(variables.map(({ default_value, name }) => [name, default_value])).toEqual([
      ["count", "3"],
      ["zone", "south"]
    ])
    expect(readme).toBe("# Read me")
  })

  it("has those tags that are literals", async () => {
    const text = 'data "coder_workspace_tags" "t" {\n  tags = {\n    team = "a"\n    n = 1\n    flag = true\n    nothing = null\n  }\n}\n'
    expect(Either.getOrThrow(await parse({ "main.tf": text })).workspace_tags).toEqual({ team: "a", n: "1", flag: "true" })
  })

  it.each([
    ["locals {\n  a = [1\n", "main.tf:3: a bracket is not closed"],
    ['locals {\n  a = "x\n}\n', "main.tf:2: a quoted text has no end"],
    ["locals {\n  a =\n}\n", "main.tf:2: an expression is missing"],
    ["}\n", "main.tf:1: a bracket closes none"],
    ["locals {\n", "main.tf:2: a block has no end"],
    ["a = <<EOT\nx\n", "main.tf:1: the heredoc EOT has no end"],
    ["a = 1\na = 2\n", "main.tf:2: the attribute a is set twice"],
    ["a {".repeat(100), "main.tf:1: blocks are too deep in each other"]
  ])("that is not HCL is refused with its file and line: %j", async (text, message) => {
    expect(Either.mapLeft(await parse({ "main.tf": text }), (failure) => failure.message)).toEqual(Either.left(message))
  })

  it("is read in time that grows with its size", async () => {
    const text = `variable "a" {\n  default = "${"\\\\${x} ".repeat(30_000)}"\n}\n${"/* # */ ".repeat(100_000)}`
    expect((await variablesOf(text)).map(({ name }) => name)).toEqual(["a"])
  })

  it("has types and defaults that are read in time that grows with their size", async () => {
    const comments = `${"#".repeat(60_000)}\n${"// /* ".repeat(12_000)}\n${"/* # */ ".repeat(12_000)}`
    const line = "x".repeat(200_000)
    const [variable] = await variablesOf(
      `variable "a" {\n  type = object({ ${comments}\n b = string }) # c\n  default = <<E\n${line}\nE\n}\n`
    )
    expect(variable).toMatchObject({ type: `object({ ${comments}\n b = string })`, default_value: `${line}\n` })
  })

  it.each([
    ["string /* a */ # b", "string"],
    ["object({ a = string /* b */ }) // c", "object({ a = string /* b */ })"],
    ['map("# a") /* b */ /* c */', 'map("# a")']
  ])("has types without the comments behind them: %s", async (text, type) => {
    expect(await variablesOf(`variable "a" {\n  type = ${text}\n}\n`)).toMatchObject([{ type }])
  })

  it.each([
    ["comments without an end", `a = [${"/* ".repeat(300_000)}]`, "main.tf:1: a comment has no end"],
    ["a long expression", `a = [${"1,".repeat(200_000)}]`, "main.tf:1: an expression has more than 262144 characters"],
    ["a long text", `a = "${"x".repeat(300_000)}"`, "main.tf:1: a text has more than 262144 characters"],
    ["a long text on many lines", `a = <<E\n${"x\n".repeat(200_000)}E\n`, "main.tf:1: a text has more than 262144 characters"],
    ["a long label", `a "${"x".repeat(5_000)}" {}`, "main.tf:1: a text has more than 4096 characters"],
    [
      "many variables",
      Array.from({ length: 20_001 }, (_, index) => `variable "v${index}" {}\n`).join(""),
      "the template has more than 20000 variables"
    ],
    [
      "many tags",
      `data "coder_workspace_tags" "a" {\n  tags = {\n${"    a = 1\n".repeat(7_000)}  }\n}\n`,
      "coder_workspace_tags: the tags have more than 65536 characters"
    ],
    ["much configuration", "locals {}\n".repeat(420_000), "main.tf: the configuration has more than 4194304 bytes"],
    ["templates in each other", `a = ${'"${'.repeat(100_000)}`, "main.tf:1: templates are too deep in each other"]
  ])("is refused for %s", async (_, text, message) => {
    expect(Either.mapLeft(await parse({ "main.tf": text }), (failure) => failure.message)).toEqual(Either.left(message))
  })
})

/** How often an effect lets others have their turn if ten milliseconds pass with each look at the clock. */
const turnsOf = async (effect: Effect.Effect<unknown, unknown>): Promise<number> => {
  let now = 0
  let turns = 0
  const clock: Clock.Clock = {
    ...Clock.make(),
    currentTimeMillis: Effect.sync(() => (now += 10)),
    sleep: () => Effect.sync(() => void turns++)
  }
  await Effect.runPromise(Effect.withClock(effect, clock))
  return turns
}

it("other requests have their turn while a source is read", async () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `variable "v${index}" {\n  default = ${index}\n}\n`).join("")
  const turns = await turnsOf(Effect.map(parsed({ "main.tf": text }), ({ variables }) => expect(variables).toHaveLength(20_000)))
  expect(turns).toBeGreaterThan(20_000)
})

it.each([
  ["empty lines", "\n".repeat(20_000)],
  ["labels", `variable ${"a ".repeat(20_000)}{}`],
  ["quoted labels", `variable ${'"" '.repeat(20_000)}{}`],
  ["long expressions", Array.from({ length: 100 }, (_, index) => `a${index} = [${"1,".repeat(10_000)}]\n`).join("")]
])("other requests may have their turn at many places of a file of %s", async (_, text) => {
  let places = 0
  await Effect.runPromise(
    readBody(
      text,
      Effect.sync(() => void places++)
    )
  )
  expect(places).toBeGreaterThanOrEqual(100)
})

it("other requests have their turn between the long defaults of variables", async () => {
  const count = 8
  const text = Array.from({ length: count }, (_, index) => `variable "a${index}" {\n  default = [${"1,".repeat(10_000)}]\n}\n`).join("")
  let places = 0
  const reading = readBody(
    text,
    Effect.sync(() => void places++)
  )
  await Effect.runPromise(reading)
  // One turn after each default, description and type, and one for each place of the file
  expect((await turnsOf(parsed({ "main.tf": text }))) - places).toBeGreaterThanOrEqual(3 * count)
})

it("Terraform reads the files at the root, override files last", () => {
  const files = ["z.tf", "override.tf", "a.tf.json", "b_override.tf.json", ".hidden.tf", "x/y.tf", "main.tfvars"]
  expect(configurationFiles(files)).toEqual(["a.tf.json", "z.tf", "b_override.tf.json", "override.tf"])
})

it.each([
  ['"a"', "a"],
  ["-1.5e3", -1500],
  ["[1, [true], {}]", [1, [true], {}]],
  ["{ a = null, b : [] }", { a: null, b: [] }],
  ["var.x", undefined],
  ['"${var.x}"', undefined],
  ["[var.x]", undefined],
  ["1 + 2", undefined],
  ["{ (k) = 1 }", undefined]
])("the literal value of %s is %j", (source, value) => {
  expect(literalValue(source)).toEqual(value)
})

it("values of variables are texts or expressions, by their types", () => {
  const declared = [
    { name: "text", type: "string" },
    { name: "list", type: "list(string)" },
    { name: "untyped", type: "" },
    { name: "unset", type: "string" }
  ]
  const values = new Map([
    ["untyped", "1"],
    ["text", 'a "b" ${c} %{d}\n\\'],
    ["list", '["a"]'],
    ["undeclared", "x"]
  ])
  expect(variableFile(declared, values)).toBe('text = "a \\u0022b\\u0022 $${c} %%{d}\\u000a\\u005c"\nlist = (\n["a"]\n)\nuntyped = "1"')
})

it.each([
  ["variables", Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`v${index}`, {}]))],
  ["declarations of a variable", Array.from({ length: 40_000 }, () => ({ v: { default: 1 } }))]
])("other requests have their turn between many %s in JSON", async (_, variable) => {
  const text = JSON.stringify({ variable })
  expect(await longestTurn(() => parse({ "main.tf.json": text }))).toBeLessThan(maximumTurn)
})
