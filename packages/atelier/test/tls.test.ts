/** The standalone server over TLS: its files, their reload, versions, and certificates of clients. */
import { makeSecureServer } from "@atelier/http/node"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { request } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ConnectionOptions, TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Pair, pairOf } from "../../../test/outside/certificates.js"
import { type Options, parseOptions } from "../src/Options.js"
import { freePorts, Server } from "./Server.js"

let directory: string
let one: Pair
let other: Pair
const file = (name: string): string => join(directory, name)
const write = async (name: string, { cert, key }: Pair): Promise<void> => {
  await writeFile(file(`${name}.crt`), cert)
  await writeFile(file(`${name}.key`), key)
}
const flagsFor = (name: string): ReadonlyArray<string> => ["--tls-cert-file", file(`${name}.crt`), "--tls-key-file", file(`${name}.key`)]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-tls-"))
  ;[one, other] = await Promise.all([pairOf("one.test"), pairOf("other.test")])
  await write("one", one)
  await write("other", other)
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const optionsFor = (...args: ReadonlyArray<string>): Options => {
  const options = parseOptions(["--tls-enable", ...args], {})
  if (options === "help" || "yaml" in options) throw new Error("no options")
  return options
}

/** A server with the TLS of some options, whose clients are answered "yes". */
const serverFor = async (args: ReadonlyArray<string>) => {
  const { tls } = optionsFor(...args)
  if (tls === undefined) throw new Error("no TLS")
  const server = makeSecureServer(tls.options).on("request", (_request, response) => response.end("yes"))
  tls.guard(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  /** What a client gets, and the host of the certificate that it sees; the error's code where it is refused. */
  const ask = (client: ConnectionOptions = {}): Promise<string> =>
    new Promise((resolve) => {
      const sent = request({ host: "127.0.0.1", port, rejectUnauthorized: false, agent: false, ...client }, (response) => {
        response.resume()
        const { socket } = response
        resolve(socket instanceof TLSSocket ? String(socket.getPeerX509Certificate()?.subject) : "plain HTTP")
      })
      sent.once("error", (error: Error & { readonly code?: string }) => resolve(`refused: ${error.code}`)).end()
    })
  return {
    tls,
    server,
    port,
    ask,
    [Symbol.asyncDispose]: async () => void (server.closeAllConnections(), await once(server.close(), "close"))
  }
}

describe("options of TLS", () => {
  it("put the server on the address of TLS, and plain HTTP on one that is set", () => {
    const options = optionsFor(...flagsFor("one"), "--tls-address", "127.0.0.1:3999")
    expect(options).toMatchObject({ host: "127.0.0.1", port: 3999, plain: undefined, warnings: [] })
    expect(optionsFor(...flagsFor("one"), "--http-address", "127.0.0.1:3998").plain).toEqual({ host: "127.0.0.1", port: 3998 })
    expect(optionsFor(...flagsFor("one"), "--address", "127.0.0.1:3997")).toMatchObject({ port: 3997, plain: undefined })
  })

  it("that cannot be used are refused with the option and the file", async () => {
    await writeFile(file("broken.crt"), "no certificate")
    const refusals = [
      [[], "--tls-enable needs --tls-cert-file and --tls-key-file"],
      [["--tls-cert-file", file("one.crt")], "--tls-cert-file and --tls-key-file must name as many files: 1 and 0 are given"],
      [["--tls-cert-file", file("absent"), "--tls-key-file", file("one.key")], `--tls-cert-file: ${file("absent")} cannot be used: ENOENT`],
      [["--tls-cert-file", file("broken.crt"), "--tls-key-file", file("one.key")], `--tls-cert-file: ${file("broken.crt")} cannot be used`],
      [["--tls-cert-file", file("one.crt"), "--tls-key-file", file("other.key")], "is not the key of the certificate in"],
      [
        [...flagsFor("one"), "--tls-min-version", "tls10"],
        '--tls-min-version must be tls12 or tls13, not "tls10": older ones are insecure'
      ],
      [[...flagsFor("one"), "--tls-client-auth", "maybe"], "--tls-client-auth must be one of none, request"],
      [[...flagsFor("one"), "--tls-client-auth", "require-and-verify"], "--tls-client-auth require-and-verify needs --tls-client-ca-file"],
      [[...flagsFor("one"), "--tls-client-ca-file", file("one.crt")], "--tls-client-ca-file needs --tls-client-auth verify-if-given"],
      [[...flagsFor("one"), "--tls-ciphers", "TLS_RSA_WITH_AES_128_CBC_SHA"], "TLS_RSA_WITH_AES_128_CBC_SHA is insecure"],
      [[...flagsFor("one"), "--tls-ciphers", "TLS_NULL"], 'this runtime has no cipher suite "TLS_NULL"']
    ] as const
    for (const [args, message] of refusals) expect(() => optionsFor(...args)).toThrow(message)
  })
})

describe("a server over TLS", () => {
  it("uses the certificate for the host, and changed files for new connections", async () => {
    await write("changing", one)
    await using running = await serverFor([...flagsFor("changing"), ...flagsFor("other")])
    expect(await running.ask()).toBe("CN=one.test")
    expect(await running.ask({ servername: "other.test" })).toBe("CN=other.test")
    expect(running.tls.reload(running.server)).toBe(false)

    const renewed = await pairOf("renewed.test")
    await writeFile(file("changing.crt"), renewed.cert)
    // The key follows a moment later
    expect(() => running.tls.reload(running.server)).toThrow("is not the key of the certificate")
    expect(await running.ask()).toBe("CN=one.test")
    await writeFile(file("changing.key"), renewed.key)
    expect(running.tls.reload(running.server)).toBe(true)
    expect(await running.ask()).toBe("CN=renewed.test")
    expect(await running.ask({ servername: "other.test" })).toBe("CN=other.test")
  })

  it("refuses older versions and other cipher suites than the options name", async () => {
    const suite = ["--tls-ciphers", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"]
    await using latest = await serverFor([...flagsFor("one"), "--tls-min-version", "tls13"])
    await using limited = await serverFor([...flagsFor("one"), ...suite])
    expect(await latest.ask({ maxVersion: "TLSv1.2" })).toMatch(/^refused/)
    expect(await latest.ask()).toBe("CN=one.test")
    expect(await limited.ask({ maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" })).toMatch(/^refused/)
    expect(await limited.ask({ maxVersion: "TLSv1.2" })).toBe("CN=one.test")
    expect(await limited.ask()).toBe("CN=one.test")
  })

  it("asks clients for the certificates that the options want", async () => {
    const known = await pairOf("client.test", other)
    const rules = {
      none: { nothing: true, unknown: true, known: true },
      request: { nothing: true, unknown: true, known: true },
      "require-any": { nothing: false, unknown: true, known: true },
      "verify-if-given": { nothing: true, unknown: false, known: true },
      "require-and-verify": { nothing: false, unknown: false, known: true }
    }
    for (const [rule, expected] of Object.entries(rules)) {
      const authorities = /verify/.test(rule) ? ["--tls-client-ca-file", file("other.crt")] : []
      await using running = await serverFor([...flagsFor("one"), "--tls-client-auth", rule, ...authorities])
      const isServed = async (client: ConnectionOptions): Promise<boolean> => (await running.ask(client)) === "CN=one.test"
      const served = {
        nothing: await isServed({}),
        unknown: await isServed({ cert: one.cert, key: one.key }),
        known: await isServed({ cert: known.cert, key: known.key })
      }
      expect([rule, served]).toEqual([rule, expected])
    }
  })

  it("disconnects a client that speaks plain HTTP", async () => {
    await using running = await serverFor(flagsFor("one"))
    const response = await fetch(`http://127.0.0.1:${running.port}/`).catch(() => "refused")
    expect(response).toBe("refused")
  })
})

it("the program serves https and plain HTTP, and links to the set-up page", async () => {
  const port = await freePorts(2)
  const server = await Server.launch(
    [
      "--tls-enable",
      ...flagsFor("one"),
      "--tls-address",
      `127.0.0.1:${port}`,
      "--access-url",
      `https://one.test:${port}`,
      "--http-address",
      `127.0.0.1:${port + 1}`,
      "--database",
      `sqlite:${file("tls.db")}`,
      "--workspaces-directory",
      file("workspaces"),
      "--drain-grace",
      "0"
    ],
    /^ +(https:\S+\/setup\?token=\w{32})$/
  )
  try {
    const sent = request({ host: "127.0.0.1", port, path: "/healthz", ca: one.cert, servername: "one.test", agent: false }).end()
    const [response] = await once(sent, "response")
    expect(response.statusCode).toBe(200)
    const link = new URL(server.url)
    expect(link.host).toBe(`one.test:${port}`)
    expect(server.log).toMatch(`\nAtelier listens on https://127.0.0.1:${port}, reached at https://one.test:${port}\n`)
    const plain = `http://127.0.0.1:${port + 1}/api/v2/users/first`
    const body = JSON.stringify({ email: "ada@example.com", username: "ada", password: "SomeSecurePassword!" })
    const create = (headers: Readonly<Record<string, string>>) => fetch(plain, { method: "POST", headers, body })
    expect((await create({})).status).toBe(403)
    expect((await create({ "service-setup-token": link.searchParams.get("token") ?? "" })).status).toBe(201)
  } finally {
    await server.stop()
  }
})
