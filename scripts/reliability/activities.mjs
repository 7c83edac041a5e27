// What users do while processes are killed: each activity goes on without pause, keeps what was acknowledged, and says afterwards what of it is lost.
import { builds, files, inbox, notifications, processes, provisioning, workspaces } from "@atelier/client"
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { buffer } from "node:stream/consumers"
import { pack } from "tar-stream"
import { agentOf } from "./targets.mjs"

/** Runs a step without pause until the load is over. A step that is cut off may have been carried out. */
export const keepDoing = async (load, step) => {
  const counts = { done: 0, cutOff: 0 }
  while (!load.isOver) {
    try {
      await step()
      counts.done += 1
    } catch {
      counts.cutOff += 1
      await sleep(100)
    }
  }
  return counts
}

/** Uploads archives. Each that was accepted has to be there. */
export const uploads = (client) => {
  const accepted = []
  return {
    name: "uploads",
    run: (load) =>
      keepDoing(load, async () => {
        const archive = pack()
        archive.entry({ name: "content" }, randomBytes(200_000))
        archive.finalize()
        const { hash } = await provisioning.uploadFile(client, { contentType: "application/x-tar", body: await buffer(archive) })
        accepted.push(hash)
        // A user may upload twelve a minute
        await sleep(5_000)
      }),
    lost: async () => {
      let lost = 0
      for (const fileID of accepted) if (!(await there(() => provisioning.downloadFile(client, { fileID })))) lost += 1
      return lost
    }
  }
}

/** Whether a call is answered, and not refused. */
const there = (call) =>
  call().then(
    () => true,
    () => false
  )

/** Runs commands beside the agents of workspaces. Each has to answer what it was asked for. */
export const commands = (client, ids) => {
  let wrong = 0
  return {
    name: "commands",
    run: (load) =>
      keepDoing(load, async () => {
        const word = randomBytes(8).toString("hex")
        const workspaceagent = await agentOf(client, ids[Math.floor(Math.random() * ids.length)])
        const { exit_code, stdout } = await processes.exec(client, { workspaceagent, body: { command: `echo ${word}` } })
        if (exit_code !== 0 || stdout !== `${word}\n`) wrong += 1
        await sleep(200)
      }),
    lost: async () => wrong
  }
}

/** Writes files beside an agent. Each that was accepted has to be there, whole. */
export const writtenFiles = (client, id) => {
  const accepted = new Map()
  let number = 0
  return {
    name: "files",
    run: (load) =>
      keepDoing(load, async () => {
        const [path, body] = [`kept-${number++}`, randomBytes(50_000)]
        await files.writeFile(client, { workspaceagent: await agentOf(client, id), path, contentType: "application/octet-stream", body })
        accepted.set(path, body)
        await sleep(100)
      }),
    lost: async () => {
      let lost = 0
      const workspaceagent = await agentOf(client, id)
      for (const [path, body] of accepted) {
        const read = await files.readFile(client, { workspaceagent, path }).then(
          (response) => Buffer.from(response),
          (error) => error
        )
        if (read instanceof Error || !read.equals(body)) {
          lost += 1
          process.stderr.write(`${path}: ${read instanceof Error ? read.message : "has another content"}\n`)
        }
      }
      return lost
    }
  }
}

/** Sends notifications. Each that was accepted has to reach the inbox. */
export const notices = (client) => {
  const accepted = []
  return {
    name: "notifications",
    run: (load) =>
      keepDoing(load, async () => {
        const title = randomBytes(8).toString("hex")
        await notifications.sendCustomNotification(client, { body: { content: { title, message: "A message." } } })
        accepted.push(title)
        await sleep(500)
      }),
    lost: async () => {
      // A message of a killed server is taken over when its lease has ended
      const deadline = Date.now() + 180_000
      for (;;) {
        const titles = new Set(await titlesOf(client))
        const missing = accepted.filter((title) => !titles.has(title)).length
        if (missing === 0 || Date.now() > deadline) return missing
        await sleep(1_000)
      }
    }
  }
}

const titlesOf = async (client) => {
  const titles = []
  let starting_before
  for (;;) {
    const { notifications: page } = await inbox.listInboxNotifications(client, starting_before === undefined ? {} : { starting_before })
    if (page.length === 0) return titles
    titles.push(...page.map(({ title }) => title))
    starting_before = page.at(-1).id
  }
}

/** Answers undefined where there is nothing. */
const orGone = (error) => {
  if (error.status !== 404) throw error
}

/** Claims prebuilt workspaces and deletes them. Each that was accepted has to belong to its claimer, once. */
export const claims = (client, { template_version_id, template_version_preset_id }) => {
  const accepted = new Map()
  let number = 0
  /** The name of the claim that was made last, as long as it may be there. */
  let last
  return {
    name: "claims",
    run: (load) =>
      keepDoing(load, async () => {
        await sleep(1_000)
        if (last !== undefined) {
          // Refused while a build goes on
          const found = await workspaces.getWorkspaceByName(client, { user: "me", workspacename: last }).catch(orGone)
          if (found !== undefined) await builds.createWorkspaceBuild(client, { workspace: found.id, body: { transition: "delete" } })
        }
        last = `claimed-${number++}`
        const body = { name: last, template_version_id, template_version_preset_id }
        const { id } = await workspaces.createWorkspace(client, { user: "me", body })
        accepted.set(id, last)
      }),
    lost: async () => {
      let lost = 0
      for (const [workspace, name] of accepted) {
        const found = await workspaces.getWorkspace(client, { workspace, include_deleted: true }).catch(() => undefined)
        if (found?.name !== name || found.owner_name !== "ada") lost += 1
      }
      return lost
    }
  }
}
