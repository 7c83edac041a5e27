// What lasts longer than a call while processes are killed: SSH sessions, processes whose output is followed, tasks, and logs of builds. Each has the form of an activity.
import { builds, processes, tasks, templates, templateVersions, workspaces } from "@atelier/client"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { text } from "node:stream/consumers"
import ssh2 from "ssh2"
import { createWebSocketStream, WebSocket } from "ws"
import { keepDoing } from "./activities.mjs"
import { agentOf } from "./targets.mjs"

/** Lines of a session, each a tenth of a second after the one before. */
const lines = 12
const counting = (word) => `for i in $(seq ${lines}); do echo ${word}-$i; sleep 0.1; done`
const counted = (word) => Array.from({ length: lines }, (_, index) => `${word}-${index + 1}\n`).join("")
const aWord = () => randomBytes(8).toString("hex")

const pick = (items) => items[Math.floor(Math.random() * items.length)]

/** Runs commands over SSH. A session that tells the end of its command has to have shown all of its output. */
export const sshSessions = (client, { url, token, ids }) => {
  let wrong = 0
  return {
    name: "SSH sessions",
    run: (load) =>
      keepDoing(load, async () => {
        const word = aWord()
        const address = `${url.replace("http", "ws")}/api/v2/workspaceagents/${await agentOf(client, pick(ids))}/ssh`
        const socket = new WebSocket(address, { headers: { "service-session-token": token }, perMessageDeflate: false })
        const stream = createWebSocketStream(socket)
        const connection = new ssh2.Client()
        // An error after the end of the session must not end this process
        for (const source of [socket, stream, connection]) source.on("error", () => {})
        try {
          const ended = new Promise((_, reject) => {
            for (const source of [socket, connection])
              for (const event of ["error", "close"]) source.once(event, () => reject(new Error("cut off")))
          })
          ended.catch(() => {})
          connection.connect({ sock: stream, username: "kills", readyTimeout: 30_000 })
          await Promise.race([once(connection, "ready"), ended])
          const channel = await Promise.race([
            new Promise((resolve, reject) => connection.exec(counting(word), (error, opened) => (error ? reject(error) : resolve(opened)))),
            ended
          ])
          let code
          channel.once("exit", (given) => (code = given))
          channel.stderr.resume()
          const shown = await Promise.race([text(channel), ended])
          if (code === undefined || code === null) throw new Error("cut off")
          if (code !== 0 || shown !== counted(word)) wrong += 1
        } finally {
          connection.end()
          socket.terminate()
        }
      }),
    lost: async () => wrong
  }
}

/** Follows the output of processes that go on without a server. Unless its agent was killed, all of it has to come. */
export const followedProcesses = (client, ids) => {
  const { sandboxes } = client
  let wrong = 0
  return {
    name: "followed processes",
    run: (load) =>
      keepDoing(load, async () => {
        const word = aWord()
        const sandbox = await sandboxes.get(pick(ids))
        const child = await sandbox.spawn(counting(word))
        const shown = await text(child.stdout)
        const { exitCode } = await child.wait()
        if (exitCode !== 0 || shown !== counted(word)) wrong += 1
        await child.delete()
      }),
    lost: async () => wrong
  }
}

/** Sends messages to a task, whose worker runs each as a command. Each that was accepted has to have run once, and no other twice. */
export const taskMessages = (client, { id, workspace }) => {
  const accepted = new Set()
  const task = { user: "me", task: id }
  const asked = async () => {
    const body = { program: "cat", args: ["ran"] }
    const { stdout } = await processes.exec(client, { workspaceagent: await agentOf(client, workspace), body })
    return stdout.split("\n").filter(Boolean)
  }
  return {
    name: "messages to a task",
    run: (load) =>
      keepDoing(load, async () => {
        const word = aWord()
        await tasks.sendTaskMessage(client, { ...task, body: { input: `echo ${word} >> ran` } })
        accepted.add(word)
        await sleep(200)
      }),
    lost: async () => {
      while ((await tasks.getTask(client, task)).status !== "active") await sleep(200)
      // The worker runs one after the other
      for (;;) {
        const sent = await tasks.sendTaskMessage(client, { ...task, body: { input: "true" } }).then(
          () => true,
          () => false
        )
        if (sent) break
        await sleep(200)
      }
      const ran = await asked()
      const lost = [...accepted].filter((word) => !ran.includes(word)).length
      return lost + ran.length - new Set(ran).size
    }
  }
}

/** A task of the starter template, once it takes messages. */
export const aTask = async (client) => {
  const { id: template_version_id } = await templateVersions.createTemplateVersion(client, {
    organization: "default",
    body: { storage_method: "file", provisioner: "terraform", example_id: "task" }
  })
  for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion: template_version_id }));
  await templates.createTemplate(client, { organization: "default", body: { name: "task", template_version_id } })
  const { id, workspace_id } = await tasks.createTask(client, { user: "me", body: { template_version_id, input: "true" } })
  while ((await tasks.getTask(client, { user: "me", task: id })).status !== "active") await sleep(200)
  return { id, workspace: workspace_id.uuid }
}

/** Follows the logs of a workspace's builds. What was shown has to be what is stored. */
export const followedLogs = (client, workspace) => {
  let wrong = 0
  return {
    name: "followed logs of builds",
    run: (load) =>
      keepDoing(load, async () => {
        const { latest_build } = await workspaces.getWorkspace(client, { workspace })
        if (latest_build.job.completed_at === undefined) return sleep(100)
        const transition = latest_build.transition === "start" ? "stop" : "start"
        const { id: workspacebuild } = await builds.createWorkspaceBuild(client, { workspace, body: { transition } })
        const shown = []
        for await (const line of builds.followWorkspaceBuildLogs(client, { workspacebuild })) shown.push(line.id)
        const stored = (await builds.getWorkspaceBuildLogs(client, { workspacebuild })).map(({ id }) => id)
        if (shown.length === 0 || shown.join() !== stored.join()) wrong += 1
      }),
    lost: async () => wrong
  }
}
