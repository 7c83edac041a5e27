import { expect, it } from "vitest"
import { hasFixedParameters } from "../../src/terraform/FixedForm.js"

const isFixed = (files: Readonly<Record<string, string>>): boolean =>
  hasFixedParameters(new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)])))

const parameter = (body: string): string => `data "coder_parameter" "p" {\n${body}\n}\n`

const inSubfolder = { "main.tf": 'module "m" {\n  source = "./m"\n}' }

it.each([
  ["no parameters", { "main.tf": "locals {}" }],
  ["literals", { "main.tf": parameter('name = "p"\ndefault = "x.y"\noption {\n  name = "a"\n  value = "a"\n}') }],
  ["a list in JSON", { "main.tf": parameter('default = jsonencode(["a", "b"])') }],
  ["variables", { "main.tf": parameter("default = upper(var.zone)") }],
  ["local values", { "main.tf": `${parameter("default = local.a")}locals {\n  a = local.b\n  b = [var.c][0]\n}` }],
  [
    "blocks made of variables",
    {
      "main.tf": parameter(
        'dynamic "option" {\n  for_each = var.zones\n  content {\n    name = option.key\n    value = option.value\n  }\n}'
      )
    }
  ],
  ["a module without parameters", { ...inSubfolder, "m/main.tf": 'resource "null_resource" "x" {}' }]
])("a form is fixed with %s", (_, files: Readonly<Record<string, string>>) => {
  expect(isFixed(files)).toBe(true)
})

it.each([
  ["another parameter", { "main.tf": parameter("count = data.coder_parameter.other.value") }],
  ["the owner", { "main.tf": parameter("default = data.coder_workspace_owner.me.name") }],
  ["a resource in a rule", { "main.tf": parameter("validation {\n  min = terraform_data.x.output\n}") }],
  ["a local value of a parameter", { "main.tf": `${parameter("default = local.a")}locals {\n  a = data.coder_parameter.b.value\n}` }],
  ["local values in a circle", { "main.tf": `${parameter("default = local.a")}locals {\n  a = local.b\n  b = local.a\n}` }],
  ["instances", { "main.tf": parameter("for_each = toset(var.a)\nname = each.key") }],
  ["the time", { "main.tf": parameter("default = timestamp()") }],
  ["styling", { "main.tf": parameter("styling = jsonencode({})") }],
  ["parameters in a module", { ...inSubfolder, "m/main.tf": parameter('name = "p"') }],
  ["a module from elsewhere", { "main.tf": 'module "m" {\n  source = "example/m/coder"\n}' }],
  ["parameters in JSON", { "main.tf.json": '{"data": {"coder_parameter": {}}}' }],
  ["a broken file", { "main.tf": "locals {" }]
])("a form is not fixed with %s", (_, files: Readonly<Record<string, string>>) => {
  expect(isFixed(files)).toBe(false)
})
