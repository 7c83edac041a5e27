import { parseAppLabel, portOf, wildcardLabel } from "@atelier/core/workspaces"
import { describe, expect, it } from "vitest"

describe("the label of an app's host", () => {
  it.each([
    ["8080--main--dev--bob", { prefix: "", slug_or_port: "8080", agent: "main", workspace: "dev", user: "bob" }],
    ["8443s--main--dev--bob", { prefix: "", slug_or_port: "8443s", agent: "main", workspace: "dev", user: "bob" }],
    ["code--dev--bob", { prefix: "", slug_or_port: "code", agent: "", workspace: "dev", user: "bob" }],
    ["code--main--dev--bob", { prefix: "", slug_or_port: "code", agent: "", workspace: "dev", user: "bob" }],
    ["p---code--dev--bob", { prefix: "p---", slug_or_port: "code", agent: "", workspace: "dev", user: "bob" }],
    ["a---b---code--my-dev--bob", { prefix: "a---b---", slug_or_port: "code", agent: "", workspace: "my-dev", user: "bob" }],
    ["CODE--Dev--Bob", { prefix: "", slug_or_port: "code", agent: "", workspace: "dev", user: "bob" }]
  ])("%s names an app", (label, named) => expect(parseAppLabel(label)).toStrictEqual(named))

  it.each(["8080--dev--bob", "code--dev", "code", "a--b--c--d--e", "-code--dev--bob", "code--d_v--bob", "code----bob", ""])(
    "%s names none",
    (label) => expect(parseAppLabel(label)).toBeUndefined()
  )
})

describe("a host below the wildcard", () => {
  it.each([
    ["*.apps.test", "code--dev--bob.apps.test", "code--dev--bob"],
    ["*.apps.test", "Code--Dev--Bob.APPS.test.:8080", "code--dev--bob"],
    ["*.apps.test:3000", " Code--dev--bob.APPS.test:8080 ", "code--dev--bob"],
    ["*.apps.test", "code--dev--bob.apps.test.", "code--dev--bob"],
    ["*--suffix.example.com", "code--dev--bob--suffix.example.com", "code--dev--bob"],
    ["*.apps.test", "a.b.apps.test", undefined],
    ["*.apps.test", ".apps.test", undefined],
    ["*.apps.test", "apps.test", undefined],
    ["*.apps.test", "code.apps.test.evil.example", undefined],
    ["", "code--dev--bob.apps.test", undefined]
  ])("of %s: %s", (pattern, host, label) => expect(wildcardLabel(pattern, host)).toBe(label))
})

it.each([
  ["8080", { port: 8080, isSecure: false }],
  ["8443s", { port: 8443, isSecure: true }],
  ["65536", undefined],
  ["0", undefined],
  ["code", undefined]
])("%s as a port", (name, port) => expect(portOf(name)).toStrictEqual(port))
