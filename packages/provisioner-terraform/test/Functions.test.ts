/** The work of single calls of functions: none may keep other requests waiting for more than 50 ms. */
import { longestTurn, maximumTurn } from "../../core/test/platform/longestTurn.js"
import { describe, expect, it } from "vitest"
import { EvaluationError } from "../src/EvaluationError.js"
import { callFunction } from "../src/Functions.js"
import { evaluate } from "../src/Interpreter.js"
import { type Value } from "../src/Values.js"
import { Work } from "../src/Work.js"

/** The value of a call as the only one of its part of a form, or the reason of its failure. */
const outcomeOf = (name: string, given: ReadonlyArray<Value>): Value => {
  const resolve = (root: string): never => {
    throw new EvaluationError({ cause: `there is no ${root}` })
  }
  try {
    return callFunction(name, given, { evaluate, work: new Work(), files: new Map(), names: new Map(), resolve })
  } catch (error) {
    if (error instanceof EvaluationError) return error.cause
    throw error
  }
}

const many = <A>(count: number, of: (index: number) => A): ReadonlyArray<A> => Array.from({ length: count }, (_, index) => of(index))
const key = (index: number): string => `k${(index * 7919) % 100_003}`

describe("a call that would take too long is refused", () => {
  it.each<readonly [string, string, () => ReadonlyArray<Value>]>([
    ["the items of YAML", "yamldecode", () => [`[${"a,".repeat(5_000)}]`]],
    ["the keys of YAML", "yamldecode", () => [many(10_000, (index) => `k${index}: 1`).join("\n")]],
    ["equal keys of YAML", "yamldecode", () => [`{${"a,".repeat(10_000)}}`]],
    ["tags of YAML", "yamldecode", () => [`[${"!a b,".repeat(5_000)}]`]],
    ["errors of YAML", "yamldecode", () => [": ".repeat(5_000)]],
    ["values written as YAML", "yamlencode", () => [many(6_000, () => "a")]],
    ["maps written as YAML", "yamlencode", () => [many(3_000, () => new Map([["a", "b"]]))]],
    ["lines written as YAML", "yamlencode", () => ["a\n".repeat(150_000)]],
    ["rows of CSV", "csvdecode", () => [`a\n${"b\n".repeat(30_000)}`]],
    ["numbers of JSON with many digits", "jsondecode", () => [`[${"1e-999,".repeat(4_000)}1]`]],
    ["maps of JSON", "jsondecode", () => [`[${"{},".repeat(80_000)}1]`]],
    ["signs that JSON escapes", "jsonencode", () => ["<".repeat(500_000)]],
    ["texts to sort", "sort", () => [many(60_000, key)]],
    ["texts to sort that begin alike", "sort", () => [many(3_000, (index) => "a".repeat(5_000) + key(index))]],
    ["elements of sets", "toset", () => [many(60_000, key)]],
    ["sets", "setintersection", () => many(60_000, () => ["a"])],
    ["sets to multiply", "setproduct", () => many(6_000, () => ["a"])],
    ["lists in lists", "flatten", () => [many(200_000, () => ["a"])]],
    ["values to turn round", "transpose", () => [new Map([["a", many(100_000, key)]])]],
    ["characters that users see", "length", () => ["é".repeat(20_000)]],
    ["characters to reverse", "strrev", () => ["é".repeat(20_000)]],
    ["verbs of a format", "format", () => ["%%".repeat(100_000)]],
    ["formats of a list", "formatlist", () => ["%[1]s".repeat(200), many(1_000, () => "a")]],
    ["texts to replace", "replace", () => ["a".repeat(2_000_000), "a", "b"]],
    ["matches that look far ahead", "regexall", () => ["a.*b|a", "a".repeat(8_000)]],
    ["matches that are replaced and look far ahead", "replace", () => ["a".repeat(8_000), "/a.*b|a/", "c"]],
    ["classes of a pattern", "regex", () => ["\\pL".repeat(1_000), "a"]],
    ["a template's characters", "templatestring", () => ["a\n".repeat(100_000), new Map()]],
    ["elements of a template's loop", "templatestring", () => ["%{for x in l}${x}%{endfor}", new Map([["l", many(30_000, key)]])]]
  ])("for %s: %s", (_, name, given) => {
    expect(outcomeOf(name, given())).toBe("the template needs too many steps")
  })
})

describe("a call of an ordinary size has a value", () => {
  it.each<readonly [string, ReadonlyArray<Value>, Value]>([
    ["yamldecode", [many(1_000, (index) => `key_${index}: "https://example.com/a-b?c=d#e"`).join("\n")], expect.any(Map)],
    ["yamldecode", [`a: |\n${"  echo one\n".repeat(4_000)}`], expect.any(Map)],
    ["yamlencode", [many(1_000, (index) => new Map([["name", key(index)]]))], expect.any(String)],
    ["csvdecode", [`a,b,c\n${"1,2,3\n".repeat(5_000)}`], expect.any(Array)],
    ["jsondecode", [`[${'{"a":1.5},'.repeat(1_000)}1]`], expect.any(Array)],
    ["sort", [many(10_000, key)], expect.any(Array)],
    ["length", ["naïve ".repeat(800)], 4_800],
    ["length", ["a\r\n👨‍👩‍👧"], 3],
    ["strrev", ["ab\r\n👨‍👩‍👧é"], "é👨‍👩‍👧\r\nba"],
    ["regexall", ["[^\\n]+", "some line of a file\n".repeat(100)], expect.any(Array)],
    ["replace", ["a-b ".repeat(500), "/[^a-z]+/", "_"], "a_b_".repeat(500)],
    ["trim", ["xxyaxy", "xy"], "a"]
  ])("%s", (name, given, value) => {
    expect(outcomeOf(name, given)).toEqual(value)
  })

  it("takes the last of equal keys of YAML, as Terraform does", () => {
    expect(outcomeOf("yamldecode", ["a: 1\na: 2"])).toEqual(new Map([["a", 2]]))
  })

  it("refuses collections as keys of YAML", () => {
    expect(outcomeOf("yamldecode", ["? ".repeat(200)])).toBe("a key of a map is no text")
    expect(outcomeOf("yamldecode", ["- &a [b]\n- ? *a\n  : c"])).toBe("a key of a map is no text")
  })
})

it("looks for no more verbs of a format than there are arguments", async () => {
  const format = "%s".repeat(800_000)
  const outcome = () => outcomeOf("format", [format])
  expect(outcome()).toBe("the format has more verbs than arguments")
  // With all verbs, 150 to 300 ms
  expect(await longestTurn(async () => outcome())).toBeLessThan(maximumTurn)
})
