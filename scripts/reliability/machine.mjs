// What happens to the machine of a server: its clock jumps, and its disk is full. Nothing is killed.
import { execFileSync } from "node:child_process"
import { chmod, mkdir, open, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

const hour = 3_600_000

/** A clock of a server, which jumps an hour ahead and back, in turns. */
export const aClock = async (folder) => {
  const file = join(folder, "clock")
  await writeFile(file, "0")
  let ahead = 0
  return {
    name: "clock",
    environment: {
      ATELIER_TEST_CLOCK: file,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --require ${fileURLToPath(new URL("jumpingClock.cjs", import.meta.url))}`
    },
    restart: async () => {
      // Ahead of the machine, back, behind it, and back
      ahead = ahead === 0 ? (Math.random() < 0.5 ? hour : -hour) : 0
      await writeFile(file, String(ahead))
      await sleep(2_000)
    },
    end: async () => {}
  }
}

/** Bytes of a small disk: an empty PostgreSQL takes 60 MiB, and its log as much. */
const size = "400m"

const fill = async (path) => {
  const file = await open(path, "a")
  try {
    for (let block = Buffer.alloc(1024 * 1024); block.length > 0;) {
      const written = await file.write(block).catch(() => undefined)
      if (written === undefined) block = block.subarray(0, block.length >> 1)
    }
  } finally {
    await file.close()
  }
}

/**
 * A small disk for a database, which only the superuser may mount. It is full for some seconds. `told` notes what `ask` answers meanwhile, and `afterwards` runs once
 * there is room again.
 */
export const aDisk = async (folder) => {
  const path = join(folder, "disk")
  await mkdir(path)
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path])
  await chmod(path, 0o777)
  return {
    path,
    unmount: () => execFileSync("umount", [path]),
    target: (ask, afterwards) => {
      const told = new Map()
      return {
        name: "disk",
        told,
        restart: async () => {
          const filling = join(path, "filling")
          await fill(filling)
          const until = performance.now() + 2_000 + Math.random() * 6_000
          while (performance.now() < until) {
            // What is deleted meanwhile makes room
            await fill(filling)
            const answer = await ask()
            told.set(answer, (told.get(answer) ?? 0) + 1)
            await sleep(200)
          }
          await rm(filling)
          await afterwards()
        },
        end: async () => {}
      }
    }
  }
}
