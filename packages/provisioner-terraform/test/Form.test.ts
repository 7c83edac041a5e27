import { type FormParameter, ProvisionFailure } from "@atelier/core/provisioning"
import { Clock, Effect, Either } from "effect"
import { expect, it } from "vitest"
import { evaluateForm } from "../src/Form.js"
import { reading } from "../src/Root.js"
import { evaluateTags } from "../src/Tags.js"
import { type Files, inputOf, sourceOf, type Texts } from "./forms.js"

const formOf = async (files: Files, inputs: Texts = {}, variables: Texts = {}, downloaded: Files = {}) =>
  Effect.runPromise(evaluateForm(await sourceOf(files, downloaded), inputOf(inputs, variables)))

const parameter = (name: string, body: string): string => `data "coder_parameter" "${name}" {\n  name = "${name}"\n${body}\n}\n`

const valuesOf = ({ parameters }: { readonly parameters: ReadonlyArray<FormParameter> }) =>
  Object.fromEntries(parameters.map(({ name, value }) => [name, value.valid ? value.value : undefined]))

const valueOf = async (expression: string, inputs: Texts = {}): Promise<string | undefined> =>
  valuesOf(await formOf({ "main.tf": parameter("a", 'default = "in"') + parameter("p", `default = ${expression}`) }, inputs))["p"]

it.each([
  ["arithmetic", "1 + 2 * 3 - 10 / 4", "4.5"],
  ["comparisons", "2 >= 2 && !(1 > 2) || false", "true"],
  ["a conditional", 'data.coder_parameter.a.value == "in" ? "yes" : "no"', "yes"],
  ["a template", '"<${upper(data.coder_parameter.a.value)}>"', "<IN>"],
  ["directives", '"%{ for x in ["a", "b"] ~} ${x} %{ endfor }%{ if true }!%{ else }?%{ endif }"', "a b !"],
  ["a heredoc without its indent", "<<-EOT\n    one\n      two\n  EOT\n", "one\n  two\n"],
  ["a heredoc whose lines are joined", '<<-EOT\n    a ${"x" ~}\n      b\n      c\n    EOT\n', "a x      b\n  c\n"],
  [
    "a heredoc with a loop",
    '<<-EOT\n    %{ for x in ["a", "b"] ~}\n    ${x}\n    %{ endfor ~}\n    end\n    EOT\n',
    "    a\n    b\n    end\n"
  ],
  ["a heredoc with a line that has no blanks left", '<<-EOT\n    a\n      ${~ "x" ~}\n      b\n    EOT\n', "    a\nx      b\n"],
  [
    "YAML with texts of several lines",
    'yamlencode({ a = "x\\ny", b = ["z\\n"], c = "a b" })',
    '"a": |-\n  x\n  y\n"b":\n- |\n  z\n"c": "a b"\n'
  ],
  ["a list for", 'jsonencode([for i, x in ["a", "b"] : "${i}${x}" if x != "a"])', '["1b"]'],
  ["an object for with groups", 'jsonencode({ for x in ["a", "b", "ab"] : substr(x, 0, 1) => x... })', '{"a":["a","ab"],"b":["b"]}'],
  ["a splat", 'join(",", [{ n = "x" }, { n = "y" }][*].n)', "x,y"],
  ["an error that try catches", 'try(regex("\\\\d", "none"), "none")', "none"],
  ["escapes", '"a\\tb\\u0041 $${x}"', "a\tbA ${x}"],
  ["sets in order", 'join(" ", toset(["b", "a", "b"]))', "a b"],
  ["formats", 'format("%05.1f|%-4s|%q|%x", 2.75, "a", "b", 255)', '002.8|a   |"b"|ff'],
  ["networks", 'cidrsubnet("10.0.0.0/8", 8, 3)', "10.3.0.0/16"],
  ["networks of version 6", 'cidrhost("2001:db8::/64", 5)', "2001:db8::5"],
  ["dates", 'formatdate("DD MMM YYYY hh:mm", "2024-05-06T07:08:09Z")', "06 May 2024 07:08"],
  ["whole numbers beyond those of JavaScript", "9007199254740993 + 1", "9007199254740994"],
  ["a division with all its digits", "7 / 3", `2.${"3".repeat(153)}2`],
  [
    "large numbers in JSON",
    'jsonencode([jsondecode("123456789012345678901234567890"), 0.1 + 0.2])',
    "[123456789012345678901234567890,0.3]"
  ],
  [
    "large numbers in YAML",
    'yamlencode({ a = yamldecode("k: 123456789012345678901234567890").k, b = 0.1 })',
    '"a": 123456789012345678901234567890\n"b": 0.1\n'
  ],
  [
    "large numbers in formats",
    'format("%d %.3f %x", 123456789012345678901234567890, 123456789012345678901234567890.12345, 123456789012345678901234567890)',
    "123456789012345678901234567890 123456789012345678901234567890.123 18ee90ff6c373e0ee4e3f0ad2"
  ],
  ["large numbers that differ in the last digit", "9007199254740993 == 9007199254740992", "false"],
  [
    "functions of large numbers",
    'join(" ", [floor(12345678901234567890.7), ceil(-0.5), max(9007199254740993, 9007199254740992), parseint("ffffffffffffffffffff", 16), sum([9007199254740993, 1])])',
    "12345678901234567890 0 9007199254740993 1208925819614629174706175 9007199254740994"
  ],
  ["CSV", 'jsonencode(csvdecode("a,b\\n\\"x \\"\\"y\\"\\"\\",2\\n"))', '[{"a":"x \\"y\\"","b":"2"}]'],
  ["a text without the ends of lines", 'chomp("a\\r\\nb\\n\\r\\n")', "a\r\nb"],
  ["a later time", 'timeadd("2024-05-06T07:08:09Z", "1h30m1.5s")', "2024-05-06T08:38:10.500Z"],
  ["an earlier time", 'timeadd("2024-05-06T07:08:09Z", "-9s")', "2024-05-06T07:08:00Z"],
  ["no time with a wrong duration", 'timeadd("2024-05-06T07:08:09Z", "1h x")', undefined],
  ["no time out of range", 'timeadd("2024-05-06T07:08:09Z", "9999999999999h")', undefined],
  ["no data source that is not declared", "data.coder_workspace_owner.any.email", undefined]
])("evaluates %s", async (_, expression, expected) => {
  expect(await valueOf(expression)).toBe(expected)
})

it("tells who the owner is under any name of the data source", async () => {
  const files = {
    "main.tf": `data "coder_workspace_owner" "o" {}\n${parameter("p", 'default = "${data.coder_workspace_owner.o.name} ${join(",", data.coder_workspace_owner.o.groups)} ${data.coder_workspace_owner.o.rbac_roles[0].name}"')}`
  }
  expect(valuesOf(await formOf(files))).toEqual({ p: "ada Everyone,crew owner" })
})

it.each([
  [
    "a form type that the type cannot have",
    'type = "list(string)"\n form_type = "dropdown"\n option {\n name = "a"\n value = "a"\n }\n default = "a"'
  ],
  ["a direction that is none", 'type = "number"\n default = 1\n validation {\n monotonic = "sideways"\n }']
])("has one diagnostic for %s", async (_, body) => {
  const { parameters } = await formOf({ "main.tf": parameter("p", body) })
  expect(parameters.map(({ diagnostics }) => diagnostics.length)).toEqual([1])
})

it("takes a type that cannot be evaluated for a text, and shows the parameter", async () => {
  const { diagnostics, parameters } = await formOf({ "main.tf": parameter("p", 'type = { a = "number" }["b"]\n default = "x"') })
  expect(diagnostics).toEqual([])
  expect(parameters).toMatchObject([{ name: "p", type: "string", form_type: "input", value: { value: "x", valid: true } }])
})

it("makes parameters and options of counts, maps and dynamic blocks", async () => {
  const files = {
    "main.tf": `
      locals { sizes = { small = 1, large = 2 } }
      ${parameter("size", 'default = "small"\n dynamic "option" {\n for_each = local.sizes\n iterator = s\n content {\n name = title(s.key)\n value = s.key\n }\n }')}
      data "coder_parameter" "disk" {
        count   = local.sizes[data.coder_parameter.size.value]
        name    = "disk \${count.index}"
        default = count.index
        type    = "number"
      }
      data "coder_parameter" "tool" {
        for_each = data.coder_parameter.size.value == "large" ? toset(["vim", "git"]) : []
        name     = each.key
        default  = true
        type     = "bool"
      }`
  }
  const small = await formOf(files)
  expect(valuesOf(small)).toEqual({ size: "small", "disk 0": "0" })
  expect(small.parameters.find(({ name }) => name === "size")?.options.map(({ name, value }) => [name, value.value])).toEqual([
    ["Large", "large"],
    ["Small", "small"]
  ])
  expect(valuesOf(await formOf(files, { size: "large", "disk 1": "9" }))).toEqual({
    size: "large",
    "disk 0": "0",
    "disk 1": "9",
    git: "true",
    vim: "true"
  })
})

it("evaluates local modules in modules with their variables and outputs", async () => {
  const files = {
    "main.tf": `module "m" {\n  for_each = toset(["x", "y"])\n  source = "./modules/m"\n  name = each.key\n}\n${parameter("all", 'default = join(",", [for m in module.m : m.out])')}`,
    "modules/m/main.tf": `variable "name" {\n  type = string\n}\nvariable "size" {\n  type = number\n  default = "7"\n}\n${'data "coder_parameter" "p" {\n  name = "p ${var.name}"\n  default = var.size + 1\n}\n'}output "out" {\n  value = "\${var.name}=\${data.coder_parameter.p.value}"\n}`
  }
  expect(valuesOf(await formOf(files, { "p y": "5" }))).toEqual({ all: "x=8,y=5", "p x": "8", "p y": "5" })
})

it("takes template variables, their types and defaults", async () => {
  const files = {
    "main.tf": `variable "zones" {\n  type = list(string)\n}\nvariable "n" {\n  default = 3\n}\n${parameter("p", 'default = "${var.zones[1]} ${var.n}"')}`
  }
  expect(valuesOf(await formOf(files, {}, { zones: '["a", "b"]', n: "" }))).toEqual({ p: "b 3" })
})

it("reads the JSON syntax and override files", async () => {
  const files = {
    "main.tf.json": JSON.stringify({
      data: {
        coder_parameter: {
          p: {
            name: "p",
            default: '${upper("x")}',
            option: [
              { name: "X", value: "X" },
              { name: "Y", value: "Y" }
            ]
          }
        }
      }
    }),
    "z_override.tf": 'data "coder_parameter" "p" {\n  default = "Y"\n}'
  }
  const { parameters } = await formOf(files)
  expect(parameters.map(({ options, value }) => [value.value, options.length])).toEqual([["Y", 2]])
})

it("marks a required parameter without a value by its address", async () => {
  const { parameters } = await formOf({ "main.tf": parameter("region", "mutable = true") })
  expect(parameters[0]).toMatchObject({
    required: true,
    value: { value: "data.coder_parameter.region.value", valid: false },
    diagnostics: [{ severity: "error", extra: { code: "required" } }]
  })
})

it("knows no value that only an apply tells", async () => {
  const { parameters } = await formOf({
    "main.tf": `resource "terraform_data" "d" {\n  input = "i"\n}\n${parameter("p", "default = terraform_data.d.id")}${parameter("q", "default = terraform_data.d.input")}`
  })
  expect(parameters.map(({ name, value }) => [name, value.valid])).toEqual([
    ["p", false],
    ["q", true]
  ])
})

it("tells that the value of another provider's data source is unknown, and shows the other parameters", async () => {
  const source = 'data "http" "versions" {\n  url = "https://example.com"\n}\n'
  const dynamic =
    'default = "a"\ndynamic "option" {\n  for_each = split(",", data.http.versions.response_body)\n  content {\n    name = option.value\n    value = option.value\n  }\n}'
  const { diagnostics, parameters } = await formOf({
    "main.tf": `${source}${parameter("latest", "default = trimspace(data.http.versions.response_body)")}${parameter("any", dynamic)}${parameter("address", "default = data.http.versions.url")}`
  })
  expect(diagnostics).toStrictEqual([])
  expect(
    parameters.map(({ diagnostics, name, options, value }) => [
      name,
      value.valid && value.value,
      options.length,
      diagnostics.map(({ summary }) => summary)
    ])
  ).toStrictEqual([
    ["address", "https://example.com", 0, []],
    ["any", "a", 0, []],
    ["latest", false, 0, ["Parameter value is unknown, it likely includes a reference without a value"]]
  ])
})

it("hides what is typed if the styling says so", async () => {
  const { parameters } = await formOf({
    "main.tf": parameter("p", 'default = "x"\nstyling = jsonencode({ mask_input = true, label = "L", disabled = "no" })')
  })
  expect(parameters[0]?.styling).toEqual({ mask_input: true, label: "L" })
})

const modulesOf = (folders: Readonly<Record<string, string>>): string =>
  JSON.stringify({ Modules: Object.entries(folders).map(([Key, Dir]) => ({ Key, Source: "registry.terraform.io/example/x", Dir })) })

it("evaluates downloaded modules, those that they call, and files beside them", async () => {
  const folder = ".terraform/modules"
  const call = 'module "far" {\n  source = "example/far/coder"\n  version = "~> 1.0"\n  prefix = "f"\n}\n'
  const downloaded = {
    [`${folder}/modules.json`]: modulesOf({ "": ".", far: `${folder}/far/sub`, "far.inner": `${folder}/far.inner` }),
    [`${folder}/far/sub/main.tf`]: `variable "prefix" {}\nmodule "inner" {\n  source = "git::https://example.com/inner.git"\n}\nmodule "beside" {\n  source = "../beside"\n}\n${'data "coder_parameter" "p" {\n  name = "${var.prefix} ${trimspace(file("${path.module}/name.txt"))}"\n  default = module.inner.out\n}\n'}`,
    [`${folder}/far/sub/name.txt`]: "named\n",
    [`${folder}/far/beside/main.tf`]: parameter("beside", 'default = "b"'),
    [`${folder}/far.inner/main.tf`]: 'output "out" {\n  value = "i"\n}\n'
  }
  const form = await formOf({ "main.tf": call }, {}, {}, downloaded)
  expect(form.diagnostics).toStrictEqual([])
  expect(valuesOf(form)).toStrictEqual({ beside: "b", "f named": "i" })
})

it.each(["../secret", "/etc", ".terraform/modules/../../secret", "secret", ".terraform/modules"])(
  "takes no downloaded module from the folder %s",
  async (Dir) => {
    const downloaded = {
      ".terraform/modules/modules.json": modulesOf({ far: Dir }),
      ".terraform/modules/main.tf": parameter("p", 'default = "x"')
    }
    const files = { "main.tf": 'module "far" {\n  source = "example/far/coder"\n}\n', "secret/main.tf": parameter("s", 'default = "x"') }
    const form = await formOf(files, {}, {}, downloaded)
    expect([form.parameters, form.diagnostics.map(({ extra }) => extra.code)]).toStrictEqual([[], ["module_not_loaded"]])
  }
)

it("refuses downloaded modules that call themselves without end", async () => {
  const downloaded = {
    ".terraform/modules/modules.json": modulesOf({ far: ".terraform/modules/far" }),
    ".terraform/modules/far/main.tf": 'module "a" {\n  source = "./."\n}\nmodule "b" {\n  source = "./."\n}\n'
  }
  const result = await Effect.runPromise(
    Effect.either(
      evaluateForm(await sourceOf({ "main.tf": 'module "far" {\n  source = "example/far/coder"\n}\n' }, downloaded), inputOf({}))
    )
  )
  expect(Either.isLeft(result) && result.left.message).toBe("the template has too many modules")
})

it("warns of modules that are not among the files", async () => {
  const { diagnostics } = await formOf({ "main.tf": 'module "far" {\n  source = "example/far"\n}\n' })
  expect(diagnostics).toMatchObject([{ severity: "warning", extra: { code: "module_not_loaded" } }])
})

it("reports parameters of one name and keeps both", async () => {
  const { diagnostics, parameters } = await formOf({
    "main.tf": `${parameter("p", 'default = "x"')}data "coder_parameter" "q" {\n  name = "p"\n  default = "y"\n}\n`
  })
  expect(diagnostics.map(({ summary }) => summary)).toEqual(['Found 2 duplicate parameters with name "p", this is not allowed'])
  expect(parameters).toHaveLength(2)
})

it.each([
  [
    "parameters that refer to each other",
    parameter("a", "default = data.coder_parameter.b.value") + parameter("b", "default = data.coder_parameter.a.value")
  ],
  [
    "local values that refer to each other",
    `locals {\n  a = local.b\n  b = local.a\n}\n${parameter("a", "default = local.a")}${parameter("b", "default = local.b")}`
  ]
])("gives no value to %s", async (_, text) => {
  expect(valuesOf(await formOf({ "main.tf": text }))).toEqual({ a: undefined, b: undefined })
})

const failureOf = async (files: Files): Promise<string> => {
  const result = await Effect.runPromise(Effect.either(evaluateForm(await sourceOf(files), inputOf({}))))
  return Either.match(result, { onLeft: (error: ProvisionFailure) => error.message, onRight: () => "" })
}

it("fails with file and line where a file is broken", async () => {
  expect(await failureOf({ "main.tf": "locals {}\nlocals {\n" })).toMatch(/^main\.tf:3: /)
})

it.each([
  ["steps", parameter("p", "default = length([for a in range(1000) : [for b in range(1000) : b]])")],
  [
    "characters",
    `locals {\n${Array.from({ length: 40 }, (_, i) => `a${i + 1} = "\${local.a${i}}\${local.a${i}}"`).join("\n")}\na0 = "xxxxxxxx"\n}\n${parameter("p", "default = local.a40")}`
  ],
  [
    "nested references",
    `locals {\n${Array.from({ length: 900 }, (_, i) => `a${i + 1} = local.a${i}`).join("\n")}\na0 = 1\n}\n${parameter("p", "default = local.a900")}`
  ],
  [
    "parts of values that hold each other",
    `locals {\n  a0 = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n${Array.from({ length: 12 }, (_, i) => `a${i + 1} = [${Array.from({ length: 9 }, () => `local.a${i}`).join()}]`).join("\n")}\n}\n${parameter("p", "default = local.a12 == [] ? jsonencode(local.a12) : length(flatten(local.a12))")}`
  ],
  [
    "pairs that a function compares",
    `locals {\n  a = [for i in range(1024) : "\${i} x"]\n  b = flatten([for i in range(40) : local.a])\n}\n${parameter("p", "default = length(setintersection(local.b, [for x in local.b : upper(x)]))")}`
  ],
  [
    "work of patterns",
    `locals {\n  t = join("", [for i in range(20) : "aaaaaaaaaa"])\n}\n${parameter("p", 'default = length([for i in range(1000) : regexall("(a?){20}b", local.t)])')}`
  ],
  [
    "depth of values",
    Array.from(
      { length: 400 },
      (_, i) =>
        `locals {\n  a${i} = ${"[".repeat(40)}${i === 0 ? "1" : `local.a${i - 1}`}${"]".repeat(40)}\n}\n${parameter(`p${i}`, `default = length(local.a${i})`)}`
    ).join("") + parameter("last", "default = length(jsonencode(local.a399))")
  ],
  [
    "texts that parameters share",
    `locals {\n  t = join("", [for x in range(1000) : format("%01000d", x)])\n}\n${Array.from({ length: 10 }, (_, i) => parameter(`p${i}`, "default = local.t")).join("")}`
  ],
  ["heredocs in each other", `locals {\na = ${"<<A\n${".repeat(800)}1${"}\nA\n".repeat(800)}}\n${parameter("p", "default = local.a")}`],
  ["characters of a source", `${parameter("p", 'default = "x"')}# ${"x".repeat(262_144)}\n`],
  [
    "instances",
    'data "coder_parameter" "p" {\n  count = 1000\n  name = "p"\n  default = "x"\n}\ndata "coder_parameter" "q" {\n  count = 1000\n  name = "q"\n  default = "x"\n}'
  ],
  [
    "instances of blocks that are no parameters",
    `${Array.from({ length: 200 }, (_, i) => `data "x" "d${i}" {\n  count = 1000\n}\n`).join("")}${parameter("p", `default = jsonencode([${Array.from({ length: 200 }, (_, i) => `length(data.x.d${i})`).join()}])`)}`
  ]
])("bounds the %s of an evaluation", async (_, text) => {
  expect(await failureOf({ "main.tf": text })).not.toBe("")
})

it.each([
  ["chomp", "\r", 'chomp("${local.t}x")', /x$/],
  ["timeadd", "1", 'timeadd("2024-05-06T07:08:09Z", "${local.t}x")', undefined],
  ["format", "0", 'format("%${local.t}!", 1)', undefined],
  ["fileset", "[", 'fileset(".", local.t)', undefined],
  ["a sum", "1", '1 + "${local.t}x"', undefined]
])("takes time that grows with the text of %s", async (_, character, expression, expected) => {
  const texts = `locals {\n${Array.from({ length: 18 }, (_, i) => `a${i + 1} = "\${local.a${i}}\${local.a${i}}"`).join("\n")}\na0 = ${JSON.stringify(character)}\nt = local.a18\n}\n`
  const { p } = valuesOf(await formOf({ "main.tf": texts + parameter("p", `default = ${expression}`) }))
  expect(p === undefined ? undefined : expected?.test(p)).toBe(expected === undefined ? undefined : true)
})

it("ends the search at the first parameter too many", async () => {
  const many = (name: string, count: string) => `data "coder_parameter" "${name}" {\n  count = ${count}\n  name = "x"\n}\n`
  const tooMuch = "length([for a in range(1000) : [for b in range(1000) : b]])"
  expect(await failureOf({ "main.tf": many("p", "1000") + many("q", "1") + many("r", tooMuch) })).toBe(
    "The template has more than 1000 parameters."
  )
})

it("lets others have their turn while it searches for parameters", async () => {
  let now = 0
  let turns = 0
  const clock: Clock.Clock = {
    ...Clock.make(),
    currentTimeMillis: Effect.sync(() => (now += 1)),
    sleep: () => Effect.sync(() => void turns++)
  }
  const files = { "main.tf": Array.from({ length: 100 }, (_, i) => `data "x" "d${i}" {}\n`).join("") }
  await Effect.runPromise(Effect.withClock(evaluateForm(await sourceOf(files), inputOf({})), clock))
  expect(turns).toBeGreaterThan(5)
})

it.each([
  [
    "deep in each other",
    (): unknown => {
      const deeper = (): number => 1 + deeper()
      return deeper()
    }
  ],
  ["large", (): unknown => "x".repeat(2 ** 30)]
])("fails for values that are too %s", (what, read) => {
  expect(Effect.runSync(Effect.flip(reading(read))).message).toBe(`the values of the template are too ${what}`)
})

it.each([
  ["a broken JSON file", { "main.tf.json": '{\n  "data": {\n    "x": ]\n' }, /^main\.tf\.json:3: a value is expected$/],
  ["JSON without an end to its depth", { "main.tf.json": "[".repeat(100_000) }, /^main\.tf\.json:1: values are too deep in each other$/],
  [
    "a JSON file that is too large",
    { "main.tf.json": JSON.stringify({ locals: { a: "x".repeat(300_000) } }) },
    /^main\.tf\.json: a source has more than/
  ],
  [
    "files that are too large together",
    Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}.tf`, `# ${"x".repeat(200_000)}\n`])),
    /^the modules have more than 4194304 bytes$/
  ]
])("refuses %s, and says where", async (_, files, expected) => {
  expect(await failureOf(files)).toMatch(expected)
})

it("gives tags of modules that the template calls", async () => {
  const tags = (entry: string) => `data "coder_workspace_tags" "t" {\n  tags = { ${entry} }\n}\n`
  const files = {
    "main.tf": `${tags('a = "1"')}module "m" {\n  source = "./m"\n  zone = "eu"\n}\n`,
    "m/main.tf": `variable "zone" {}\n${tags("zone = var.zone")}`
  }
  expect(await Effect.runPromise(evaluateTags(await sourceOf(files), inputOf({})))).toEqual({ a: "1", zone: "eu" })
})

it("gives tags with expressions as keys and values", async () => {
  const files = {
    "main.tf": `data "coder_workspace_owner" "me" {}\n${parameter("zone", 'default = "a"')}data "coder_workspace_tags" "t" {\n  tags = {\n    zone = data.coder_parameter.zone.value\n    (upper("k")) = 5\n    owner = data.coder_workspace_owner.me.name\n    none = null\n  }\n}\n`
  }
  expect(await Effect.runPromise(evaluateTags(await sourceOf(files), inputOf({ zone: "b" })))).toEqual({ zone: "b", K: "5", owner: "ada" })
})

it("refuses tags that are unknown before an apply, with file and line", async () => {
  const files = {
    "main.tf":
      'resource "terraform_data" "d" {}\ndata "coder_workspace_tags" "t" {\n  tags = {\n    a = terraform_data.d.id\n    b = "x"\n    c = ["y"]\n  }\n}\n'
  }
  const result = await Effect.runPromise(Effect.flip(evaluateTags(await sourceOf(files), inputOf({}))))
  expect(result).toMatchObject({
    message: 'main.tf:3: the tag "a" is known only after an apply',
    validations: [{ field: "a" }, { field: "c", detail: 'main.tf:3: the tag "c" is no text: ["y"]' }]
  })
})
