import { addressesOf, refuseAgentNode } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"

const id = Uuid.Uuid.make("01020304-0506-0708-090a-0b0c0d0e0f10")

const mayAnnounce = (agent: Uuid.Uuid, cidr: string): boolean =>
  refuseAgentNode(agent)({ addresses: [cidr], allowed_ips: [], content: new Uint8Array() }) === undefined

describe("an agent's address", () => {
  it("is its id behind each prefix", () => {
    expect(addressesOf(id)).toStrictEqual(["fd7a:115c:a1e0:0708:090a:0b0c:0d0e:0f10", "fd60:627a:a42b:0708:090a:0b0c:0d0e:0f10"])
  })

  it.each([
    "fd7a:115c:a1e0:708:90a:b0c:d0e:f10/128",
    "FD7A:115C:A1E0:0708:090A:0B0C:0D0E:0F10/128",
    "fd60:627a:a42b:708:90a:b0c:d0e:f10/128",
    "fd7a:115c:a1e0:49d6:b259:b7ac:b1b2:48f4/128"
  ])("%s may be announced", (cidr) => {
    expect(mayAnnounce(id, cidr)).toBe(true)
  })

  it.each([
    "fd7a:115c:a1e0:708:90a:b0c:d0e:f11/128",
    "fd7a:115c:a1e0:708:90a:b0c:d0e:f10/64",
    "fd7a:115c:a1e0:708:90a:b0c:d0e:f10",
    "fd7a:115c:a1e0:708:90a:b0c:d0e:f10/128/128",
    "10.0.0.1/128",
    "::/128",
    "0.0.0.0/0",
    "",
    "/128"
  ])("%s may not", (cidr) => {
    expect(mayAnnounce(id, cidr)).toBe(false)
  })

  it("may be announced by the agent alone", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (own, other) => {
        const [address = ""] = addressesOf(Uuid.Uuid.make(own))
        expect(mayAnnounce(Uuid.Uuid.make(own), `${address}/128`)).toBe(true)
        expect(mayAnnounce(Uuid.Uuid.make(other), `${address}/128`)).toBe(own.slice(14) === other.slice(14))
      })
    )
  })

  it("may be written with its zeros left out", () => {
    const zeros = Uuid.Uuid.make("00000000-0000-0000-0000-000000000001")
    expect(mayAnnounce(zeros, "fd7a:115c:a1e0::1/128")).toBe(true)
    expect(mayAnnounce(zeros, "fd7a:115c:a1e0::1::/128")).toBe(false)
  })
})
