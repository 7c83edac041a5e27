/** Push messages as a push service gets them, and as a browser reads them. */
import { NotPushed, type PushKeys } from "@atelier/core/notifications"
import { NodePushSender } from "@atelier/node"
import { Effect, Either } from "effect"
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto"
import { createServer, type Server } from "node:https"
import type { IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { certificate } from "../../../test/outside/mailServer.js"

const bytes = (text: string): Buffer => Buffer.from(text, "base64url")

/** A browser's keys. */
const browser = createECDH("prime256v1")
const browserPoint = browser.generateKeys()
const auth = randomBytes(16)

/** Reads a message as the browser does. RFC 8188 §2, RFC 8291 §3. */
const decrypted = (body: Buffer): string => {
  const salt = body.subarray(0, 16)
  const point = body.subarray(21, 21 + body.readUInt8(20))
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), browserPoint, point])
  const key = Buffer.from(hkdfSync("sha256", browser.computeSecret(point), auth, info, 32))
  const part = (name: string, length: number) => Buffer.from(hkdfSync("sha256", key, salt, `Content-Encoding: ${name}\0`, length))
  const decipher = createDecipheriv("aes-128-gcm", part("aes128gcm", 16), part("nonce", 12))
  decipher.setAuthTag(body.subarray(-16))
  const padded = Buffer.concat([decipher.update(body.subarray(21 + point.length, -16)), decipher.final()])
  expect(padded.at(-1)).toBe(2)
  return padded.subarray(0, -1).toString()
}

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

let server: Server
let status = 201
const received: Array<Received> = []

beforeAll(async () => {
  server = createServer(certificate, (request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(parts) })
      response.writeHead(status, { location: "/elsewhere" }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  status = 201
  received.length = 0
})

/** Finds every name at addresses. */
const resolvingTo =
  (...addresses: ReadonlyArray<string>): NonNullable<NodePushSender.PushSenderOptions["resolve"]> =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    )

const target = (host = "mail.example.com") => ({
  endpoint: `https://${host}:${(server.address() as AddressInfo).port}/push/1`,
  p256dh_key: browserPoint.toString("base64url"),
  auth_key: auth.toString("base64url")
})

const text = "Türe offen"

const sent = async (
  options: NodePushSender.PushSenderOptions,
  to = target()
): Promise<{ readonly keys: PushKeys; readonly failure?: NotPushed }> => {
  const sender = NodePushSender.make({ ca: certificate.cert, ...options })
  const keys = await Effect.runPromise(sender.generateKeys)
  const result = await Effect.runPromise(
    Effect.either(sender.send(to, new TextEncoder().encode(text), { ...keys, subject: "https://dev.example.com" }))
  )
  return Either.isLeft(result) ? { keys, failure: result.left } : { keys }
}

const toReceiver = { resolve: resolvingTo("127.0.0.1"), isAllowed: () => true }

describe("a push message", () => {
  it("is encrypted as RFC 8291 §5 shows", () => {
    const own = createECDH("prime256v1")
    own.setPrivateKey(bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    const to = {
      endpoint: "",
      p256dh_key: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      auth_key: "BTBZMqHH6r4Tts7J_aSIgg"
    }
    const body = NodePushSender.encrypted(
      Buffer.from("When I grow up, I want to be a watermelon"),
      to,
      own,
      bytes("DGv6ra1nlYgDCS1FRnbzlw")
    )
    expect(Buffer.from(body).toString("base64url")).toBe(
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
  })

  it("reaches a browser, and names its sender", async () => {
    const { failure, keys } = await sent(toReceiver)
    expect(failure).toBeUndefined()
    const [{ body, headers } = { body: Buffer.alloc(0), headers: {} }] = received
    expect(decrypted(body)).toBe(text)
    expect(headers).toMatchObject({ ttl: "0", "content-encoding": "aes128gcm" })
    const [, header = "", claims = "", signature = ""] = /^vapid t=([^.]+)\.([^.]+)\.([^,]+), k=/.exec(String(headers.authorization)) ?? []
    const point = bytes(keys.public_key)
    const jwk = { kty: "EC", crv: "P-256", x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") }
    const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" as const }
    expect(verify("sha256", Buffer.from(`${header}.${claims}`), key, bytes(signature))).toBe(true)
    expect(JSON.parse(bytes(claims).toString())).toMatchObject({
      aud: target().endpoint.replace(/\/push\/1$/, ""),
      sub: "https://dev.example.com"
    })
    expect(String(headers.authorization).endsWith(`, k=${keys.public_key}`)).toBe(true)
  })

  it.each([
    [404, true],
    [410, true],
    [307, false],
    [429, false],
    [500, false]
  ])("that is answered %i has not arrived", async (answer, isLasting) => {
    status = answer
    const { failure } = await sent(toReceiver)
    expect(failure).toMatchObject({ isLasting })
    expect(received).toHaveLength(1)
  })

  it("is not sent to a name with a private address", async () => {
    for (const addresses of [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"]]) {
      const { failure } = await sent({ resolve: resolvingTo(...addresses) })
      expect(failure?.reason).toBe("the host has an address that may not be called")
    }
    expect(received).toHaveLength(0)
  })

  it("is not sent to a private address", async () => {
    for (const host of ["127.0.0.1", "[::1]"]) {
      const { failure } = await sent({}, target(host))
      expect(failure?.reason).toBe("the host is an address that may not be called")
    }
    expect(received).toHaveLength(0)
  })

  it("is not sent for a key that is not on the curve", async () => {
    const { failure } = await sent(toReceiver, { ...target(), p256dh_key: Buffer.alloc(65, 4).toString("base64url") })
    expect(failure).toMatchObject({ isLasting: true })
  })
})
