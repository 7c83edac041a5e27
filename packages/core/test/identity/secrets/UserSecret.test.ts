import { environmentViolation, exceededLimit, userSecretViolations, valueViolation } from "@atelier/core/identity"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const secret = { name: "api key", description: "", env_name: "API_KEY", file_path: "", enabled: true }

const fields = (changes: Partial<typeof secret>) => userSecretViolations({ ...secret, ...changes }, "Service").map(({ field }) => field)

describe("a secret", () => {
  it("has a name that is a step of a path", () => {
    expect(fields({})).toStrictEqual([])
    for (const name of ["", " a", "a\t", "a/b", "a?b", "a#b", "a\0b", ".", "..", "é".repeat(129)]) {
      expect(fields({ name }), name).toStrictEqual(["name"])
    }
    for (const name of ["a b", "ä", "…", "%2F", "é".repeat(128)]) expect(fields({ name }), name).toStrictEqual([])
  })

  it("goes to a variable, a file or both while it is enabled", () => {
    expect(fields({ env_name: "" })).toStrictEqual(["env_name"])
    expect(fields({ env_name: "", file_path: "~/.netrc" })).toStrictEqual([])
    expect(fields({ env_name: "", enabled: false })).toStrictEqual([])
    for (const file_path of ["netrc", "~", "~root/x", "./x", "/a\0b", `/${"a".repeat(4096)}`]) {
      expect(fields({ file_path }), file_path).toStrictEqual(["file_path"])
    }
    expect(fields({ file_path: `/${"a".repeat(4095)}` })).toStrictEqual([])
  })

  it("is shown with every rule that it breaks", () => {
    expect(fields({ name: "", env_name: "1", file_path: "x", description: "\0" })).toStrictEqual([
      "name",
      "description",
      "env_name",
      "file_path"
    ])
  })

  it("never overrides a reserved variable, in any case", () => {
    for (const name of ["PATH", "path", "Git_Token", "LC_ALL", "LD_PRELOAD", "DYLD_X", "CODER", "coder_x", "SERVICE_AGENT_TOKEN", "Term"]) {
      expect(environmentViolation(name, "Service"), name).toContain("reserved")
    }
    for (const name of ["PATHS", "GITHUB_TOKEN", "LCD", "_", "CODERS", "SERVICES", "a".repeat(256)]) {
      expect(environmentViolation(name, "Service"), name).toBeUndefined()
    }
    for (const name of ["1A", "A-B", "A B", "Ä", "A=B", "A\n", "a".repeat(257)]) {
      expect(environmentViolation(name, "Service"), name).toBeDefined()
    }
  })

  it("has a value of at most 24,576 bytes, which no refusal shows", () => {
    expect(valueViolation("é".repeat(12_288))).toBeUndefined()
    expect(valueViolation("é".repeat(12_289))).toBe("must be at most 24576 bytes")
    fc.assert(fc.property(fc.string({ minLength: 20 }), (value) => !valueViolation(`${value}\0${value}`)?.includes(value)))
  })
})

describe("the secrets of a user", () => {
  const some = (count: number, value_size: number, env_name = "") => Array.from({ length: count }, () => ({ env_name, value_size }))

  it("are at most 50", () => {
    expect(exceededLimit(some(50, 1))).toBeUndefined()
    expect(exceededLimit(some(51, 1))).toContain("50")
  })

  it("have at most 204,800 bytes, at most 24,576 of them in variables", () => {
    expect(exceededLimit(some(10, 20_480))).toBeUndefined()
    expect(exceededLimit([...some(10, 20_480), ...some(1, 1)])).toContain("204800")
    expect(exceededLimit(some(2, 12_288, "A"))).toBeUndefined()
    expect(exceededLimit([...some(2, 12_288, "A"), ...some(1, 1, "B")])).toContain("24576")
  })
})
