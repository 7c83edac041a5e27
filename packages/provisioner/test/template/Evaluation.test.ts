import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { evaluate } from "../../src/template/Evaluation.js"
import { templateVariables } from "../../src/template/ParameterEvaluation.js"
import { readTemplate } from "../../src/template/TemplateSource.js"
import { formatProblems } from "../../src/template/YamlSource.js"
import { aPlanInput, runAtOnce, uuid } from "../builders.js"

const place = {
  kind: "machine",
  resourceType: "local_directory",
  directory: "/srv/w",
  platform: { os: "linux", arch: "amd64" },
  port: 4321,
  token: () => uuid(9)
} as const

const template = (yaml: string, files: Readonly<Record<string, string>> = {}) =>
  Either.getOrThrowWith(
    runAtOnce(
      readTemplate(
        new Map(
          Object.entries({ "template.yaml": yaml, ...files }).map(([path, text]) => [
            path,
            { bytes: new TextEncoder().encode(text), mode: 0o755 }
          ])
        )
      )
    ),
    (problems) => new Error(formatProblems(problems))
  )

type Values = Parameters<typeof aPlanInput>[0]

const built = (yaml: string, values?: Values, files?: Readonly<Record<string, string>>) =>
  Either.getOrThrowWith(evaluate(template(yaml, files), aPlanInput(values), place), (failure) => new Error(JSON.stringify(failure)))
const agentOf = (yaml: string, values?: Values) => built(yaml, values).plan.resources[0]?.agents[0]
const failure = (yaml: string, values?: Values) => {
  const failed = Either.getOrThrow(Either.flip(evaluate(template(yaml), aPlanInput(values), place)))
  return failed._tag === "Problems" ? formatProblems(failed.problems) : failed
}

describe("an agent", () => {
  it("has the vocabulary's defaults", () => {
    expect(agentOf("agents: [{name: main}]")).toEqual({
      name: "main",
      operating_system: "linux",
      architecture: "amd64",
      directory: "/srv/w",
      environment_variables: {},
      auth: { _tag: "Token", token: uuid(9) },
      connection_timeout_seconds: 120,
      troubleshooting_url: "",
      motd_file: "",
      display_apps: ["vscode", "ssh_helper", "port_forwarding_helper", "web_terminal"],
      api_key_scope: "all",
      order: 0,
      apps: [],
      scripts: [],
      metadata: []
    })
  })

  it("takes values of owner, workspace, template, variables and parameters", () => {
    const yaml = `
variables: [{name: host, default: git.example.com}]
parameters: [{name: repo, default: "\${variable.host}/a b"}]
agents:
- name: main
  dir: src/\${workspace.name}
  motd_file: "\${template.name}@\${template.version}"
  startup_script: 'git clone \${shell(parameter.repo)} # \${join(owner.groups, "+")}'
  startup_script_behavior: blocking
  shutdown_script: echo bye \${owner.username}
`
    const agent = agentOf(yaml)
    expect(agent?.directory).toBe("/srv/w/src/atelier")
    expect(agent?.motd_file).toBe("node@v1")
    expect(
      agent?.scripts.map(({ display_name, script, start_blocks_login, run_on_start, run_on_stop }) => [
        display_name,
        script,
        start_blocks_login,
        run_on_start,
        run_on_stop
      ])
    ).toEqual([
      ["Startup Script", "git clone 'git.example.com/a b' # Everyone+poets", true, true, false],
      ["Shutdown Script", "echo bye ada", false, false, true]
    ])
    expect(agentOf(yaml, { parameters: { repo: "x'y" } })?.scripts[0]?.script).toBe(`git clone 'x'\\''y' # Everyone+poets`)
  })

  it("has the apps, scripts and metadata whose condition holds", () => {
    const yaml = `
parameters: [{name: ide, default: code}, {name: tools, type: list(string), default: [git]}]
agents:
- name: main
  apps:
  - {slug: code, url: "http://localhost:8080", when: '\${parameter.ide} == "code"', healthcheck: {url: "http://localhost:8080/h", interval: 5, threshold: 6}}
  - {slug: vim, command: vim, when: parameter.ide == "vim", share: organization, open_in: tab, display_name: Vim}
  scripts:
  - {display_name: Git, script: git --version, cron: 0 0 4 * * *, when: 'contains(parameter.tools, "git")'}
  - {display_name: Hg, script: hg --version, run_on_stop: true, timeout: 5, when: false}
  metadata:
  - {key: load, script: uptime, interval: 10}
`
    const code = agentOf(yaml)
    expect(code?.apps).toEqual([
      {
        slug: "code",
        display_name: "code",
        command: "",
        url: "http://localhost:8080",
        icon: "",
        subdomain: false,
        external: false,
        sharing_level: "owner",
        healthcheck: { url: "http://localhost:8080/h", interval: 5, threshold: 6 },
        order: 0,
        group: "",
        hidden: false,
        open_in: "slim-window",
        tooltip: ""
      }
    ])
    expect(code?.scripts.map(({ cron, display_name }) => [display_name, cron])).toEqual([["Git", "0 0 4 * * *"]])
    expect(code?.metadata).toEqual([{ key: "load", display_name: "load", script: "uptime", interval: 10, timeout: 10, order: 0 }])
    const vim = agentOf(yaml, { parameters: { ide: "vim", tools: "[]" } })
    expect(vim?.apps.map(({ display_name, open_in, sharing_level }) => [display_name, open_in, sharing_level])).toEqual([
      ["Vim", "tab", "organization"]
    ])
    expect(vim?.scripts).toEqual([])
  })

  it("merges the environment in the order of the file, its own on top", () => {
    const yaml = `
env:
- {name: PATH, value: /a}
- {name: PATH, value: /b, merge_strategy: append}
- {name: PATH, value: /c, merge_strategy: prepend}
- {name: PORT, value: 80}
- {name: OTHER, value: x, agent: other}
- {name: NEW, value: y, merge_strategy: error}
agents:
- {name: main, env: {PORT: 8080, DEBUG: true}}
- {name: other}
`
    const agents = built(yaml).plan.resources[0]?.agents.map(({ environment_variables }) => environment_variables)
    expect(agents).toEqual([
      { PATH: "/c:/a:/b", PORT: "8080", DEBUG: "true", NEW: "y" },
      { PATH: "/c:/a:/b", PORT: "80", OTHER: "x", NEW: "y" }
    ])
    const twice = "env:\n- {name: A, value: 1}\n- {name: A, value: 2, merge_strategy: error}\nagents: [{name: a}]"
    expect(failure(twice)).toBe("template.yaml:3:10: env[1].name: A is set already, and merge_strategy is error")
  })

  it.each([
    ["../x", "leads outside"],
    ["/etc", "is absolute"],
    ["a/../../x", "leads outside"]
  ])("refuses the directory %j that a value makes, because it %s", (directory, cause) => {
    const yaml = "parameters: [{name: d}]\nagents:\n- name: main\n  dir: ${parameter.d}"
    expect(failure(yaml, { parameters: { d: directory } })).toBe(
      `template.yaml:4:8: agents[0].dir: ${JSON.stringify(directory)} ${cause}; it must stay beneath the workspace's directory`
    )
  })

  it.each([
    ["~", "/srv/w"],
    ["~/a", "/srv/w/a"],
    ["a/./b", "/srv/w/a/b"],
    ["", "/srv/w"],
    ["~a", "/srv/w/~a"]
  ])("takes the directory %j", (directory, expected) => {
    expect(agentOf(`agents: [{name: a, dir: "${directory}"}]`)?.directory).toBe(expected)
  })

  it("for another machine is refused", () => {
    expect(failure("agents:\n- {name: a, os: windows, arch: arm64}")).toBe(
      "template.yaml:2:17: agents[0].os: agents run on this machine, which is linux\n" +
        "template.yaml:2:32: agents[0].arch: agents run on this machine, which is amd64"
    )
  })

  it("exists at a start alone; the resource stays until it is deleted", () => {
    const yaml =
      "metadata: {name: home, daily_cost: 3, items: [{key: owner, value: '${owner.name}'}, {key: n, value: 4, sensitive: true}]}\nagents: [{name: a}]"
    const of = (transition: "start" | "stop" | "delete") => built(yaml, { metadata: { transition } }).plan
    expect(of("start").resources.map(({ agents, name, type }) => [type, name, agents.length])).toEqual([["local_directory", "home", 1]])
    expect(of("stop").resources.map(({ agents, metadata }) => ({ agents, metadata }))).toEqual([
      {
        agents: [],
        metadata: [
          { key: "owner", value: "Ada O'Lovelace", sensitive: false },
          { key: "n", value: "4", sensitive: true }
        ]
      }
    ])
    expect(of("stop").daily_cost).toBe(3)
    expect(of("delete")).toMatchObject({ resources: [], daily_cost: 0 })
  })
})

describe("variables", () => {
  const yaml =
    "variables:\n- {name: a, description: The a}\n- {name: b, type: number, default: 3}\n- {name: c, type: list(string), default: [x, y], sensitive: true}\ntags: {t: '${variable.a}-${variable.b}-${variable.c}'}"

  it("are described before any value is known", () => {
    expect(templateVariables(template(yaml))).toEqual([
      { name: "a", description: "The a", type: "string", default_value: "", required: true, sensitive: false },
      { name: "b", description: "", type: "number", default_value: "3", required: false, sensitive: false },
      { name: "c", description: "", type: "list(string)", default_value: '["x","y"]', required: false, sensitive: true }
    ])
  })

  it("have their default where no value, or an empty one, is given", () => {
    expect(built(yaml, { variables: { a: "A", b: "" } }).plan.workspace_tags).toEqual({ t: 'A-3-["x","y"]' })
  })

  it("that are required and have no value are named", () => {
    expect(failure(yaml)).toEqual({ _tag: "MissingVariables", names: ["a"] })
  })

  it("have values of their type", () => {
    expect(failure(yaml, { variables: { a: "x", b: "many" } })).toBe(
      'template.yaml:3:10: variables[1].name: the value of "b" is of type number, and "many" is not a number'
    )
  })
})

describe("parameters", () => {
  it("are defined as the wire carries them", () => {
    const yaml = `
parameters:
- name: size
  display_name: Size
  description: How *large*
  type: number
  form_type: slider
  default: 2
  mutable: true
  icon: /i.svg
  validation: {min: 1, max: 8, monotonic: increasing, error: "{value} is not from {min} to {max}"}
  order: 3
- name: region
  options: [{name: Europe, value: eu, icon: /eu.svg}, {name: America, value: us}]
`
    const [size, region] = built(yaml).plan.parameters
    expect(size).toEqual({
      name: "size",
      display_name: "Size",
      description: "How *large*",
      type: "number",
      form_type: "slider",
      mutable: true,
      ephemeral: false,
      required: false,
      default_value: "2",
      icon: "/i.svg",
      options: [],
      validation_regex: "",
      validation_error: "{value} is not from {min} to {max}",
      validation_min: 1,
      validation_max: 8,
      validation_monotonic: "increasing",
      order: 3
    })
    expect(region).toMatchObject({ required: true, default_value: "", form_type: "radio" })
    expect(region?.options).toEqual([
      { name: "Europe", description: "", value: "eu", icon: "/eu.svg" },
      { name: "America", description: "", value: "us", icon: "" }
    ])
  })

  it.each([
    ["string", "", "input"],
    ["number", "", "input"],
    ["bool", "", "checkbox"],
    ["list(string)", "", "tag-select"],
    ["string", "options: [{name: a, value: a}]", "radio"],
    ["number", "options: [{name: a, value: 1}]", "radio"],
    ["bool", "options: [{name: a, value: true}]", "radio"],
    ["list(string)", "options: [{name: a, value: [x, y]}]", "radio"]
  ])("of type %s with %j have the form %s", (type, options, form) => {
    expect(built(`parameters: [{name: p, type: ${type}${options === "" ? "" : `, ${options}`}}]`).plan.parameters[0]?.form_type).toBe(form)
  })

  it.each([
    ["{name: p, type: number, default: many}", '36: parameters[0].default: "many" is not a number'],
    ["{name: p, type: bool, default: yes}", '34: parameters[0].default: "yes" is not a bool'],
    ["{name: p, type: list(string), default: x}", '42: parameters[0].default: value "x" is not a valid list of strings'],
    ["{name: p, type: number, default: 9, validation: {max: 8}}", "36: parameters[0].default: value 9 is more than the maximum 8"],
    ["{name: p, default: c, options: [{name: a, value: a}]}", '22: parameters[0].default: the value "c" must be defined as one of options'],
    ["{name: p, options: [{name: a, value: a}, {name: a, value: b}]}", '51: parameters[0].options[1].name: "a" occurs twice'],
    ["{name: p, options: [{name: a, value: a}, {name: b, value: a}]}", '61: parameters[0].options[1].value: "a" occurs twice'],
    ["{name: p, type: number, options: [{name: a, value: x}]}", '54: parameters[0].options[0].value: "x" is not a number'],
    [
      "{name: p, type: list(string), form_type: multi-select, default: [a, z], options: [{name: A, value: a}]}",
      String.raw`67: parameters[0].default: Value "[\"a\",\"z\"]" is not a valid option, values "z" are missing from the options`
    ]
  ])("%s are refused", (parameter, expected) => {
    expect(failure(`parameters:\n- ${parameter}`)).toBe(`template.yaml:2:${expected}`)
  })

  it("may have a default that depends on a value that is not given yet", () => {
    const yaml = "parameters:\n- name: a\n- {name: b, type: number, default: '${parameter.a}'}"
    expect(built(yaml).plan.parameters[1]?.default_value).toBe("")
    expect(failure(yaml, { parameters: { a: "x" } })).toBe('template.yaml:3:36: parameters[1].default: "x" is not a number')
  })

  it("report errors in the given values", () => {
    const yaml =
      "parameters: [{name: a}, {name: b, type: number, default: 1, validation: {min: 1}}, {name: c, options: [{name: x, value: x}]}]"
    expect(built(yaml, { parameters: { b: "0", c: "y" } }).parameterProblems).toEqual([
      { name: "a", missing: true, cause: "has no value" },
      { name: "b", missing: false, cause: "value 0 is less than the minimum 1" },
      { name: "c", missing: false, cause: 'the value "y" must be defined as one of options' }
    ])
    expect(built(yaml, { parameters: { a: "", c: "x" } }).parameterProblems).toEqual([])
  })

  it("may depend on those above them", () => {
    const yaml = `
parameters:
- {name: ide, default: code, options: [{name: Code, value: code}, {name: Vim, value: vim}]}
- {name: port, type: number, default: 8080, when: parameter.ide == "code"}
- {name: label, default: "\${parameter.ide}:\${parameter.port}"}
`
    const defaults = (ide: string) =>
      built(yaml, { parameters: { ide } }).plan.parameters.map(({ default_value, name }) => [name, default_value])
    expect(defaults("code")).toEqual([
      ["ide", "code"],
      ["port", "8080"],
      ["label", "code:8080"]
    ])
    expect(defaults("vim")).toEqual([
      ["ide", "code"],
      ["label", "vim:"]
    ])
  })
})

describe("presets", () => {
  it("carry their values as text", () => {
    const yaml =
      "parameters: [{name: a}, {name: b, type: bool}]\npresets:\n- {name: Small, description: d, default: true, parameters: {a: x, b: true}, prebuilds: {instances: 2}}\n- name: Bare"
    const unscheduled = { schedule: [], timezone: "", ttl_seconds: 0 }
    expect(built(yaml).plan.presets).toEqual([
      {
        name: "Small",
        description: "d",
        icon: "",
        default: true,
        parameters: [
          { name: "a", value: "x" },
          { name: "b", value: "true" }
        ],
        desired_prebuild_instances: 2,
        prebuild_policy: unscheduled
      },
      {
        name: "Bare",
        description: "",
        icon: "",
        default: false,
        parameters: [],
        desired_prebuild_instances: null,
        prebuild_policy: unscheduled
      }
    ])
  })
})

describe("files", () => {
  it("are written texts or parts of the source", () => {
    const yaml = `
files:
- {path: .gitconfig, content: "name = \${owner.name}", mode: "0600", overwrite: true}
- {path: bin, source: tools}
- {path: readme, source: README.md, when: false}
`
    const { files } = built(yaml, undefined, { "tools/a.sh": "echo a", "tools/sub/b.sh": "echo b", "README.md": "" })
    expect(files.map(({ bytes, mode, overwrite, path }) => [path, new TextDecoder().decode(bytes), mode.toString(8), overwrite])).toEqual([
      [".gitconfig", "name = Ada O'Lovelace", "600", true],
      ["bin/a.sh", "echo a", "755", false],
      ["bin/sub/b.sh", "echo b", "755", false]
    ])
    expect(built(yaml, { metadata: { transition: "stop" } }, { "tools/a.sh": "", "README.md": "" }).files).toEqual([])
  })

  it("are within an archive's limits, for any repeated use of parts", () => {
    const source = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f/${index}`, ""]))
    const yaml = `files:\n${"- {path: a, source: f}\n".repeat(100)}`
    const failed = Either.flip(evaluate(template(yaml, source), aPlanInput(), place))
    expect(Either.map(failed, (failure) => (failure._tag === "Problems" ? formatProblems(failure.problems) : failure))).toEqual(
      Either.right("template.yaml:2:1: files: are more than 10000 files")
    )
  })

  it("are counted before they fill the memory", () => {
    const source = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f/${index}`, ""]))
    const sound = template(`files:\n${Array.from({ length: 512 }, (_, index) => `- {path: d${index}, source: f}\n`).join("")}`, source)
    const before = process.memoryUsage().heapUsed
    expect(Either.isLeft(evaluate(sound, aPlanInput(), place))).toBe(true)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024)
  })

  it("stay beneath the workspace's directory", () => {
    expect(failure("files:\n- {path: ../x, content: y}")).toBe(
      `template.yaml:2:10: files[0].path: "../x" leads outside; it must stay beneath the workspace's directory`
    )
    expect(failure("files:\n- {path: ., content: y}")).toBe(
      "template.yaml:2:10: files[0].path: names the workspace's directory itself, not a file"
    )
  })
})

describe("a small template with large values", () => {
  it("is refused before it fills the memory", () => {
    const yaml = `parameters: [{name: a}]\nagents:\n- name: m\n  motd_file: "\${parameter.a}"\n  startup_script: "${"${parameter.a}".repeat(20)}"\n`
    expect(failure(yaml, { parameters: { a: "x".repeat(65_000) } })).toBe(
      "template.yaml:4:14: agents[0].motd_file: its value is longer than 4096 characters\n" +
        "template.yaml:5:19: agents[0].startup_script: its value is longer than 1048576 characters"
    )
  })
})
