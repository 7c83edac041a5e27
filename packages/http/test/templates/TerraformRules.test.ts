/** Templates of one rule each with the real Terraform: their imports, parameters and builds. */
import { expect, it } from "vitest"
import { type Rule, rules } from "../../../provisioner-terraform/test/rules.js"
import { isComplete } from "../../../../test/outside/terraform.js"
import { describeTerraform } from "./terraform/describeTerraform.js"
import { conversationOf } from "./terraform/outcome.js"

const provider = `terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

`

const ended = ["succeeded", "failed", "canceled"]

const valuesOf = (values: Readonly<Record<string, string>>) => ({
  rich_parameter_values: Object.entries(values).map(([name, value]) => ({ name, value }))
})

/** How a build ends with the values of a rule: what they break is refused before Terraform runs. */
const buildOf = ({ build, refused_by }: Rule) =>
  build ?? (refused_by === undefined ? "succeeded" : refused_by === "apply" ? "failed" : "refused")

const versionOf = ({ errors, import: status, parameters, template }: Rule) => [
  { source: { "main.tf": provider + template }, keep: "file" },
  {
    call: "POST /organizations/{organization}/templateversions",
    body: { storage_method: "file", provisioner: "terraform", file_id: "{file}" },
    status: status === "refused" ? 400 : 201,
    keep: { version: "id" }
  },
  ...(status === "refused"
    ? []
    : [
        { wait: "/templateversions/{version}", until: { "job.status": ended } },
        { call: "GET /templateversions/{version}", status: 200, only: { "job.status": status } },
        { log: "/templateversions/{version}/logs", errors },
        { parameters: "/templateversions/{version}/rich-parameters", are: parameters }
      ])
]

const buildsOf = (rule: Rule, name: string) => {
  const { inputs, previous } = rule
  const build = buildOf(rule)
  const status = build === "refused" ? 400 : 201
  const template = {
    call: "POST /organizations/{organization}/templates",
    body: { name, template_version_id: "{version}" },
    status: 201,
    keep: { template: "id" }
  }
  const end = { wait: "/workspacebuilds/{build}", until: { "job.status": ended } }
  const create = (values: Rule["inputs"]) => ({
    call: "POST /users/me/workspaces",
    body: { name, template_id: "{template}", ...valuesOf(values) },
    keep: { workspace: "id", build: "latest_build.id" }
  })
  if (build === "none") return [template, { ...create(previous ?? {}), status: 400 }]
  return [
    template,
    ...(previous === undefined
      ? [{ ...create(inputs), status }]
      : [
          { ...create(previous), status: 201 },
          end,
          {
            call: "POST /workspaces/{workspace}/builds",
            body: { transition: "start", ...valuesOf(inputs) },
            keep: { build: "id" },
            status
          }
        ]),
    ...(build === "refused" ? [] : [end, { call: "GET /workspacebuilds/{build}", status: 200, only: { "job.status": build } }])
  ]
}

/** Those that run by default: each kind of block, and each command that refuses. */
const usual = new Set([
  "value is not an option",
  "increasing: less",
  "preset: schedules overlap",
  "preset: name missing",
  'app: slug "a_b"',
  "script: no trigger",
  "tags: a null value",
  "metadata: key twice"
])

/** The engine gives the provider its environment, so rules that differ in it alone are one. */
const isRepeated = ({ name }: Rule) => name.startsWith("environment: ") && name !== "environment: transition unknown"

describeTerraform("a template of one rule", (play) => {
  for (const [index, rule] of rules.entries()) {
    if (isComplete ? isRepeated(rule) : !usual.has(rule.name)) continue
    it.concurrent(rule.name, async () => {
      const steps = [...versionOf(rule), ...(rule.import === "succeeded" ? buildsOf(rule, `rule-${index}`) : [])]
      expect((await play(conversationOf([{}, ...steps]))).join("\n")).toBe("")
    })
  }
})
