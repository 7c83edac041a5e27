import { Either } from "effect"
import { describe, expect, it } from "vitest"
import type { ContainerSpec } from "../../src/container/ContainerSpec.js"
import { templateEngines } from "../../src/engine/TemplatePath.js"
import { evaluate } from "../../src/template/Evaluation.js"
import type { EngineRules } from "../../src/template/EngineRules.js"
import { readTemplate } from "../../src/template/TemplateSource.js"
import { formatProblems } from "../../src/template/YamlSource.js"
import { aPlanInput, runAtOnce, uuid } from "../builders.js"
import { longestTurn, maximumTurn } from "../../../core/test/platform/longestTurn.js"

const place = {
  kind: "container",
  directory: "~",
  resourceType: "docker_container",
  platform: { os: "linux", arch: "amd64" },
  port: 8000,
  token: () => uuid(9)
} as const

const docker: EngineRules = { engine: "docker", containers: { allowPrivileged: false } }

const read = (yaml: string, rules = docker, files: Readonly<Record<string, string>> = {}) =>
  runAtOnce(
    readTemplate(
      new Map(
        Object.entries({ "template.yaml": yaml, ...files }).map(([path, text]) => [
          path,
          { bytes: new TextEncoder().encode(text), mode: 0o644 }
        ])
      ),
      rules
    )
  )

const refusals = (yaml: string, rules?: EngineRules) => Either.match(read(yaml, rules), { onLeft: formatProblems, onRight: () => "" })

const evaluation = (yaml: string, parameters: Readonly<Record<string, string>> = {}, files: Readonly<Record<string, string>> = {}) =>
  evaluate(
    Either.getOrThrowWith(read(yaml, docker, files), (problems) => new Error(formatProblems(problems))),
    aPlanInput({ parameters }),
    place
  )

const built = (...values: Parameters<typeof evaluation>) =>
  Either.getOrThrowWith(evaluation(...values), (failure) => new Error(JSON.stringify(failure)))

const containerOf = (...values: Parameters<typeof evaluation>): ContainerSpec | undefined => built(...values).containers[0]

const problemsOf = (...values: Parameters<typeof evaluation>) => {
  const failed = Either.getOrThrow(Either.flip(evaluation(...values)))
  return failed._tag === "Problems" ? formatProblems(failed.problems) : failed
}

/** A template with one agent, whose container has these lines. */
const withContainer = (lines: string) => `agents:\n- name: main\n  container:\n${lines.replace(/^/gm, "    ")}\n`

describe("a container", () => {
  it("keeps the home directory, and takes everything else from the image", () => {
    expect(containerOf(withContainer("image: node:22"))).toEqual({
      agent: "main",
      image: { _tag: "Image", reference: "node:22" },
      env: {},
      entrypoint: [],
      volumes: [{ name: "home", path: undefined, keep: true }],
      network: "default",
      privileged: false,
      sidecars: []
    })
  })

  it("takes parameters in every field", () => {
    const yaml = `
parameters:
- { name: tag, default: "22" }
- { name: memory, type: number, default: 4 }
- { name: runtime, default: "" }
- { name: keep, type: bool, default: false }
- { name: port, type: number, default: 5432 }
agents:
- name: main
  dir: /workspace
  container:
    build:
      context: image
      dockerfile: Dockerfile.\${parameter.tag}
      args: { NODE: "\${parameter.tag}" }
      target: v\${parameter.tag}
    cpus: \${parameter.memory}.5
    memory: \${parameter.memory}Gi
    disk: 500M
    gpus: \${parameter.memory}
    user: \${owner.username}
    env: { NODE: "\${parameter.tag}", COUNT: 3 }
    entrypoint: [tini, "--\${parameter.tag}"]
    runtime: \${parameter.runtime}
    network: none
    privileged: false
    volumes:
    - { name: home, path: "/home/\${owner.username}" }
    - { name: cache, path: /cache, keep: "\${parameter.keep}" }
    sidecars:
    - name: db
      image: postgres:\${parameter.tag}
      env: { POSTGRES_PASSWORD: "\${workspace.id}" }
      command: [postgres, -c, "port=\${parameter.port}"]
      ports: ["\${parameter.port}"]
      memory: 256Mi
      cpus: 0.5
      user: "70"
      volumes:
      - { name: data, path: /var/lib/postgresql/data }
      - { name: cache, path: /cache }
    - { name: never, image: x, when: "false" }
`
    const { containers, plan } = built(yaml, { memory: "2" }, { "image/Dockerfile.22": "FROM scratch" })
    expect(plan.resources[0]?.agents[0]?.directory).toBe("/workspace")
    expect(containers).toEqual([
      {
        agent: "main",
        image: { _tag: "Build", context: "image", dockerfile: "Dockerfile.22", arguments: { NODE: "22" }, target: "v22" },
        cpus: 2.5,
        memory: 2 * 2 ** 30,
        disk: 500_000_000,
        gpus: 2,
        user: "ada",
        env: { NODE: "22", COUNT: "3" },
        entrypoint: ["tini", "--22"],
        volumes: [
          { name: "home", path: "/home/ada", keep: true },
          { name: "cache", path: "/cache", keep: false }
        ],
        network: "none",
        privileged: false,
        sidecars: [
          {
            name: "db",
            image: "postgres:22",
            env: { POSTGRES_PASSWORD: uuid(1) },
            command: ["postgres", "-c", "port=5432"],
            ports: [5432],
            volumes: [
              { name: "data", path: "/var/lib/postgresql/data", keep: true },
              { name: "cache", path: "/cache", keep: false }
            ],
            cpus: 0.5,
            memory: 256 * 2 ** 20,
            user: "70"
          }
        ]
      }
    ])
  })

  it("has no volume for a home directory that is not kept", () => {
    expect(containerOf(withContainer("image: a\nvolumes: [{ name: home, keep: false }]"))?.volumes).toEqual([])
  })

  it.each<[string, string, string]>([
    ["both an image and a build", "image: a\nbuild: {}", "template.yaml:5:12: agents[0].container.build: excludes image"],
    ["neither", "user: a", 'template.yaml:4:5: agents[0].container: needs either "image" or "build"'],
    [
      "an unknown field",
      "image: a\nmemroy: 4Gi",
      'template.yaml:5:5: agents[0].container: there is no "memroy" here; did you mean "memory"?'
    ],
    [
      "a volume twice",
      "image: a\nvolumes: [{name: b, path: /b}, {name: b, path: /c}]",
      'template.yaml:5:43: agents[0].container.volumes[1].name: "b" occurs twice'
    ],
    [
      "a privileged container",
      "image: a\nprivileged: true",
      "template.yaml:5:17: agents[0].container.privileged: is not allowed here: the operator of the server has to set the engine's option allowPrivileged"
    ]
  ])("is refused with its place in the file for %s", (_, lines, problem) => {
    expect(refusals(withContainer(lines))).toBe(problem)
  })

  it.each<[string, string]>([
    ["image: A b", 'template.yaml:4:12: agents[0].container.image: must be the name of an image, such as "node:22"'],
    ["image: a\nmemory: 4 GB", "template.yaml:5:13: agents[0].container.memory: must be a size from 16Mi to 1024Ti"],
    ["image: a\nmemory: 1Mi", "template.yaml:5:13: agents[0].container.memory: must be a size from 16Mi to 1024Ti"],
    ["image: a\ncpus: 0", "template.yaml:5:11: agents[0].container.cpus: must be a number of cores from 0.01 to 1024"],
    ["image: a\nnetwork: host", "template.yaml:5:14: agents[0].container.network: must be one of default, none"],
    ["image: a\nvolumes: [{name: b}]", 'template.yaml:5:15: agents[0].container.volumes[0]: "path" is missing'],
    ["image: a\nvolumes: [{name: b, path: /proc/x}]", "template.yaml:5:31: agents[0].container.volumes[0].path: must not be"],
    ["image: a\nvolumes: [{name: b, path: /a/../..}]", 'template.yaml:5:31: agents[0].container.volumes[0].path: "/a/../.." leads outside'],
    ["build: {context: nowhere}", 'template.yaml:4:12: agents[0].container.build: the template\'s source has no "nowhere/Dockerfile"'],
    [
      "image: a\nsidecars: [{name: b, image: b, ports: [1]}, {name: c, image: c, ports: [1]}]",
      "template.yaml:5:77: agents[0].container.sidecars[1].ports[0]: the port 1 is used already"
    ],
    [
      "image: a\nvolumes: [{name: home, keep: false}]\ndisk: 1Gi",
      "template.yaml:6:11: agents[0].container.disk: is the size of the home directory's volume"
    ]
  ])("refuses the value of %j with its place", (lines, problem) => {
    expect(problemsOf(withContainer(lines))).toContain(problem)
  })

  it("is not judged by parameters that have no value yet", () => {
    const yaml = `parameters: [{name: memory}]\n${withContainer("image: a\nmemory: ${parameter.memory}Gi")}`
    expect(built(yaml).parameterProblems).toHaveLength(1)
    expect(problemsOf(yaml, { memory: "much" })).toContain("template.yaml:6:13: agents[0].container.memory: must be a size")
  })
})

describe("the engine of a template", () => {
  const enginesOf = (yaml: string) => templateEngines({ paths: ["template.yaml"], text: () => yaml })

  it.each<[string, string, ReadonlyArray<string>]>([
    ["without agents", "parameters: []\n", ["local"]],
    ["that it names", "engine: kubernetes\nagents:\n- name: a\n", ["kubernetes"]],
    ["of an agent without a container", "agents:\n  - name: a\n    dir: b\n", ["local"]],
    ["of an agent with a container", "agents:\n  - name: a\n    container:\n      image: b\n", ["docker", "kubernetes"]],
    ["of a container in the line of the dash", "agents:\r\n-   container: { image: b }\r\n    name: a\r\n", ["docker", "kubernetes"]],
    [
      "of a second agent with a container",
      "agents:\n- name: a\n  apps:\n  - slug: b\n-\n  name: c\n  container: {image: d}\n",
      ["docker", "kubernetes"]
    ],
    ["with agents in flow style", "agents: [{ name: a, 'container': { image: b } }]\n", ["docker", "kubernetes"]],
    ["with an agent in flow style", "agents:\n  - { name: a, # one\n      container : {image: b} }\n", ["docker", "kubernetes"]],
    ["whose flow style has the word elsewhere", 'agents: [{ name: container, env: { container: "a, container: b" } }]\n', ["local"]],
    [
      "with an agent after one in flow style",
      "agents:\n- { name: a,\n    dir: b }\n- container:\n    image: c\n",
      ["docker", "kubernetes"]
    ],
    ["whose flow style never ends", 'agents: [{ name: "a, container: b', ["local"]],
    ["whose script has the word", "agents:\n- name: a\n  startup_script: |\n    container:\n      image: b\n", ["local"]],
    ["whose files have the word", "agents:\n- name: a\nfiles:\n- path: a\n  content: |\n    container: b\n", ["local"]]
  ])("is known for a template %s", (_, yaml, engines) => {
    expect(enginesOf(yaml)).toEqual(engines)
  })

  it.each([
    ["mappings", `agents:\n${"- {\n".repeat(16_000)}`],
    ["keys beneath lists", `agents: ${"[".repeat(32_000)}${"container,".repeat(3_200)}`]
  ])("is found in little time, whatever %s do not end", async (_, yaml) => {
    const find = async () => expect(enginesOf(yaml)).toEqual(["local"])
    expect(await longestTurn(find)).toBeLessThan(maximumTurn)
  })

  const local: EngineRules = { engine: "local" }

  it("refuses containers that it cannot run, and says how to enable their engine", () => {
    expect(refusals(withContainer("image: a"), local)).toBe(
      'template.yaml:4:5: agents[0].container: the engine "local" runs no containers: name an engine of containers in a line such as "engine: docker"; the operator adds docker or kubernetes to the server\'s option --engines, or @atelier/provisioner-docker or @atelier/provisioner-kubernetes to the provisioners of an application that embeds it'
    )
    expect(refusals(`engine: local\n${withContainer("image: a")}`, local)).toContain(
      'template.yaml:5:5: agents[0].container: the engine "local"'
    )
    expect(refusals(`engine: kubernetes\n${withContainer("image: a")}`, local)).toBe(
      'template.yaml:1:9: engine: no engine of this server is called "kubernetes"; the operator adds kubernetes to the server\'s option --engines, or @atelier/provisioner-kubernetes to the provisioners of an application that embeds it'
    )
  })

  it("refuses agents without a container where it runs nothing else", () => {
    expect(refusals("engine: docker\nagents:\n- name: a\n")).toBe(
      'template.yaml:3:3: agents[0]: "container" is missing, as the engine "docker" runs each agent in one'
    )
  })
})
