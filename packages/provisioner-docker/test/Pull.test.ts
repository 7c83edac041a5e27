/** Images that a real Docker daemon pulls, from a registry that asks for a login. */
import { Duration, Effect, Either } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ImageRegistry, startImageRegistry } from "../../../test/outside/imageRegistry.js"
import { parse } from "../src/DaemonAddress.js"
import { make } from "../src/DockerDaemon.js"
import { makeImages } from "../src/Images.js"
import { daemon, docker, skipped } from "./daemon.js"

/** Layers that no daemon has from elsewhere. */
const layer = (name: string) => ({ [name]: `${name} of ${process.pid}\n` })

describe.skipIf(daemon === undefined)(`pulls of images${skipped}`, { timeout: 60_000 }, () => {
  let registry: ImageRegistry
  let directory: string
  const pulled = new Set<string>()

  beforeAll(async () => {
    registry = await startImageRegistry("ada", "correct horse")
    directory = await mkdtemp(join(tmpdir(), "atelier-docker-pull-"))
  })
  afterAll(async () => {
    registry?.close()
    if (pulled.size > 0) await docker("rmi", "--force", ...pulled)
    await rm(directory, { recursive: true, force: true })
  })

  /** The configuration file of `docker login`. */
  const loginWith = async (password: string) => {
    const file = join(directory, `${password}.json`)
    await writeFile(file, JSON.stringify({ auths: { [registry.host]: { auth: Buffer.from(`ada:${password}`).toString("base64") } } }))
    return file
  }

  const pull = async (reference: string, registryConfig: string, when: "always" | "missing" = "missing") => {
    const lines: Array<string> = []
    const images = makeImages(make(Effect.runSync(parse(daemon, undefined))), {
      deployment: "pulls",
      registryConfig,
      pull: when,
      buildTimeout: Duration.minutes(1),
      largestBuild: undefined
    })
    const result = await Effect.runPromise(Effect.either(images.pulled(reference, (line) => Effect.sync(() => void lines.push(line)))))
    if (Either.isRight(result)) pulled.add(result.right.id)
    return { lines, image: Either.getOrUndefined(result), failure: Either.isLeft(result) ? result.left.message : undefined }
  }

  it("say a line for each state of each layer, and know the image's user and digest", async () => {
    const digest = await registry.push("team/app", "1", [layer("first"), layer("second")])
    const reference = `${registry.host}/team/app:1`
    const { image, lines } = await pull(reference, await loginWith("correct horse"))
    expect(image).toMatchObject({ reference, digest, user: "1000", env: ["PATH=/bin"] })
    expect(lines[0]).toBe(`Pulling the image ${reference}.`)
    const complete = lines.flatMap((line) => /^([0-9a-f]{12}): Pull complete$/.exec(line)?.[1] ?? [])
    expect(new Set(complete).size).toBe(2)
    expect(new Set(lines).size).toBe(lines.length)
    expect(lines.join("\n")).toContain(`Digest: ${digest}`)
    // It is there now
    expect((await pull(reference, "/nonexistent")).lines).toStrictEqual([])
  })

  it("fail with what the registry says, without the password", async () => {
    const { failure, lines } = await pull(`${registry.host}/team/other:1`, await loginWith("hunter2"))
    expect(failure).toMatch(/^the image localhost:\d+\/team\/other:1 cannot be pulled: .*(?:unauthorized|authentication|basic auth)/i)
    expect([failure, ...lines].join("\n")).not.toContain("hunter2")
    const missing = await pull(`${registry.host}/team/none:1`, await loginWith("correct horse"))
    expect(missing.failure).toMatch(/team\/none:1 cannot be pulled: .*(?:not found|unknown)/)
  })

  it("ask for a newer image of the same name where the operator wants it", async () => {
    const file = await loginWith("correct horse")
    const reference = `${registry.host}/team/moving:latest`
    await registry.push("team/moving", "latest", [layer("old")])
    const old = await pull(reference, file)
    const digest = await registry.push("team/moving", "latest", [layer("new")])
    expect((await pull(reference, file)).image?.id).toBe(old.image?.id)
    expect((await pull(reference, file, "always")).image).toMatchObject({ digest })
  })
})
