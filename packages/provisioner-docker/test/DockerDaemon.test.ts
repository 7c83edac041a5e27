/** The ways to a Docker daemon: TLS, SSH, and daemons that do not answer. */
import { it } from "@effect/vitest"
import { Effect, Either, Fiber, TestClock } from "effect"
import { once } from "node:events"
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { createServer as createTlsServer } from "node:tls"
import { afterEach, beforeEach, describe, expect } from "vitest"
import { pairOf } from "../../../test/outside/certificates.js"
import * as DaemonAddress from "../src/DaemonAddress.js"
import * as DockerDaemon from "../src/DockerDaemon.js"
import { daemon, docker, skipped } from "./daemon.js"

let directory: string
const servers: Array<Server> = []
const path = process.env["PATH"]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-docker-daemon-"))
})
afterEach(async () => {
  process.env["PATH"] = path
  for (const server of servers.splice(0)) server.close()
  await rm(directory, { recursive: true, force: true })
})

const portOf = async (server: Server): Promise<number> => {
  servers.push(server.listen(0, "127.0.0.1"))
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

/** The version that a daemon says it has, or why it says none. */
const versionAt = (host: string, tlsDirectory?: string) =>
  Effect.gen(function* () {
    const address = yield* DaemonAddress.parse(host, tlsDirectory)
    const version = yield* DockerDaemon.make(address).call("the version cannot be read", (client) => client.version())
    return version.Version
  }).pipe(
    Effect.mapError(({ message }) => message),
    Effect.either
  )

const reasonOf = (host: string, tlsDirectory?: string) =>
  Effect.map(versionAt(host, tlsDirectory), (answer) => (Either.isLeft(answer) ? answer.left : `it answers ${answer.right}`))

/** Puts a program named `ssh` before the machine's own. */
const withSsh = (script: string) =>
  Effect.promise(async () => {
    await writeFile(join(directory, "ssh"), `#!/bin/sh\n${script}\n`)
    await chmod(join(directory, "ssh"), 0o755)
    process.env["PATH"] = `${directory}${delimiter}${path}`
  })

describe("a daemon that cannot be reached is named with the reason", () => {
  it.live("without a listener", () =>
    Effect.gen(function* () {
      const closed = yield* Effect.promise(() => portOf(createServer()))
      servers.pop()?.close()
      expect(yield* reasonOf(`tcp://127.0.0.1:${closed}`)).toMatch(
        /^the Docker daemon at tcp:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/
      )
      expect(yield* reasonOf(`unix://${directory}/none.sock`)).toMatch(/^the Docker daemon at unix:\S+ cannot be reached: .*ENOENT/)
    })
  )

  it.effect.each([
    ["one that never answers, after 30 seconds", Effect.interruptible],
    ["one that never answers a call that nothing interrupts, after 30 seconds", Effect.uninterruptible]
  ] as const)("%s", ([, region]) =>
    Effect.gen(function* () {
      const accepted: Array<Socket> = []
      const port = yield* Effect.promise(() => portOf(createServer((socket) => void accepted.push(socket))))
      const asking = yield* Effect.fork(region(reasonOf(`tcp://127.0.0.1:${port}`)))
      yield* TestClock.adjust("31 seconds")
      expect(yield* Fiber.join(asking)).toBe("the version cannot be read: the Docker daemon has not answered within 30s")
      for (const socket of accepted) socket.destroy()
    })
  )

  it.live("one that speaks no TLS, and one whose certificate is not of its authority", () =>
    Effect.gen(function* () {
      const [own, other] = yield* Effect.promise(() => Promise.all([pairOf("127.0.0.1"), pairOf("127.0.0.1")]))
      for (const [name, text] of [
        ["ca.pem", own.cert],
        ["cert.pem", own.cert],
        ["key.pem", own.key]
      ] as const)
        yield* Effect.promise(() => writeFile(join(directory, name), text))
      const plain = yield* Effect.promise(() => portOf(createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))))
      expect(yield* reasonOf(`tcp://127.0.0.1:${plain}`, directory)).toMatch(/^the version cannot be read: .*(?:SSL|TLS|packet)/i)
      const foreign = yield* Effect.promise(() => portOf(createTlsServer({ cert: other.cert, key: other.key })))
      expect(yield* reasonOf(`tcp://127.0.0.1:${foreign}`, directory)).toMatch(/certificate/)
    })
  )

  it.live("a host of SSH that does not let in, and a machine without SSH", () =>
    Effect.gen(function* () {
      yield* withSsh('echo "Host key verification failed." >&2; exit 255')
      expect(yield* reasonOf("ssh://dev@build.example.com")).toBe("the version cannot be read: Host key verification failed.")
      process.env["PATH"] = "/nonexistent"
      expect(yield* reasonOf("ssh://dev@build.example.com")).toMatch(/ssh cannot be started/)
    })
  )
})

describe.skipIf(daemon === undefined)(`a real daemon answers${skipped}`, () => {
  const socketPath = (daemon ?? "").replace("unix://", "")

  it.live("through TLS with a certificate of the client", () =>
    Effect.gen(function* () {
      const authority = yield* Effect.promise(() => pairOf("authority.test"))
      const [server, client] = yield* Effect.promise(() => Promise.all([pairOf("127.0.0.1", authority), pairOf("client.test", authority)]))
      for (const [name, text] of [
        ["ca.pem", authority.cert],
        ["cert.pem", client.cert],
        ["key.pem", client.key]
      ] as const)
        yield* Effect.promise(() => writeFile(join(directory, name), text))
      const options = { cert: server.cert, key: server.key, ca: authority.cert, requestCert: true, rejectUnauthorized: true }
      const front = createTlsServer(options, (socket) => {
        const inner = connect(socketPath)
        socket.on("error", () => inner.destroy())
        inner.on("error", () => socket.destroy())
        socket.pipe(inner).pipe(socket)
      })
      const port = yield* Effect.promise(() => portOf(front))
      const version = yield* Effect.promise(() => docker("version", "--format", "{{.Server.Version}}"))
      expect(yield* versionAt(`tcp://127.0.0.1:${port}`, directory)).toStrictEqual(Either.right(version))
    })
  )

  it.live("through SSH, which is given the host and the port as they are written", () =>
    Effect.gen(function* () {
      yield* withSsh(`printf '%s\\n' "$@" > ${directory}/arguments; exec docker --host ${daemon} system dial-stdio`)
      const version = yield* Effect.promise(() => docker("version", "--format", "{{.Server.Version}}"))
      expect(yield* versionAt("ssh://dev@build.example.com:2222")).toStrictEqual(Either.right(version))
      const given = yield* Effect.promise(() => readFile(join(directory, "arguments"), "utf8"))
      expect(given.split("\n")).toEqual(expect.arrayContaining(["BatchMode=yes", "2222", "--", "dev@build.example.com"]))
    })
  )
})
