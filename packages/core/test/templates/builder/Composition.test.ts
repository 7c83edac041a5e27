import type { BuilderBase, BuilderModule, BuilderVariable } from "@atelier/core/templates"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { compose, type Composition } from "../../../src/templates/builder/composition.js"

const variable = (fields: Partial<BuilderVariable> & { readonly name: string }): BuilderVariable => ({
  type: "string",
  description: "",
  ...fields
})

const base: BuilderBase = {
  id: "docker",
  name: "Docker",
  description: "",
  icon: "",
  os: "linux",
  prerequisites: "",
  variables: [
    variable({ name: "image", description: 'An "image" of ${x}', default: "debian" }),
    variable({ name: "cpus", type: "number", default: 2 }),
    variable({ name: "token", sensitive: true })
  ],
  files: { "main.tf": "# main\n", "README.md": "# Docker\n" }
}

const module = (fields: Partial<BuilderModule> & { readonly id: string }): BuilderModule => ({
  display_name: "",
  description: "",
  icon: "",
  category: "IDE",
  version: "1.2.3",
  source: `acme/${fields.id}/coder`,
  compatible_os: ["linux"],
  conflicts_with: [],
  variables: [],
  ...fields
})

const catalog = {
  bases: [base],
  modules: [
    module({
      id: "editor",
      conflicts_with: ["web-editor"],
      variables: [
        variable({ name: "agent_id", computed: "coder_agent.main.id" }),
        variable({ name: "port", type: "number" }),
        variable({ name: "dark", type: "bool", default: false }),
        variable({ name: "key", sensitive: true })
      ]
    }),
    module({ id: "web-editor" }),
    module({ id: "windows-only", compatible_os: ["windows"] }),
    module({ id: "own", source: { "main.tf": "# own\n" } }),
    module({ id: "a", variables: [variable({ name: "b_c", sensitive: true })] }),
    module({ id: "a_b", variables: [variable({ name: "c", sensitive: true })] })
  ]
}

const composed = (wanted: Partial<Composition>, registry = "registry.example.com") =>
  compose(catalog, { base_template_id: "docker", base_variable_values: {}, modules: [], ...wanted }, registry)

describe("a composed template", () => {
  it("has the base's files, the values as defaults, and calls of the modules", () => {
    const files = Either.getOrThrow(
      composed({
        base_variable_values: { image: 'a\\b "c"\nd' },
        modules: [
          { id: "editor", variables: { port: "8080", dark: "null" } },
          { id: "own", variables: {} }
        ]
      })
    )
    expect(files).toStrictEqual({
      "main.tf": "# main\n",
      "README.md": "# Docker\n",
      "variables.tf": `variable "image" {
  description = "An \\"image\\" of $\${x}"
  type        = string
  default     = "a\\\\b \\"c\\"\\nd"
}

variable "cpus" {
  description = ""
  type        = number
  default     = 2
}

variable "token" {
  description = ""
  type        = string
  sensitive   = true
}

variable "editor_key" {
  description = ""
  type        = string
  sensitive   = true
}
`,
      "modules.tf": `module "editor" {
  count    = data.coder_workspace.me.start_count
  source   = "registry.example.com/acme/editor/coder"
  version  = "1.2.3"
  agent_id = coder_agent.main.id
  port     = 8080
  dark     = null
  key      = var.editor_key
}

module "own" {
  count  = data.coder_workspace.me.start_count
  source = "./modules/own"
}
`,
      "modules/own/main.tf": "# own\n"
    })
  })

  it("takes modules from Terraform's own registry without another one", () => {
    const files = Either.getOrThrow(composed({ modules: [{ id: "web-editor", variables: {} }] }, ""))
    expect(files["modules.tf"]).toContain('source  = "acme/web-editor/coder"')
  })

  const editor = (variables: Readonly<Record<string, string>>) => ({ modules: [{ id: "editor", variables }] })
  it.each<readonly [string, Partial<Composition>, string]>([
    ["an unknown base", { base_template_id: "x" }, 'There is no base "x".'],
    ["an unknown module", { modules: [{ id: "x", variables: {} }] }, 'There is no module "x".'],
    [
      "a module for another system",
      { modules: [{ id: "windows-only", variables: {} }] },
      'The module "windows-only" does not work on linux.'
    ],
    [
      "modules that exclude each other",
      {
        modules: [
          { id: "web-editor", variables: {} },
          { id: "editor", variables: { port: "1" } }
        ]
      },
      'The modules "web-editor" and "editor" exclude each other.'
    ],
    [
      "a module twice",
      {
        modules: [
          { id: "own", variables: {} },
          { id: "own", variables: {} }
        ]
      },
      'The module "own" is named twice.'
    ],
    [
      "two secrets of one name",
      {
        modules: [
          { id: "a", variables: {} },
          { id: "a_b", variables: {} }
        ]
      },
      'The base and the modules need two variables of the name "a_b_c".'
    ],
    ["an unknown variable", { base_variable_values: { x: "1" } }, 'The base "docker" has no variable "x".'],
    ["a secret", { base_variable_values: { token: "1" } }, 'The variable "token" of the base "docker" cannot be set here.'],
    ["a computed variable", editor({ agent_id: "x", port: "1" }), 'The variable "agent_id" of the module "editor" cannot be set here.'],
    ["a missing value", editor({}), 'The module "editor" needs a value of "port".'],
    ["a number that is none", editor({ port: "1; x" }), 'The value of "port" is not a number.'],
    ["a bool that is none", editor({ port: "1", dark: "yes" }), 'The value of "dark" is neither true nor false.'],
    ["an expression", { base_variable_values: { image: '${file("/etc/passwd")}' } }, 'The value of "image" has an expression in it.'],
    ["a directive", { base_variable_values: { image: "%{ if true }" } }, 'The value of "image" has an expression in it.'],
    ["a long text", { base_variable_values: { image: "ä".repeat(2049) } }, 'The value of "image" has more than 4096 bytes.']
  ])("is refused for %s", (_, wanted, reason) => {
    expect(composed(wanted)).toStrictEqual(Either.left(reason))
  })
})
