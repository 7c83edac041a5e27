import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { AgentMessages } from "@atelier/agent-protocol"
import { directoryOf, expandPath, variablesOf } from "../../src/environment/Environment.js"
import * as Place from "../../src/environment/Place.js"
import { aConfig, folder } from "../TestServer.js"

const url = new URL("https://dev.example.com/")

const aManifest = (more: Partial<AgentMessages.Manifest>): AgentMessages.Manifest => ({ ...AgentMessages.Manifest.zero(), ...more })

describe("a path", () => {
  it.each([
    ["~", "/home/ann"],
    ["~/project", "/home/ann/project"],
    ["$HOME/x", "/home/ann/x"],
    ["${PROJECTS}/x/../y", "/srv/y"],
    ["project", "/base/project"],
    ["/a/$UNKNOWN/b", "/a/b"],
    ["~bob", "/base/~bob"],
    ["$HOMEX/y", "/y"]
  ])("%s is %s", (path, expected) => {
    expect(expandPath(path, { variables: { PROJECTS: "/srv" }, home: "/home/ann", base: "/base" })).toBe(expected)
  })

  it("that is empty is the home directory", () => {
    expect(directoryOf(aConfig(url, "/home/ann"), aManifest({}))).toBe("/home/ann")
  })
})

describe("the environment of scripts", () => {
  it("has the template's variables over the inherited ones, and the workspace's names over all", () => {
    const config = aConfig(url, "/home/ann", { environment: { A: "inherited", B: "inherited", SERVICE_AGENT_TOKEN: "t" } })
    const variables = variablesOf(
      config,
      aManifest({
        environment_variables: new Map([
          ["B", "template"],
          ["SERVICE", "no"]
        ]),
        workspace_name: "dev"
      })
    )
    expect(variables).toMatchObject({ A: "inherited", B: "template", SERVICE: "true", SERVICE_WORKSPACE_NAME: "dev", HOME: "/home/ann" })
    expect(variables).not.toHaveProperty("SERVICE_AGENT_TOKEN")
  })

  it("has the agent's token where that is asked for", () => {
    const config = aConfig(url, "/home/ann", { shareToken: true })
    expect(variablesOf(config, aManifest({}))).toHaveProperty("SERVICE_AGENT_TOKEN", "the-token")
  })
})

describe("the owner's secrets", () => {
  it.scopedLive("are variables, and files for the owner alone whatever was there before", () =>
    Effect.gen(function* () {
      const home = yield* folder
      writeFileSync(join(home, "open"), "old", { mode: 0o644 })
      const value = new TextEncoder().encode("s3cret")
      const place = yield* Place.prepare(
        aConfig(url, home),
        aManifest({
          secrets: [
            { env_name: "API_KEY", file_path: "", value },
            { env_name: "", file_path: "~/deep/$key", value },
            { env_name: "", file_path: join(home, "open"), value }
          ]
        })
      )
      expect(place.variables["API_KEY"]).toBe("s3cret")
      for (const file of [join(home, "deep", "$key"), join(home, "open")]) {
        expect(readFileSync(file, "utf8")).toBe("s3cret")
        expect(statSync(file).mode & 0o777).toBe(0o600)
      }
    })
  )
})

describe("the directory", () => {
  it.scopedLive("that cannot be made is replaced by the home directory", () =>
    Effect.gen(function* () {
      const home = yield* folder
      writeFileSync(join(home, "file"), "")
      const place = yield* Place.prepare(aConfig(url, home), aManifest({ directory: "~/file/below" }))
      expect(place.directory).toBe(home)
    })
  )
})
