import { expect, it } from "vitest"
import { describeAgents } from "../agents/AgentServer.js"
import { link } from "../network/linkedAgents.js"

describeAgents("a command", (server) => {
  it("answers how it ended and what it wrote", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { token } = server().owner()
    const exec = (body: object) => server().call("POST", `/workspaceagents/${agent.id}/exec`, { token, body })
    expect(await exec({ program: "sh", args: ["-c", "cat; echo err >&2; exit 3"], stdin: "in" })).toMatchObject({
      status: 200,
      body: { exit_code: 3, signal: null, stdout: "in", stderr: "err\n", stdout_truncated: false, timed_out: false }
    })
    expect(await exec({ command: "echo $GREETING; kill -9 $$", env: { GREETING: "hello" } })).toMatchObject({
      status: 200,
      body: { exit_code: null, signal: "SIGKILL", stdout: "hello\n" }
    })
  })

  it("is refused by an agent that does not know such streams", async () => {
    const agent = await server().anAgent()
    const { token } = server().owner()
    const exec = () => server().call("POST", `/workspaceagents/${agent.id}/exec`, { token, body: { program: "true" } })
    expect(await exec()).toMatchObject({
      status: 404,
      body: { message: "The workspace's agent is connecting, and must be connected." }
    })
    await link(server(), agent, "?role=agent&streams=1")
    expect(await exec()).toMatchObject({ status: 409, body: { message: expect.stringContaining("cannot run commands") } })
  })
})
