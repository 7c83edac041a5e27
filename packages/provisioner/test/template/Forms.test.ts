import { Effect, Either } from "effect"
import { expect, it, describe } from "vitest"
import { longestTurn, maximumTurn } from "../../../core/test/platform/longestTurn.js"
import { evaluate, preview } from "../../src/template/Evaluation.js"
import { readTemplate } from "../../src/template/TemplateSource.js"
import { formatProblems } from "../../src/template/YamlSource.js"
import { aPlanInput, runAtOnce, uuid } from "../builders.js"

const template = (yaml: string) =>
  Either.getOrThrowWith(
    runAtOnce(readTemplate(new Map([["template.yaml", { bytes: new TextEncoder().encode(yaml), mode: 0o644 }]]))),
    (problems) => new Error(formatProblems(problems))
  )

type Values = Parameters<typeof aPlanInput>[0]

const formOf = (yaml: string, values?: Values) =>
  Either.getOrThrowWith(runAtOnce(preview(template(yaml), aPlanInput(values))), (failure) => new Error(JSON.stringify(failure)))

const namesOf = (yaml: string, parameters: Readonly<Record<string, string>> = {}) =>
  formOf(yaml, { parameters }).parameters.map(({ name }) => name)

describe("a form of the local engine", () => {
  it("shows each parameter with its definition, styling and value", () => {
    const yaml = `
parameters:
  - name: project
    display_name: Project
    description: Of **\${owner.username}**
    default: apollo
    mutable: true
    icon: /icon/folder.svg
    order: 2
    styling: { placeholder: "for \${owner.username}", label: Name, disabled: false, mask_input: true }
    validation: { regex: "^[a-z]+$", error: Use letters }
`
    expect(formOf(yaml)).toStrictEqual({
      diagnostics: [],
      parameters: [
        {
          name: "project",
          display_name: "Project",
          description: "Of **ada**",
          type: "string",
          form_type: "input",
          styling: { placeholder: "for ada", label: "Name", disabled: false, mask_input: true },
          mutable: true,
          default_value: { value: "apollo", valid: true },
          icon: "/icon/folder.svg",
          options: [],
          validations: [
            {
              validation_error: "Use letters",
              validation_regex: "^[a-z]+$",
              validation_min: null,
              validation_max: null,
              validation_monotonic: null
            }
          ],
          required: false,
          order: 2,
          ephemeral: false,
          value: { value: "apollo", valid: true },
          diagnostics: []
        }
      ]
    })
  })

  it("shows a required parameter without a value as such", () => {
    expect(formOf("parameters: [{ name: n, type: number }]").parameters).toMatchObject([
      {
        required: true,
        default_value: { value: "", valid: false },
        value: { value: "", valid: false },
        diagnostics: [{ summary: "Required parameter not provided", extra: { code: "required" } }]
      }
    ])
  })

  it("has the parameters and options whose conditions hold for the values", () => {
    const yaml = `
parameters:
  - name: cloud
    default: north
    options: [{ name: North, value: north }, { name: South, value: south }]
  - name: zone
    default: \${parameter.cloud}-1
    options:
      - { name: N1, value: north-1, when: parameter.cloud == "north" }
      - { name: N2, value: north-2, when: parameter.cloud == "north" }
      - { name: S1, value: south-1, when: parameter.cloud == "south" }
  - name: wide
    type: bool
    default: false
  - name: width
    type: number
    default: 3
    when: parameter.wide
`
    const optionsOf = (parameters: Readonly<Record<string, string>>) =>
      formOf(yaml, { parameters })
        .parameters.find(({ name }) => name === "zone")
        ?.options.map(({ value }) => value.value)
    expect(optionsOf({})).toStrictEqual(["north-1", "north-2"])
    expect(optionsOf({ cloud: "south" })).toStrictEqual(["south-1"])
    const zone = formOf(yaml, { parameters: { cloud: "south", zone: "north-2" } }).parameters.find(({ name }) => name === "zone")
    expect(zone?.diagnostics.map(({ summary }) => summary)).toStrictEqual(["Value must be a valid option"])
    expect(namesOf(yaml)).not.toContain("width")
    expect(namesOf(yaml, { wide: "True" })).toContain("width")
    const built = evaluate(template(yaml), aPlanInput({ parameters: { cloud: "south", wide: "1" } }), {
      directory: "/srv/w",
      kind: "machine",
      resourceType: "local_directory",
      platform: { os: "linux", arch: "amd64" },
      port: 1,
      token: () => uuid(9)
    })
    expect(Either.getOrThrow(built).plan.parameters.map(({ default_value, name }) => [name, default_value])).toStrictEqual([
      ["cloud", "north"],
      ["zone", "south-1"],
      ["wide", "false"],
      ["width", "3"]
    ])
  })

  it("is in the order of the parameters, then of their names as bytes", () => {
    const yaml = `
parameters:
  - { name: apple, default: x }
  - { name: last, default: x, order: 1 }
  - { name: _a, default: x }
  - { name: Apple, default: x }
  - { name: first, default: x, order: -1 }
`
    expect(namesOf(yaml)).toStrictEqual(["first", "Apple", "_a", "apple", "last"])
  })

  it("tells what is wrong with a default beside its parameter", () => {
    const yaml = `
parameters:
  - { name: a, default: one }
  - { name: b, type: number, default: "\${parameter.a}" }
`
    const [a, b] = formOf(yaml, { parameters: { a: "two" } }).parameters
    expect(a?.diagnostics).toStrictEqual([])
    expect(b?.diagnostics.map(({ detail }) => detail)).toStrictEqual(['"two" is not a number'])
  })

  it("fails without a required variable", () => {
    const read = template("variables: [{ name: host }]")
    expect(runAtOnce(preview(read, aPlanInput()))).toStrictEqual(Either.left({ _tag: "MissingVariables", names: ["host"] }))
    expect(Either.isRight(runAtOnce(preview(read, aPlanInput({ variables: { host: "x" } }))))).toBe(true)
  })

  it("lets others have their turn, whatever is given", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `p${index}`)
    const read = template(
      JSON.stringify({
        parameters: names.map((name) => ({ name, default: "a", validation: { regex: "([a-z]+[0-9]?){10}$", error: "no" } }))
      })
    )
    const value = "a".repeat(8_000)
    const input = aPlanInput({ parameters: Object.fromEntries(names.map((name) => [name, value])) })
    expect(await longestTurn(() => Effect.runPromise(preview(read, input)))).toBeLessThan(maximumTurn)
  })
})
