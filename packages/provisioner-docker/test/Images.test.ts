/** What holds the builds of images at a real Docker daemon. */
import { Duration, Effect, Either } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse } from "../src/DaemonAddress.js"
import { make } from "../src/DockerDaemon.js"
import { type ImageOptions, makeImages } from "../src/Images.js"
import { daemon, docker, giveImage, removeAll, skipped } from "./daemon.js"

const deployment = `images-${process.pid}`

describe.skipIf(daemon === undefined)(`builds of images${skipped}`, { timeout: 120_000 }, () => {
  beforeAll(() => giveImage("static", "test-static:1"), 60_000)
  afterAll(() => removeAll(deployment))

  const built = async (steps: string, options: Partial<ImageOptions> = {}) => {
    const lines: Array<string> = []
    const images = makeImages(make(Effect.runSync(parse(daemon, undefined))), {
      deployment,
      registryConfig: "/nonexistent",
      pull: "missing",
      buildTimeout: Duration.minutes(1),
      largestBuild: undefined,
      ...options
    })
    const bytes = new TextEncoder().encode(`FROM test-static:1\n${steps}\n`)
    const result = await Effect.runPromise(
      Effect.either(
        images.built(
          { _tag: "Build", context: "", dockerfile: "Dockerfile", arguments: {} },
          { source: new Map([["Dockerfile", { bytes, mode: 0o644 }]]), network: "none", cpus: 0.5, memory: 64 * 2 ** 20 },
          (line) => Effect.sync(() => void lines.push(line))
        )
      )
    )
    return { lines, failure: Either.isLeft(result) ? result.left.message : undefined }
  }

  it("have the memory, the cores and the network of their container", async () => {
    const { failure, lines } = await built(
      "RUN cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us memory.max cpu.max 2>/dev/null; ls /sys/class/net; true"
    )
    expect(failure).toBeUndefined()
    expect(lines).toEqual(expect.arrayContaining([String(64 * 2 ** 20), expect.stringMatching(/^50000/), "lo"]))
    expect(lines.filter((line) => /^(?:eth|docker|br)/.test(line))).toStrictEqual([])
    const greedy = await built("RUN x=0123456789abcdef; while :; do x=$x$x; done")
    expect(greedy.failure).toMatch(/returned a non-zero code: 137$/)
  })

  it("end after their time, with their step", async () => {
    const step = `sleep 1000.${process.pid}`
    expect((await built(`RUN ${step}`, { buildTimeout: Duration.seconds(3) })).failure).toBe("the image cannot be built within 3s")
    await expect.poll(() => docker("ps", "--all", "--no-trunc", "--format", "{{.Command}}")).not.toContain(step)
  })

  it("fail with an image that is too large, and leave none", async () => {
    const large = await built("RUN head -c 20000000 /dev/zero > /large", { largestBuild: 10 * 2 ** 20 })
    expect(large.failure).toMatch(/^the image has \d+ MiB, more than the operator's maximum of 10 MiB \(image\)$/)
    expect(await docker("images", "--quiet", "--filter", `label=atelier.dev/deployment=${deployment}`)).not.toMatch(/\n.*\n/)
    const step = "RUN head -c 20000001 /dev/zero > /large"
    expect((await built(step)).failure).toBeUndefined()
    expect((await built(step, { largestBuild: 10 * 2 ** 20 })).failure).toMatch(/^the image has \d+ MiB, more than/)
  })
})
