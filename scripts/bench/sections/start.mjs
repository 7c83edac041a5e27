// The standalone server: how soon it answers, and what it takes while nobody asks.
import { execFile } from "node:child_process"
import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { launch } from "../launch.mjs"

const attempts = 3

const residentBytes = async (pid) => Number((await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)])).stdout) * 1024

/** Milliseconds until the standalone server of a built checkout answers, and its resident bytes two seconds later. */
export const start = async (storage, directory, from) => {
  const begun = performance.now()
  const { answered, pid, stop } = await launch(storage, directory, { from })
  try {
    await answered()
    const milliseconds = performance.now() - begun
    await sleep(2000)
    return { milliseconds, bytes: await residentBytes(pid) }
  } finally {
    await stop()
  }
}

export const startUp = {
  title: "start of the standalone server",
  run: async ({ database, databases, report }) => {
    const storage = await databases.fresh(database.kind)
    const directory = await mkdtemp(join(databases.directory, "workspaces-"))
    const first = await start(storage, directory)
    const later = []
    for (let attempt = 1; attempt < attempts; attempt++) later.push(await start(storage, directory))
    const fastest = (runs) => Math.min(...runs.map(({ milliseconds }) => milliseconds)) / 1000
    const figure = { database: database.name }
    report.add({ ...figure, figure: "start to first answer, empty database", value: fastest([first]), unit: "s", target: { atMost: 1.5 } })
    report.add({ ...figure, figure: "start to first answer", value: fastest(later), unit: "s", target: { atMost: 1.5 } })
    report.add({
      ...figure,
      figure: "resident memory when idle",
      value: Math.max(...later.map(({ bytes }) => bytes)) / 1024 / 1024,
      unit: "MiB",
      target: { atMost: 160 }
    })
  }
}
