/** The images of `deploy/Dockerfile`, built and run at a real Docker daemon, whose address is in `ATELIER_TEST_DOCKER_HOST`. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { freePort } from "../packages/atelier/test/Server.js"
import { root } from "./foreignProject.js"

const host = process.env["ATELIER_TEST_DOCKER_HOST"]
const skipped = host === undefined ? "; skipped: ATELIER_TEST_DOCKER_HOST names no daemon" : ""
const run = promisify(execFile)

const docker = async (...args: ReadonlyArray<string>): Promise<string> =>
  (await run("docker", ["--host", host ?? "", ...args], { maxBuffer: 16 * 1024 ** 2 })).stdout.trim()

const name = `atelier-image-test-${process.pid}`
const base = `${name}-base`

/** Builds both images, which have the name as their version. The builder makes all stages on its way to the server's. */
const build = async (): Promise<void> => {
  const options = ["BUILD_BASE", "BASE"].flatMap((argument) => ["--build-arg", `${argument}=${base}`])
  const building = spawn("docker", ["--host", host ?? "", "build", "--quiet", ...options, "--build-arg", `VERSION=${name}`, "-"], {
    stdio: ["pipe", "ignore", "inherit"],
    env: { ...process.env, DOCKER_BUILDKIT: "0" }
  })
  const built = once(building, "exit")
  const packing = spawn(process.execPath, [join(root, "deploy/image/files.mjs")], { stdio: ["ignore", "pipe", "inherit"] })
  await pipeline(packing.stdout, building.stdin)
  expect(await built).toStrictEqual([0, null])
}

const labels = "org.opencontainers.image"
/** Ids of the images that the build made, with a title if one is given. */
const imagesOf = async (title?: string): Promise<ReadonlyArray<string>> => {
  const filters = [`${labels}.version=${name}`, ...(title === undefined ? [] : [`${labels}.title=${title}`])]
  const ids = await docker("images", "--quiet", ...filters.flatMap((filter) => ["--filter", `label=${filter}`]))
  return ids.split("\n").filter((id) => id !== "")
}

describe.skipIf(host === undefined)(`the images${skipped}`, { timeout: 300_000 }, () => {
  let server: string
  let agent: string
  beforeAll(async () => {
    await run(join(root, "test/machines/docker.sh"), ["image", host ?? "", base])
    await build()
    const images = await Promise.all(["Atelier", "Atelier agent"].map(imagesOf))
    ;[server = "", agent = ""] = images.flat()
  }, 300_000)

  afterAll(async () => {
    const left = await docker("ps", "--all", "--quiet", "--filter", `label=${name}`)
    if (left !== "") await docker("rm", "--force", "--volumes", ...left.split("\n"))
    await docker("rmi", "--force", ...(await imagesOf()), base)
  })

  it("the server runs as a user without rights on a root that it cannot write, is healthy, and ends with SIGTERM", async () => {
    const port = await freePort()
    const place = ["--network", "host", "--label", name, "--env", `ATELIER_HTTP_ADDRESS=127.0.0.1:${port}`]
    const bounds = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    const id = await docker("run", "--detach", ...place, ...bounds, "--health-interval", "1s", server)
    const health = () => docker("inspect", "--format", "{{.State.Status}} {{.State.Health.Status}}", id)
    const state = await vi.waitUntil(async () => [await health()].find((text) => text !== "running starting"), {
      timeout: 60_000,
      interval: 200
    })
    expect(state, await docker("logs", id)).toBe("running healthy")
    expect(await docker("exec", id, "id", "-u")).toBe("10001")
    expect(await docker("exec", id, "sh", "-c", "touch /opt/atelier/x 2>&1 || true")).toContain("Read-only file system")

    const log = await docker("logs", id)
    expect(log).toContain("/setup?token=")
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/buildinfo`)
    expect(answer.status).toBe(200)
    // What its libraries read beside the program
    for (const path of ["/setup", "/swagger/", "/bin/agent.mjs"])
      expect((await fetch(`http://127.0.0.1:${port}${path}`)).status, path).toBeLessThan(500)

    // The other words of the program, which the chart starts
    for (const word of ["proxy", "provisionerd"])
      expect(await docker("run", "--rm", "--network", "none", server, word, "--help")).toContain(word)

    await docker("stop", "--time", "60", id)
    expect(await docker("inspect", "--format", "{{.State.ExitCode}}", id)).toBe("0")
    expect(await docker("logs", id)).toContain("SIGTERM: finishing what is under way")
  })

  it("the agent's image starts its Node by its own loader, and copies itself into a volume as the init container does", async () => {
    const volume = ["--volume", `${name}:/run/atelier-runtime`]
    const node = ["/opt/atelier/lib/ld.so", "--library-path", "/opt/atelier/lib", "/opt/atelier/bin/node"]
    const copy = `require("node:fs").cpSync("/opt/atelier", "/run/atelier-runtime", { recursive: true, verbatimSymlinks: true })`
    try {
      await docker("run", "--rm", "--network", "none", "--user", "0", ...volume, agent, ...node, "-e", copy)
      const moved = node.map((word) => word.replace("/opt/atelier", "/run/atelier-runtime"))
      expect(await docker("run", "--rm", "--network", "none", ...volume, agent, ...moved, "--version")).toBe(process.version)
    } finally {
      await docker("volume", "rm", name)
    }
  })

  // A registry has them compressed, to two fifths
  it("are small: 150 MB for the server, and 80 MB for the agent", async () => {
    const size = async (image: string) => Number(await docker("image", "inspect", "--format", "{{.Size}}", image))
    expect(await size(server)).toBeLessThan(150e6 / 0.4)
    expect(await size(agent)).toBeLessThan(80e6 / 0.4)
  })
})
