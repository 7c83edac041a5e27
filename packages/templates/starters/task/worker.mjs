// Runs the messages of a task as commands, one after the other.
import { spawn } from "node:child_process"
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

const { PORT, SERVER, TASK_ID, TASK_PROMPT = "" } = process.env
const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const token = readFileSync(here("token"), "utf8").trim()

/** Characters that are kept of what one command prints. */
const maximumOutput = 16 * 1024
/** Bytes of a conversation that the server stores. */
const maximumSnapshot = 60 * 1024
/** Bytes of a request. */
const maximumRequest = 1024 * 1024

/** The conversation so far, and the prompt that began it; kept while the workspace is stopped. */
const load = () => {
  try {
    return JSON.parse(readFileSync(here("conversation.json"), "utf8"))
  } catch {
    return { prompt: "", messages: [] }
  }
}
const conversation = load()
const waiting = []
let isRunning = false

const tell = async (method, path, body) => {
  try {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const request = { method, headers, body: JSON.stringify(body) }
    const response = await fetch(`${SERVER}/api/v2/workspaceagents/me/${path}`, request)
    if (!response.ok) process.stderr.write(`${method} ${path}: ${response.status} ${await response.text()}\n`)
  } catch (error) {
    process.stderr.write(`${method} ${path}: ${error.message}\n`)
  }
}

const report = (state, message) =>
  tell("PATCH", "app-status", { app_slug: "worker", state, message: Array.from(message).slice(0, 40).join("") })

/** The newest messages that fit. */
const snapshot = () => {
  const messages = [...conversation.messages]
  while (Buffer.byteLength(JSON.stringify({ messages })) > maximumSnapshot) messages.shift()
  return { messages }
}

/** Adds a message, keeps the conversation on the disk, and has the server store it. */
const add = async (role, content) => {
  conversation.messages.push({ id: conversation.messages.length, role, content, time: new Date().toISOString() })
  writeFileSync(here("conversation.json.new"), JSON.stringify(conversation))
  renameSync(here("conversation.json.new"), here("conversation.json"))
  if (TASK_ID !== "") await tell("POST", `tasks/${TASK_ID}/log-snapshot?format=agentapi`, snapshot())
}

/** Runs a command of a shell and returns what it prints, and its exit code if that is not 0. */
const run = (command) =>
  new Promise((resolve) => {
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (output = (output + text).slice(-maximumOutput)))
    }
    child.on("error", (error) => resolve({ output: error.message, code: 1 }))
    child.on("close", (code) => resolve({ output: output.trimEnd(), code }))
  })

const work = async () => {
  if (isRunning) return
  isRunning = true
  while (waiting.length > 0) {
    const command = waiting.shift()
    await add("user", command)
    await report("working", command)
    const { code, output } = await run(command)
    await add("agent", code === 0 ? output : `${output}\n(ended with ${code})`.trimStart())
    await report(code === 0 ? "idle" : "failure", command)
  }
  isRunning = false
}

const answer = (response, status, value) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

createServer((request, response) => {
  const { method, url } = request
  if (method === "GET" && url === "/status") return answer(response, 200, { status: isRunning ? "running" : "stable" })
  if (method === "GET" && url === "/messages") return answer(response, 200, { messages: conversation.messages })
  if (method !== "POST" || url !== "/message") return answer(response, 404, { message: "There is no such page." })
  let text = ""
  request.setEncoding("utf8").on("data", (part) => {
    text += part
    if (text.length > maximumRequest) request.destroy()
  })
  request.on("end", () => {
    try {
      const { content } = JSON.parse(text)
      if (typeof content !== "string") throw new Error("content is no text")
      waiting.push(content)
      answer(response, 200, { ok: true })
      void work()
    } catch (error) {
      answer(response, 400, { message: error.message })
    }
  })
}).listen(Number(PORT), "127.0.0.1", () => process.stdout.write(`listening on port ${PORT}\n`))

// A prompt that was changed while the task was paused is a message like others
if (TASK_PROMPT.trim() !== "" && TASK_PROMPT !== conversation.prompt) {
  conversation.prompt = TASK_PROMPT
  waiting.push(TASK_PROMPT)
  void work()
}
