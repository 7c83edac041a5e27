import { endpointViolation, keyViolations } from "@atelier/core/notifications"
import { isPublicAddress } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"

describe("a push subscription", () => {
  it.each([
    "",
    "x",
    "/relative",
    "http://push.example.com/a",
    "https://",
    "https:///path",
    "https://:443/",
    "https://user:pw@push.example.com/a",
    "https://user@push.example.com/a",
    "https://LOCALHOST/a",
    "https://localhost./a",
    "https://a.localhost/a",
    "https://127.0.0.1/a",
    "https://127.1/a",
    "https://0x7f000001/a",
    "https://2130706433/a",
    "https://169.254.169.254/",
    "https://100.64.0.1/",
    "https://[::1]/a",
    "https://[::ffff:8.8.8.8]/a",
    "https://[64:ff9b::a00:1]/a",
    "https://[2002:a00:1::]/a",
    "https://[fd00::1]/a",
    "https://%zz/",
    `https://push.example.com/${"a".repeat(2_048)}`
  ])("refuses the endpoint %s", (endpoint) => {
    expect(endpointViolation(endpoint)).toBeTypeOf("string")
  })

  it.each(["https://push.example.com/a?b=c", "https://8.8.8.8:8443/", "https://[2606:4700::1111]/", "HTTPS://Push.Example.com/"])(
    "accepts the endpoint %s",
    (endpoint) => {
      expect(endpointViolation(endpoint)).toBeUndefined()
    }
  )

  it("has keys of their lengths, in either alphabet", () => {
    const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 0xfb)])
    const auth = Buffer.alloc(16, 0xff)
    const violations = (encoding: BufferEncoding) =>
      keyViolations({ endpoint: "", p256dh_key: point.toString(encoding), auth_key: auth.toString(encoding) })
    expect([violations("base64"), violations("base64url")]).toStrictEqual(
      Array.from({ length: 2 }, () => ({ auth_key: undefined, p256dh_key: undefined }))
    )
    expect(keyViolations({ endpoint: "", p256dh_key: "?", auth_key: "AAAA" })).toStrictEqual({
      auth_key: "must be 16 bytes in base64url",
      p256dh_key: "must be an uncompressed point of P-256 in base64url"
    })
  })
})

describe("an address", () => {
  it.each(["9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "223.255.255.255", "2001:4860:4860::8888", "2A00:1450::1"])(
    "%s is one of the Internet",
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    }
  )

  it.each([
    "10.0.0.0",
    "172.16.0.0",
    "172.31.255.255",
    "192.168.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1%eth0",
    "2001:db8::1",
    "2001::1",
    "2001:10::1",
    "name",
    "1.2.3",
    "256.1.1.1"
  ])("%s is not one of the Internet", (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
