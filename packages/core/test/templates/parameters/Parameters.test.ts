import type { RichParameter } from "@atelier/core/provisioning"
import {
  matchingPreset,
  parameterValueViolation,
  type ParameterResolution,
  resolveParameters,
  resolveVariables,
  withoutSecrets
} from "@atelier/core/templates"
import { Either } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { aParameter } from "../../../../../test/outside/engine.js"

const resolve = (definitions: ReadonlyArray<RichParameter>, input: Partial<Omit<ParameterResolution, "definitions">> = {}) =>
  resolveParameters({ classic: true, definitions, given: [], preset: [], previous: null, ...input })

const values = (definitions: ReadonlyArray<RichParameter>, input: Partial<Omit<ParameterResolution, "definitions">> = {}) =>
  Either.map(resolve(definitions, input), (resolved) => Object.fromEntries(resolved.map(({ name, value }) => [name, value])))

const message = (definitions: ReadonlyArray<RichParameter>, input: Partial<Omit<ParameterResolution, "definitions">> = {}) =>
  Either.getOrThrow(Either.flip(resolve(definitions, input))).message

const color = (value: string) => [{ name: "color", value }]

describe("the value of a parameter", () => {
  const definition = aParameter({ name: "color", mutable: true, default_value: "red" })

  it("is the preset's, else the request's, else the previous one, else the default", () => {
    const from = (input: Partial<Omit<ParameterResolution, "definitions">>) => values([definition], input)
    expect(from({ preset: color("a"), given: color("b"), previous: color("c") })).toStrictEqual(Either.right({ color: "a" }))
    expect(from({ given: color("b"), previous: color("c") })).toStrictEqual(Either.right({ color: "b" }))
    expect(from({ previous: color("c") })).toStrictEqual(Either.right({ color: "c" }))
    expect(from({})).toStrictEqual(Either.right({ color: "red" }))
  })

  it("is not the previous one when it is ephemeral", () => {
    const ephemeral = { ...definition, ephemeral: true }
    expect(values([ephemeral], { previous: color("blue") })).toStrictEqual(Either.right({ color: "red" }))
    expect(values([ephemeral], { previous: color("blue"), given: color("green") })).toStrictEqual(Either.right({ color: "green" }))
  })

  it("cannot change if immutable, but the same or a first value is accepted", () => {
    const immutable = { ...definition, mutable: false }
    expect(message([immutable], { previous: color("blue"), given: color("green") })).toContain('"color"')
    expect(values([immutable], { previous: color("blue"), given: color("blue") })).toStrictEqual(Either.right({ color: "blue" }))
    expect(values([immutable], { previous: [], given: color("green") })).toStrictEqual(Either.right({ color: "green" }))
  })

  it("has to be given and not be empty when it is required", () => {
    const required = aParameter({ name: "color" })
    expect(message([required])).toContain("required")
    expect(message([required], { given: color("") })).toContain("empty")
    expect(values([required], { previous: color("blue") })).toStrictEqual(Either.right({ color: "blue" }))
  })

  it("is the default in the classic flow where nothing but a text can be empty", () => {
    const count = aParameter({ name: "count", type: "number", mutable: true, default_value: "3" })
    expect(values([count], { given: [{ name: "count", value: "" }] })).toStrictEqual(Either.right({ count: "3" }))
    expect(values([definition], { given: color("") })).toStrictEqual(Either.right({ color: "" }))
  })

  it("counts as given in the dynamic flow when it is empty", () => {
    const count = aParameter({ name: "count", type: "number", mutable: true, default_value: "3" })
    expect(message([count], { classic: false, given: [{ name: "count", value: "" }] })).toContain("Unable to validate")
    expect(values([aParameter({ name: "color" })], { classic: false, given: color("") })).toStrictEqual(Either.right({ color: "" }))
  })

  it("of nothing that is defined is dropped", () => {
    expect(values([definition], { given: [{ name: "other", value: "x" }] })).toStrictEqual(Either.right({ color: "red" }))
  })

  it("is stored once per definition, for any input", () => {
    const pairs = fc.array(fc.record({ name: fc.constantFrom("color", "size", "other"), value: fc.string() }))
    fc.assert(
      fc.property(pairs, pairs, fc.option(pairs), fc.boolean(), (given, preset, previous, classic) => {
        const definitions = [definition, aParameter({ name: "size", mutable: true, default_value: "s" })]
        const resolved = Either.getOrThrow(resolveParameters({ classic, definitions, given, preset, previous }))
        expect(resolved.map(({ name }) => name)).toStrictEqual(["color", "size"])
      })
    )
  })
})

describe("refusals", () => {
  const definitions = [
    aParameter({ name: "zone" }),
    aParameter({ name: "count", type: "number" }),
    aParameter({ name: "ok", default_value: "" })
  ]

  it("name the first parameter in the classic flow", () => {
    const refusal = Either.getOrThrow(Either.flip(resolve(definitions, { given: [{ name: "count", value: "many" }] })))
    expect(refusal.message).toContain('"zone"')
    expect(refusal.validations).toBeUndefined()
  })

  it("name every parameter, by name, in the dynamic flow", () => {
    const refusal = Either.getOrThrow(Either.flip(resolve(definitions, { classic: false, given: [{ name: "count", value: "many" }] })))
    expect(refusal.validations?.map(({ field }) => field)).toStrictEqual(["count", "zone"])
  })
})

describe("a value", () => {
  const fault = (fields: Partial<RichParameter>, value: string, previous?: string) =>
    parameterValueViolation(aParameter({ name: "p", ...fields }), value, previous)

  it.each([
    ["bool", "true", true],
    ["bool", "True", true],
    ["bool", "yes", false],
    ["number", "-12", true],
    ["number", "9223372036854775807", true],
    ["number", "9223372036854775808", true],
    ["number", "1.5", true],
    ["number", "0x10", false],
    ["number", "", false],
    ["list(string)", '["a","b"]', true],
    ["list(string)", '["a",1]', false],
    ["list(string)", "a,b", false],
    ["string", "", true]
  ] as const)("of type %s: %j is one: %s", (type, value, isOne) => {
    expect(fault({ type }, value) === undefined).toBe(isOne)
  })

  it("is one of the options; with several choices each of its elements is", () => {
    const options = ["a", "b"].map((value) => ({ name: value, description: "", icon: "", value }))
    expect([fault({ options }, "a"), fault({ options }, "c")].map((found) => found === undefined)).toStrictEqual([true, false])
    const several: Partial<RichParameter> = { type: "list(string)", form_type: "multi-select", options }
    expect([fault(several, '["a","b"]'), fault(several, '["a","c"]')].map((found) => found === undefined)).toStrictEqual([true, false])
  })

  it("stays within its bounds, in the author's words where there are some", () => {
    const bounds: Partial<RichParameter> = { type: "number", validation_min: 1, validation_max: 9 }
    expect(fault(bounds, "5")).toBeUndefined()
    expect(fault(bounds, "0")).toBe("value 0 is less than the minimum 1")
    expect(fault({ ...bounds, validation_error: "{value} is not in {min}..{max}" }, "10")).toBe("10 is not in 1..9")
  })

  it("is a whole number of 64 bits where a rule compares it", () => {
    const positive: Partial<RichParameter> = { type: "number", validation_min: 1 }
    const whole = ["9223372036854775807", "9223372036854775808", "1.5", ""].map((value) => fault(positive, value) === undefined)
    expect(whole).toStrictEqual([true, false, false, false])
  })

  it("only grows or only shrinks, as long as it can be compared", () => {
    const grows: Partial<RichParameter> = { type: "number", validation_monotonic: "increasing" }
    expect(fault(grows, "5", "4")).toBeUndefined()
    expect(fault(grows, "5", "5")).toBeUndefined()
    expect(fault(grows, "5", "6")).toBeDefined()
    expect(fault(grows, "5", "many")).toBeUndefined()
    expect(fault({ type: "number", validation_monotonic: "decreasing" }, "5", "4")).toBeDefined()
    expect(fault({ ...grows, validation_error: "too small" }, "4", "5")).toBe(
      "parameter value '4' must be equal or greater than previous value: 5"
    )
  })

  it("refuses limits of what is no number", () => {
    expect(fault({ type: "string", validation_min: 1 }, "x")).toBe("a min cannot be specified for a string type")
    expect(fault({ type: "bool", validation_max: 1 }, "true")).toBe("a max cannot be specified for a bool type")
  })

  it("matches its pattern, or fails with the author's message", () => {
    const pattern = { validation_regex: "^[a-z]+$", validation_error: "lower case, please" }
    expect(fault(pattern, "abc")).toBeUndefined()
    expect(fault(pattern, "ABC")).toContain("lower case, please")
  })
})

describe("a preset", () => {
  const preset = (name: string, ...parameters: ReadonlyArray<readonly [string, string]>) => ({
    name,
    parameters: parameters.map(([name, value]) => ({ name, value }))
  })
  const presets = [preset("any"), preset("one", ["a", "1"]), preset("two", ["a", "1"], ["b", "2"]), preset("other", ["a", "2"])]

  it("matches when all its values are given; the one with most wins", () => {
    const given = (...pairs: ReadonlyArray<readonly [string, string]>) => matchingPreset(presets, preset("", ...pairs).parameters)?.name
    expect(given(["a", "1"], ["b", "2"], ["c", "3"])).toBe("two")
    expect(given(["a", "1"])).toBe("one")
    expect(given(["a", "3"])).toBe("any")
    expect(matchingPreset(presets.slice(1), [])).toBeUndefined()
  })
})

describe("template variables", () => {
  const variable = { name: "region", description: "", type: "string", default_value: "", required: true, sensitive: false }

  it("take the given value, else the active version's, else the default", () => {
    const optional = { ...variable, required: false, default_value: "d" }
    const value = (given: ReadonlyArray<string>, active: ReadonlyArray<string>) =>
      Either.getOrThrow(
        resolveVariables(
          [optional],
          given.map((value) => ({ name: "region", value })),
          active.map((value) => ({ name: "region", value }))
        )
      )[0]?.value
    expect([value(["g"], ["a"]), value([], ["a"]), value([], [])]).toStrictEqual(["g", "a", "d"])
    // Of two values for one variable the first counts
    expect(value(["g", "h"], [])).toBe("g")
  })

  it("that are required and empty are refused with the code that clients expect", () => {
    const refusal = Either.getOrThrow(Either.flip(resolveVariables([variable], [{ name: "region", value: "" }], [])))
    expect(refusal.code).toBe("REQUIRED_TEMPLATE_VARIABLES")
    expect(refusal.message).toContain("required template variables")
    expect(refusal.message).toContain("region")
  })

  it("hide sensitive values", () => {
    expect(withoutSecrets({ ...variable, sensitive: true, value: "hush", default_value: "shh" })).toMatchObject({
      value: "*redacted*",
      default_value: "*redacted*"
    })
  })
})
