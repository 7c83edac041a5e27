import { StartError } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"
import { clientAddressOf } from "../../../src/server/request/ClientAddress.js"

const forwarded = { origins: ["10.0.0.0/8", "fd00::/8"], headers: ["X-Forwarded-For"] }

describe("the client's address", () => {
  it("is the first from the right that no trusted proxy has", () => {
    const address = clientAddressOf(forwarded)
    const headers = { "x-forwarded-for": "1.1.1.1, 9.9.9.9, 10.0.0.2" }
    expect(address("10.0.0.1", headers)).toBe("9.9.9.9")
    expect(address("::ffff:10.0.0.1", headers)).toBe("9.9.9.9")
    expect(address("fd00::1", headers)).toBe("9.9.9.9")
  })

  it("is the peer's when the peer is not trusted", () => {
    const address = clientAddressOf(forwarded)
    expect(address("8.8.8.8", { "x-forwarded-for": "1.1.1.1" })).toBe("8.8.8.8")
    expect(clientAddressOf({ origins: [], headers: ["X-Forwarded-For"] })("10.0.0.1", { "x-forwarded-for": "1.1.1.1" })).toBe("10.0.0.1")
  })

  it("is the leftmost if every hop is trusted, and the peer's without a valid address", () => {
    const address = clientAddressOf(forwarded)
    expect(address("10.0.0.1", { "x-forwarded-for": "10.0.0.9, 10.0.0.2" })).toBe("10.0.0.9")
    expect(address("10.0.0.1", { "x-forwarded-for": "unknown, , x" })).toBe("10.0.0.1")
    expect(address("10.0.0.1", {})).toBe("10.0.0.1")
  })

  it("has no port and skips what cannot be parsed", () => {
    const address = clientAddressOf(forwarded)
    expect(address("10.0.0.1", { "x-forwarded-for": "9.9.9.9:1234, _hidden" })).toBe("9.9.9.9")
    expect(address("10.0.0.1", { "x-forwarded-for": "[2001:db8::1]:443" })).toBe("2001:db8::1")
  })

  it("comes from the first configured header that contains one", () => {
    const address = clientAddressOf({ origins: ["10.0.0.0/8"], headers: ["True-Client-IP", "X-Forwarded-For"] })
    expect(address("10.0.0.1", { "true-client-ip": "1.2.3.4", "x-forwarded-for": "9.9.9.9" })).toBe("1.2.3.4")
    expect(address("10.0.0.1", { "true-client-ip": "x", "x-forwarded-for": "9.9.9.9" })).toBe("9.9.9.9")
  })

  it.each(["10.0.0.1", "10.0.0.0/33", "x/8", "fd00::/129", "10.0.0.0/"])("cannot be asked of %s, which is not a network", (origin) => {
    expect(() => clientAddressOf({ origins: [origin], headers: [] })).toThrow(StartError)
  })
})
