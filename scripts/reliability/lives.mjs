// What kill -9 costs workspaces of an engine: they are created, stopped, started and deleted without pause while the server is killed again and again.
import { builds, workspaces } from "@atelier/client"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { importTemplate, signUp, startServer } from "./server.mjs"

/** Answers undefined for a call that was cut off: it may have been carried out, so the caller looks what is there. */
const tried = (answer) => answer.catch(() => undefined)
const hasEnded = ({ job }) => !["pending", "running", "canceling"].includes(job.status)

/** How workspaces live until `load.isOver`: what becomes of them is noted in `ends`, `accepted` and `ids`. */
const livesOf = ({ load, ends, accepted, ids }) => {
  const untilEnded = async (client, id) => {
    while (!load.isOver) {
      const workspace = await tried(workspaces.getWorkspace(client, { workspace: id, include_deleted: true }))
      if (workspace !== undefined && hasEnded(workspace.latest_build)) {
        ends.set(workspace.latest_build.id, workspace.latest_build.job.completed_at)
        return workspace
      }
      await sleep(50)
    }
  }

  /** Lets workspaces live, one after the other. */
  const keepLiving = async (client, template, slot) => {
    for (let number = 0; !load.isOver; number++) {
      const name = `w${slot}-${number}`
      let id
      while (id === undefined && !load.isOver) {
        const made = await tried(workspaces.createWorkspace(client, { user: "me", body: { name, template_id: template } }))
        const found = made ?? (await tried(workspaces.getWorkspaceByName(client, { user: "me", workspacename: name })))
        id = found?.id
        if (made !== undefined) accepted.add(made.latest_build.id)
        if (id === undefined) await sleep(50)
      }
      if (id === undefined) return
      ids.add(id)
      for (const transition of ["stop", "start", "delete"]) {
        let asked
        for (;;) {
          const workspace = await untilEnded(client, id)
          if (workspace === undefined) return
          if (workspace.latest_build.transition === transition) break
          asked = await tried(builds.createWorkspaceBuild(client, { workspace: id, body: { transition } }))
          if (asked !== undefined) accepted.add(asked.id)
        }
      }
    }
  }

  return { untilEnded, keepLiving }
}

/**
 * Kills a server with these options so many times, each up to `lifetime` milliseconds after its start, while `count` workspaces live. `sources` are the
 * files of templates by name. `found` tells what the engine has of a workspace, and `expected` what it has to have of one that runs; `left` tells what it has
 * of all, once they are deleted. Writes the figures and `notes`, and returns whether all was well.
 */
export const killBuilds = async ({
  url,
  options,
  kills,
  count,
  lifetime,
  sources,
  found,
  expected,
  left,
  notes = async () => [],
  title
}) => {
  const load = { isOver: false }
  /** When builds ended, as first seen, by id: a job that runs again ends again. */
  const ends = new Map()
  /** Builds whose creation was answered, by id. */
  const accepted = new Set()
  /** All workspaces that there may be. */
  const ids = new Set()

  const { keepLiving, untilEnded } = livesOf({ load, ends, accepted, ids })
  let server = await startServer(options)
  const kill = async () => {
    server.removeAllListeners("exit")
    const gone = once(server, "exit")
    server.kill("SIGKILL")
    await gone
  }
  try {
    const { client } = await signUp(url)
    const made = []
    for (const [name, files] of Object.entries(sources)) made.push((await importTemplate(client, name, files)).id)
    const living = Array.from({ length: count }, (_, slot) => keepLiving(client, made[slot % made.length], slot))
    const started = performance.now()
    for (let index = 0; index < kills; index++) {
      // A server that starts needs half a second
      await sleep(500 + Math.random() * (lifetime - 500))
      await kill()
      server = await startServer(options)
    }
    const killed = performance.now()
    load.isOver = true
    await Promise.all(living)
    const all = []
    for (const workspace of ids)
      for (;;) {
        const some = await builds.listWorkspaceBuilds(client, { workspace, limit: 0 })
        if (some.every(hasEnded)) {
          all.push(...some)
          break
        }
        await sleep(200)
      }
    const settled = performance.now()
    const isGivenUp = ({ job }) => job.status === "failed" && /its server was lost \d+ times/.test(job.error)
    const wrong = []
    let unswept = 0
    for (const id of ids) {
      const { latest_build } = await workspaces.getWorkspace(client, { workspace: id, include_deleted: true })
      const there = await found(id)
      const wanted = latest_build.status === "running" ? expected(id, latest_build.id) : []
      if (isGivenUp(latest_build)) unswept += there.length
      else if (JSON.stringify(there) !== JSON.stringify(wanted))
        wrong.push(`${id} (${latest_build.status}): ${there.join(", ") || "nothing"}`)
      if (latest_build.transition !== "delete") await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "delete" } })
    }
    load.isOver = false
    for (const id of ids) await untilEnded(client, id)
    load.isOver = true
    const remains = await left()
    const givenUp = all.filter(isGivenUp).length
    const errors = [...new Set(all.map(({ job }) => job.error).filter(Boolean))]
    const succeeded = all.filter(({ job }) => job.status === "succeeded").length
    const there = new Set(all.map(({ id }) => id))
    const lost = [...accepted].filter((id) => !there.has(id)).length
    const again = all.filter(({ id, job }) => ends.has(id) && ends.get(id) !== job.completed_at).length
    process.stdout.write(
      [
        `${kills} kills in ${((killed - started) / 1000).toFixed(0)} s, ${ids.size} workspaces, ${title}`,
        `${all.length} builds, ${succeeded} succeeded, ${givenUp} given up; lost: ${lost}, ended twice: ${again}`,
        `errors: ${errors.length === 0 ? "none" : errors.join("; ")}`,
        `workspaces with other objects than theirs: ${wrong.length === 0 ? "none" : wrong.join("; ")}`,
        `objects of builds that were given up, which the next sweep removes: ${unswept}`,
        `left after the deletes: ${remains.length === 0 ? "nothing" : remains.join(", ")}`,
        ...(await notes()),
        `from the last start to the end of the last build: ${((settled - killed) / 1000).toFixed(1)} s`,
        ""
      ].join("\n")
    )
    return succeeded + givenUp === all.length && lost + again + wrong.length + remains.length === 0
  } finally {
    load.isOver = true
    await kill()
  }
}
