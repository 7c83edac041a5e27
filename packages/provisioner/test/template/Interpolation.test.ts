import { Either } from "effect"
import * as fc from "fast-check"
import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { codePoint } from "../../../../test/records/codePoint.js"
import { parseCondition, parseText } from "../../src/template/ExpressionParser.js"
import { check, holds, render, type Scope, unquoted } from "../../src/template/Interpolation.js"

const values: Readonly<Record<string, string>> = {
  "parameter.ide": "code",
  "parameter.tools": '["git","it\'s"]',
  "parameter.evil": `a'; rm -rf "$HOME" \\`,
  "owner.name": "Ada Lovelace",
  "workspace.name": "atelier"
}
const scope: Scope = (namespace, name) => values[`${namespace}.${name}`] ?? ""

const rendered = (source: string, within = scope) =>
  Either.getOrThrow(Either.flatMap(parseText(source), (text) => render(text, within, 1_000_000)))
const refused = (source: string) => Either.getOrThrow(Either.flip(parseText(source)))
const answer = (source: string) => Either.getOrThrow(Either.flatMap(parseCondition(source), (condition) => holds(condition, scope, 1000)))

describe("a text", () => {
  it.each([
    ["plain", "plain"],
    ["${workspace.name}", "atelier"],
    ["a-${ workspace.name }-${owner.name}!", "a-atelier-Ada Lovelace!"],
    ["$HOME $(id) $$ 5$", "$HOME $(id) $$ 5$"],
    ["$${HOME:-x}", "${HOME:-x}"],
    ["$$${HOME}", "$${HOME}"],
    ['${"$"}${workspace.name}', "$atelier"],
    ["${'a}b' == \"a}b\"}", "true"],
    ['${"say \\"hi\\"\\n"}', 'say "hi"\n'],
    ["${true}${-12}", "true-12"],
    ["${shell(parameter.evil)}", `'a'\\''; rm -rf "$HOME" \\'`],
    ["${json(parameter.evil)}", '"a\'; rm -rf \\"$HOME\\" \\\\"'],
    ["?q=${url(owner.name)}", "?q=Ada%20Lovelace"],
    ["${shell_list(parameter.tools)}", `'git' 'it'\\''s'`],
    ['${join(parameter.tools, ", ")}', "git, it's"],
    ['${shell(join(parameter.tools, "+"))}', `'git+it'\\''s'`],
    ['${contains(parameter.tools, "git")}', "true"],
    ["${parameter.tools}", '["git","it\'s"]']
  ])("%j becomes %j", (source, expected) => {
    expect(rendered(source)).toBe(expected)
  })

  it.each([
    ["${HOME}", 2, '"HOME" is not a value; for a literal "${" write "$${"'],
    [
      "ab ${env.HOME}",
      5,
      '"env" is not one of parameter, variable, workspace, owner, template, task, agent_token; for a literal "${" write "$${"'
    ],
    ["${workspace.}", 12, 'a name is missing after "workspace."'],
    ["${workspace.name", 16, '"}" is missing'],
    ["${}", 2, 'unexpected "}"'],
    ["${", 2, "an expression is missing"],
    ["${workspace.name name}", 17, '"}" expected, not "name"'],
    ['${"abc}', 2, 'the text that starts with " has no end'],
    ["${eval(owner.name)}", 2, 'there is no function "eval"; there are shell, shell_list, json, url, join, contains'],
    ["${join(parameter.tools)}", 22, '"," expected, not ")"'],
    ["${shell(owner.name, owner.id)}", 18, '")" expected, not ","'],
    ["${owner.name; id}", 12, 'unexpected ";"'],
    [`\${${"(".repeat(40)}`, 35, "nested deeper than 32"],
    [`\${${"!".repeat(40)}true}`, 35, "nested deeper than 32"],
    [`\${true${" && true".repeat(40)}}`, 263, "more than 32 operators in a row"],
    [`\${owner.${"n".repeat(129)}}`, 8, "a name has at most 128 characters"]
  ])("%j is refused at %i: %s", (source, offset, message) => {
    expect(refused(source)).toEqual({ offset, message })
  })

  it("is refused when its values make it too long in any way", () => {
    const long: Scope = () => '"'.repeat(600)
    const text = (source: string) => Either.flatMap(parseText(source), (parsed) => render(parsed, long, 1000))
    expect(text("${owner.name}")).toEqual(Either.right('"'.repeat(600)))
    expect(text("${owner.name}${owner.name}")).toEqual(Either.left({ offset: 0, message: "its value is longer than 1000 characters" }))
    expect(text("x${json(json(json(owner.name)))}")).toEqual(
      Either.left({ offset: 8, message: "its value is longer than 1000 characters" })
    )
  })

  it("never crashes its reader", () => {
    const pieces = fc.constantFrom(
      "${",
      "$${",
      "}",
      "(",
      ")",
      "!",
      "==",
      "&&",
      ",",
      ".",
      '"',
      "'",
      "\\",
      " ",
      "parameter",
      "shell",
      "1",
      "é",
      "🙂",
      "$"
    )
    const source = fc.oneof(
      fc.string({ unit: codePoint }),
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(""))
    )
    fc.assert(
      fc.property(source, (text) => {
        const parsed = parseText(text)
        if (Either.isLeft(parsed)) {
          expect(parsed.left.offset).toBeGreaterThanOrEqual(0)
          expect(parsed.left.offset).toBeLessThanOrEqual(text.length)
        } else expect(Either.isRight(render(parsed.right, scope, 1_000_000))).toBe(true)
        parseCondition(text)
      }),
      { numRuns: 1000 }
    )
  })

  it("is itself again after escaping", () => {
    const source = fc
      .array(fc.oneof(fc.constantFrom("$", "{", "${", "$${", "}", "\\"), fc.string()), { maxLength: 20 })
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(source, (text) => {
        expect(rendered(text.replaceAll("${", () => "$${"))).toBe(text)
      }),
      { numRuns: 1000 }
    )
  })

  it("gives a shell exactly the value that shell() was given", () => {
    const word = fc.string().filter((text) => !text.includes("\u0000"))
    fc.assert(
      fc.property(word, word, (value, other) => {
        const list: Scope = (_, name) => (name === "tools" ? JSON.stringify([value, other]) : value)
        const script = rendered('printf "%s\\0" ${shell(owner.name)} ${shell_list(parameter.tools)}', list)
        expect(execFileSync("/bin/sh", ["-c", script]).toString()).toBe(`${[value, value, other].join("\0")}\0`)
      }),
      { numRuns: 50 }
    )
  })
})

describe("a condition", () => {
  it.each([
    ['${parameter.ide} == "code"', true],
    ['parameter.ide == "code"', true],
    ["parameter.ide != 'code'", false],
    ["!(parameter.ide == 'vim') && workspace.name == 'atelier'", true],
    ["false || true && false", false],
    ["contains(parameter.tools, 'git') == true", true],
    ["parameter.ide", false],
    ["true", true],
    ["12 == 12", true]
  ])("%j is %s", (source, expected) => {
    expect(answer(source)).toBe(expected)
  })

  it("has nothing after its end", () => {
    expect(parseCondition("true true")).toEqual(Either.left({ offset: 5, message: 'unexpected "true"' }))
  })
})

describe("the references of a text", () => {
  const declared = (namespace: string, name: string) =>
    namespace === "parameter" ? ({ ide: "text", tools: "list" } as const)[name] : undefined

  it("must be declared, and be lists where a list is taken", () => {
    const problems = Either.map(parseText('${parameter.ide} ${owner.name} ${join(parameter.ide, ",")} ${join("x", ",")}'), (text) =>
      check(text, declared)
    )
    expect(problems).toEqual(
      Either.right([
        { offset: 19, message: "there is no owner.name here" },
        { offset: 38, message: "parameter.ide is not a list" },
        { offset: 61, message: "join() takes a list, which only a reference can be" }
      ])
    )
  })

  it("are told apart by whether a function quotes them", () => {
    const found = Either.map(parseText("${owner.name} ${shell(parameter.ide)}"), (text) => unquoted(text).map(({ name }) => name))
    expect(found).toEqual(Either.right(["name"]))
  })
})
