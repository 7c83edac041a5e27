import { expect, it } from "vitest"
import { describeInterface } from "../../../../test/http/server.js"

describeInterface("profiles of the process", (server) => {
  const statuses = async (token: string | undefined, calls: ReadonlyArray<readonly ["GET" | "POST", string]>) => {
    const found: Array<number> = []
    for (const [method, path] of calls) {
      const answer = await server().call(method, path, token === undefined ? {} : { token })
      found.push(answer.status)
    }
    return found
  }

  it("are for those who may read what the service tells of itself", async () => {
    const calls = [
      ["GET", "/debug/expvar"],
      ["GET", "/debug/pprof/"],
      ["GET", "/debug/pprof/cmdline"],
      ["GET", "/debug/pprof/symbol"],
      ["GET", "/debug/pprof/heap?seconds=x"],
      ["GET", "/debug/pprof/profile?seconds=x"],
      ["POST", "/debug/profile?duration=x"]
    ] as const
    const { token } = await server().aMember()
    expect(await statuses(undefined, calls)).toStrictEqual(calls.map(() => 401))
    expect(await statuses(token, calls)).toStrictEqual(calls.map(() => 403))
    expect(await statuses(server().owner().token, calls)).toStrictEqual([200, 200, 200, 200, 400, 400, 400])
  })

  it.each(["duration=x", "duration=-1s", "duration=0", "duration=10m", "duration=1ms&profiles=nope", "duration=1ms&profiles=cpu,nope"])(
    "are refused with %s",
    async (query) => {
      expect(await statuses(server().owner().token, [["POST", `/debug/profile?${query}`]])).toStrictEqual([400])
    }
  )

  it("are taken one at a time", async () => {
    const { token } = server().owner()
    const ask = () => server().call("POST", "/debug/profile?duration=300ms&profiles=heap", { token })
    const both = await Promise.all([ask(), ask()])
    expect(both.map(({ status }) => status).toSorted()).toStrictEqual([200, 409])
    expect(both.find(({ status }) => status === 200)?.headers.get("content-type")).toBe("application/gzip")
  })

  it("tell nothing of the arguments that the program was started with", async () => {
    const { token } = server().owner()
    const texts = await Promise.all(
      ["/debug/expvar", "/debug/pprof/cmdline"].map((path) =>
        server()
          .call("GET", path, { token })
          .then(({ text }) => text)
      )
    )
    for (const argument of process.argv.slice(1)) for (const text of texts) expect(text).not.toContain(argument)
  })

  it("are linked from a page, whose address ends with a slash", async () => {
    const { token } = server().owner()
    expect(await statuses(token, [["GET", "/debug/pprof"]])).toStrictEqual([307])
  })
})
