/** The files of `deploy` are what they promise. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { root } from "./foreignProject.js"

const run = promisify(execFile)
const hasSystemd = await run("systemd-analyze", ["--version"]).then(
  ({ stdout }) => Number(/^systemd (\d+)/.exec(stdout)?.[1]) >= 250,
  () => false
)

it.skipIf(!hasSystemd)("systemd rates the exposure of the service at 2.0 at most", async () => {
  const unit = join(root, "deploy/systemd/atelier.service")
  const { stdout } = await run("systemd-analyze", ["security", "--offline=true", "--threshold=20", "--no-pager", unit])
  expect(stdout).toContain("Overall exposure level for atelier.service")
})
