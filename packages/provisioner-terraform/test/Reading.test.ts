import type { ProvisionedAgent, ProvisionedResource, RichParameter } from "@atelier/core/provisioning"
import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import { readPlan, readState } from "../src/Reading.js"
import { uuid } from "../../provisioner/test/builders.js"
import { recording } from "./recordings.js"

const spare = uuid(9)

const planOf = (name: string, key: "plan" | "plan.import-stop" = "plan") => {
  const { graph, [key]: plan } = recording(name)
  return readPlan(plan, graph.join("\n"), () => spare)
}

const stateOf = (name: string) => {
  const { graph, state } = recording(name)
  return readState(state, graph.join("\n"), () => spare)
}

const right = <A, E>(result: Either.Either<A, E>): A => Either.getOrThrowWith(result, (error) => new Error(JSON.stringify(error)))

const message = (result: Either.Either<unknown, { readonly message: string }>): string | undefined =>
  Option.getOrUndefined(Option.map(Either.getLeft(result), (failure) => failure.message))

/** One line for each resource, and one for each agent on it. */
const outline = (resources: ReadonlyArray<ProvisionedResource>): ReadonlyArray<string> =>
  resources.flatMap(({ agents, module_path, name, type }) => [
    `${module_path === "" ? "" : `${module_path}.`}${type}.${name}`,
    ...agents.map(agentOutline)
  ])

const agentOutline = ({ apps, environment_variables, name, scripts }: ProvisionedAgent): string =>
  [
    `  ${name}:`,
    ...apps.map(({ slug }) => slug),
    ...scripts.map(({ display_name }) => `[${display_name}]`),
    ...Object.entries(environment_variables).map(([key, value]) => `${key}=${value}`)
  ].join(" ")

const agentNamed = (resources: ReadonlyArray<ProvisionedResource>, name: string): ProvisionedAgent => {
  const agent = resources.flatMap(({ agents }) => agents).find((candidate) => candidate.name === name)
  if (agent === undefined) throw new Error(`there is no agent ${name}`)
  return agent
}

const limits = ({
  name,
  validation_error,
  validation_max,
  validation_min,
  validation_monotonic,
  validation_regex
}: RichParameter): string => {
  const all = [validation_min ?? "", validation_max ?? "", validation_monotonic, validation_regex, validation_error].join("|")
  return all === "||||" ? "" : `${name}: ${all}`
}

const environment =
  'NOTHING= PATH=/opt/tools/bin:/opt/extra/bin REGION=north EDITOR=vim GREETING=a "quoted" <value> & more WORKSPACE_FOR=mira@example.com'
const scripts = "[Startup Script] [Shutdown Script] [Nightly clean-up] [Prepare tools] [Save work]"

const attached = [
  "coder_env.conditional",
  "terraform_data.a_end",
  "terraform_data.a_far",
  "terraform_data.a_via_local",
  "terraform_data.behind_app",
  "  through_app: bridge",
  "terraform_data.behind_data",
  "  deferred:",
  "terraform_data.explicit",
  "  explicit:",
  "terraform_data.m_direct",
  "  mixed:",
  "terraform_data.many",
  "  many: many-0",
  "terraform_data.many",
  "  many: many-1",
  "terraform_data.shared",
  "  left:",
  "  right: right",
  "terraform_data.tie_alpha",
  "  tie:",
  "terraform_data.tie_beta",
  "terraform_data.via_local",
  "  local:",
  "terraform_data.z_middle",
  "  reduced: [Reduced]",
  "terraform_data.z_near",
  "  near:"
]

describe("resources", () => {
  it.each([
    [
      "basic",
      [
        "coder_env.empty",
        "coder_env.path_back",
        "coder_env.path_front",
        "coder_env.region",
        "terraform_data.home",
        "terraform_data.machine",
        `  dev: editor ${scripts} ${environment}`
      ]
    ],
    [
      "modules",
      [
        "terraform_data.volume",
        "terraform_data.volume",
        "module.extra[0].coder_env.port",
        "module.extra[1].coder_env.port",
        'module.pod["blue"].terraform_data.pod',
        "  pod: pod-blue",
        'module.pod["green"].terraform_data.pod',
        "  pod: pod-green",
        'module.tools["editor"].coder_env.port',
        'module.tools["jupyter"].coder_env.port',
        "module.workstation.terraform_data.host",
        "  main: extra-0 extra-1 editor jupyter [Install extra-0] [Install extra-1] [Install editor] [Install jupyter]" +
          " PORT_EXTRA_0=7000 PORT_EXTRA_1=7001 PORT_EDITOR=8080 PORT_JUPYTER=8888 WORK_DIR=/work"
      ]
    ],
    [
      "prebuild",
      ["terraform_data.kept", "  main:", "terraform_data.only_for_prebuild", "terraform_data.replaced", "terraform_data.updated"]
    ],
    ["external-agent", ["coder_external_agent.remote", "  remote: notes"]],
    ["task", ["coder_ai_task.main", "terraform_data.machine", "  main: chat TASK_PROMPT="]],
    ["empty", []]
  ])("of the plan and of the state of %s are the same", (name, expected) => {
    expect(outline(right(planOf(name)).resources)).toEqual(expected)
    const state = outline(right(stateOf(name)).resources)
    expect(state.map((line) => line.replace(/TASK_PROMPT=.*/s, "TASK_PROMPT="))).toEqual(expected)
  })

  it("are those that need no running machine in the plan of a stop", () => {
    expect(outline(right(planOf("basic", "plan.import-stop")).resources)).toEqual([
      "coder_env.empty",
      "coder_env.path_back",
      "coder_env.path_front",
      "coder_env.region",
      "terraform_data.home"
    ])
  })

  it("carry the agents that they depend on most directly", () => {
    expect(outline(right(planOf("attachment")).resources)).toEqual(
      attached.map((line) => (line === "  near:" ? "  near: WHICH=one" : line))
    )
    expect(outline(right(stateOf("attachment")).resources)).toEqual(attached.map((line) => (line === "  tie:" ? "  tie: WHICH=one" : line)))
  })

  it("carry the metadata that names their ids", () => {
    const described = (resources: ReadonlyArray<ProvisionedResource>) =>
      resources.flatMap(({ daily_cost, metadata, name }) =>
        daily_cost === 0 && metadata.length === 0 ? [] : [`${name} ${daily_cost} ${metadata.map(({ key }) => key).join()}`]
      )
    const expected = ["a_far 2 ", "many 4 index", "many 4 index", "tie_alpha 1 ", "z_middle 0 end", "z_near 0 other"]
    expect(described(right(planOf("attachment")).resources)).toEqual(expected)
    expect(described(right(stateOf("attachment")).resources)).toEqual(expected)
    expect(right(planOf("attachment")).daily_cost).toBe(11)
  })

  it("have an icon, a cost and items, without those that are null after the apply", () => {
    const home = right(stateOf("basic")).resources.find(({ name }) => name === "home")
    expect(home).toMatchObject({ icon: "/icon/folder.svg", hide: true, daily_cost: 7 })
    expect(home?.metadata).toEqual([
      { key: "size", value: "20 GiB", sensitive: false },
      { key: "passphrase", value: "not-a-real-secret", sensitive: true },
      { key: "empty", value: "", sensitive: false }
    ])
  })

  it("carry each of several agents, on every machine of an agent", () => {
    const resources = right(stateOf("many-agents")).resources.filter(({ agents }) => agents.length > 0)
    expect(outline(resources)).toEqual([
      "terraform_data.back",
      "  back-end: port-0 port-1 worker [Prepare back]",
      "terraform_data.back",
      "  back-end: port-0 port-1 worker [Prepare back]",
      "terraform_data.front",
      "  front-end: preview shell web web-admin wiki [Prepare front]" +
        " MERGE_APPEND=append MERGE_ERROR=error MERGE_PREPEND=prepend MERGE_REPLACE=replace",
      "terraform_data.steady",
      "  steady: [Startup Script]"
    ])
  })

  it.each([
    ["metadata-twice", "duplicate metadata resource: terraform_data.machine"],
    ["env-twice", 'duplicate env var "SHARED": merge_strategy is "error" but variable is already defined'],
    ["app-slugs", 'duplicate app slug, they must be unique per template: "same"'],
    ["agent-names", "duplicate agent name: dev"]
  ])("of %s are refused", (name, expected) => {
    expect(message(planOf(name))).toBe(expected)
    expect(message(stateOf(name))).toBe(expected)
  })

  it("are refused if the graph lacks an agent", () => {
    const { plan } = recording("task")
    expect(message(readPlan(plan, "digraph {}", () => spare))).toBe('couldn\'t find node on graph: "coder_agent.main"')
  })

  it("are refused if the provider's values have other types", () => {
    const plan = {
      planned_values: {
        root_module: {
          resources: [{ address: "coder_agent.main", mode: "managed", type: "coder_agent", name: "main", values: { os: 7 } }]
        }
      }
    }
    const graph = [
      '"[root] coder_agent.main (expand)" [label = "coder_agent.main", shape = "box"]',
      '"[root] null_resource.vm (expand)" -> "[root] coder_agent.main (expand)"'
    ]
    const machine = { address: "null_resource.vm", mode: "managed", type: "null_resource", name: "vm" }
    plan.planned_values.root_module.resources.push({ ...machine, values: { os: 0 } })
    expect(message(readPlan(plan, graph.join("\n"), () => spare))).toMatch(/^coder_agent\.main has values that this server cannot read: /)
  })
})

describe("an agent", () => {
  it("has the attributes of its block, and its token after the apply", () => {
    const expected = {
      operating_system: "linux",
      architecture: "amd64",
      directory: "/home/dev/src",
      connection_timeout_seconds: 90,
      troubleshooting_url: "https://help.example.com/agent",
      motd_file: "/etc/motd",
      display_apps: ["vscode", "vscode_insiders", "web_terminal"],
      api_key_scope: "no_user_data",
      order: 3
    }
    const planned = agentNamed(right(planOf("basic")).resources, "dev")
    const applied = agentNamed(right(stateOf("basic")).resources, "dev")
    expect(planned).toMatchObject({ ...expected, auth: { _tag: "Token", token: spare } })
    expect(applied).toMatchObject({ ...expected, auth: { _tag: "Token", token: "e6e2ac8b-eb6b-4854-aabb-52503f4a9c96" } })
    expect(applied.metadata).toEqual([
      { key: "cpu", display_name: "CPU use", script: "cat /proc/loadavg", interval: 10, timeout: 2, order: 2 },
      { key: "disk", display_name: "", script: "df -h /", interval: 600, timeout: 0, order: 0 }
    ])
    expect(planned.metadata).toEqual(applied.metadata)
  })

  it("has monitors of memory and volumes, one for a path", () => {
    const values = {
      os: "linux",
      resources_monitoring: [
        {
          memory: [{ enabled: true, threshold: 90 }],
          volume: [
            { path: "/", enabled: true, threshold: 70 },
            { path: "/", enabled: false, threshold: 80 },
            { path: "", enabled: true, threshold: 1 }
          ]
        }
      ]
    }
    const resource = (type: string, name: string) => ({ address: `${type}.${name}`, mode: "managed", type, name })
    const resources = [
      { ...resource("coder_agent", "main"), values },
      { ...resource("null_resource", "vm"), values: {} }
    ]
    const graph = [
      '"[root] coder_agent.main (expand)" [label = "coder_agent.main", shape = "box"]',
      '"[root] null_resource.vm (expand)" [label = "null_resource.vm", shape = "box"]',
      '"[root] null_resource.vm (expand)" -> "[root] coder_agent.main (expand)"'
    ]
    const reading = right(readPlan({ planned_values: { root_module: { resources } } }, `digraph {\n${graph.join("\n")}\n}`, () => spare))
    expect(agentNamed(reading.resources, "main").monitors).toEqual([
      { path: "", enabled: true, threshold: 90 },
      { path: "/", enabled: false, threshold: 80 }
    ])
  })

  it("has scripts with their triggers", () => {
    const agent = agentNamed(right(stateOf("basic")).resources, "dev")
    const triggers = agent.scripts.map(
      ({ cron, display_name, icon, log_path, run_on_start, run_on_stop, start_blocks_login, timeout_seconds }) =>
        [display_name, cron, run_on_start, run_on_stop, start_blocks_login, timeout_seconds, log_path, icon].join("|")
    )
    expect(triggers).toEqual([
      "Startup Script||true|false|true|0|coder-startup-script.log|/emojis/25b6-fe0f.png",
      "Shutdown Script||false|true|false|0|coder-shutdown-script.log|/emojis/25c0.png",
      "Nightly clean-up|0 30 2 * * 1-5|false|false|false|0||",
      "Prepare tools||true|false|true|300|prepare.log|/icon/tools.svg",
      "Save work||false|true|false|0||"
    ])
  })

  it("has apps with the ids of their resources", () => {
    const { apps } = agentNamed(right(stateOf("basic")).resources, "dev")
    expect(apps).toEqual([
      {
        id: "e6ec252c-072d-4a95-8829-9f37a1be5038",
        slug: "editor",
        display_name: "Web editor",
        command: "",
        url: "http://localhost:8080/?folder=/home/dev",
        icon: "/icon/code.svg",
        subdomain: false,
        external: false,
        sharing_level: "owner",
        healthcheck: { url: "http://localhost:8080/healthz", interval: 5, threshold: 6 },
        order: 1,
        group: "",
        hidden: false,
        open_in: "slim-window",
        tooltip: "Opens the **editor**."
      }
    ])
    const [, , , webAdmin] = agentNamed(right(stateOf("many-agents")).resources, "front-end").apps
    expect(webAdmin).toMatchObject({
      slug: "web-admin",
      display_name: "web-admin",
      sharing_level: "authenticated",
      open_in: "tab",
      group: "Servers",
      subdomain: true,
      healthcheck: null
    })
  })

  it.each([
    ["plan", planOf],
    ["state", stateOf]
  ])("has dev containers with what is inside them, in a %s", (_, read) => {
    const { apps, devcontainers, scripts } = agentNamed(right(read("many-agents")).resources, "front-end")
    expect(devcontainers).toMatchObject([
      { name: "plain", workspace_folder: "/workspaces/plain", config_path: "", apps: [], scripts: [], environment_variables: {} },
      {
        name: "rich",
        config_path: "/workspaces/rich/.devcontainer/devcontainer.json",
        apps: [{ slug: "inside" }],
        scripts: [{ display_name: "Inside" }],
        environment_variables: { WHERE: "inside" }
      }
    ])
    expect([...apps.map(({ slug }) => slug), ...scripts.map(({ display_name }) => display_name)]).not.toContain("inside")
  })

  it("proves who it is by the identity of its instance", () => {
    const { resources } = right(stateOf("instance-identity"))
    const identities = resources.flatMap(({ agents }) => agents.map(({ auth, name }) => [name, auth]))
    expect(Object.fromEntries(identities)).toMatchObject({
      aws: { _tag: "InstanceIdentity", instance_id: "i-0123456789abcdef0" },
      unbound: { _tag: "InstanceIdentity", instance_id: "" }
    })
  })

  it("takes the identity and the size of a cloud's machine", () => {
    const agent = { address: "coder_agent.main", mode: "managed", type: "coder_agent", name: "main" }
    const machine = { address: "aws_instance.vm", mode: "managed", type: "aws_instance", name: "vm" }
    const state = {
      values: {
        root_module: {
          resources: [
            { ...machine, values: { id: "i-1", instance_type: "t3.large" } },
            { ...agent, values: { id: uuid(5), auth: "aws-instance-identity", os: "linux", arch: "amd64" } }
          ]
        }
      }
    }
    const graph = [
      '"[root] coder_agent.main (expand)" [label = "coder_agent.main", shape = "box"]',
      '"[root] aws_instance.vm (expand)" -> "[root] coder_agent.main (expand)"'
    ]
    const [resource] = right(readState(state, graph.join("\n"), () => spare)).resources
    expect(resource?.instance_type).toBe("t3.large")
    expect(resource?.agents[0]?.auth).toEqual({ _tag: "InstanceIdentity", instance_id: "i-1" })
  })
})

describe("definitions", () => {
  const parameters = new Map(right(planOf("parameters")).parameters.map((parameter) => [parameter.name, parameter]))

  it("are required if they have no default, not if it is empty", () => {
    const required = [...parameters.values()].filter((parameter) => parameter.required).map(({ name }) => name)
    const withEmptyDefault = [...parameters.values()].filter((parameter) => !parameter.required && parameter.default_value === "")
    expect(required.length).toBeGreaterThan(0)
    expect(withEmptyDefault.length).toBeGreaterThan(0)
  })

  it("of parameters have the limits that their blocks set, and no others", () => {
    expect([...parameters.values()].map(limits).filter((limit) => limit !== "")).toEqual([
      "number_decreasing: ||decreasing||May only go down.",
      "number_default_form: 1|16|||Between {min} and {max} cores, not {value}.",
      "number_min_only: 0||||",
      "number_slider: 10|500|increasing||",
      "string_input: |||^[a-z]{3,12}$|Use 3 to 12 lower-case letters."
    ])
  })

  it("of presets are those of modules too", () => {
    const preset = (name: string) => ({
      address: `module.${name}.data.coder_workspace_preset.p`,
      mode: "data",
      type: "coder_workspace_preset",
      name: "p",
      values: { name, default: false, parameters: { region: "north" }, prebuilds: null }
    })
    const child_modules = ["one", "two"].map((name) => ({ address: `module.${name}`, resources: [preset(name)] }))
    const { presets } = right(readPlan({ prior_state: { values: { root_module: { child_modules } } } }, "digraph {}", () => spare))
    expect(presets).toMatchObject([
      { name: "one", parameters: [{ name: "region", value: "north" }] },
      { name: "two", parameters: [{ name: "region", value: "north" }] }
    ])
  })

  it("of presets have their values and how many workspaces are kept ready", () => {
    expect(right(planOf("presets")).presets).toEqual([
      {
        name: "Scheduled and expiring",
        description: "",
        icon: "",
        default: false,
        parameters: [{ name: "region", value: "north" }],
        desired_prebuild_instances: 0,
        prebuild_policy: { ttl_seconds: 0, timezone: "UTC", schedule: [{ cron: "* * * * *", instances: 1 }] }
      },
      {
        name: "No parameters",
        description: "",
        icon: "",
        default: false,
        parameters: [],
        desired_prebuild_instances: null,
        prebuild_policy: { ttl_seconds: 0, timezone: "", schedule: [] }
      },
      {
        name: "South pool",
        description: "",
        icon: "",
        default: false,
        parameters: [
          { name: "cores", value: "8" },
          { name: "features", value: '["gpu","vpn"]' },
          { name: "region", value: "south" }
        ],
        desired_prebuild_instances: 3,
        prebuild_policy: { ttl_seconds: 86_400, timezone: "", schedule: [] }
      },
      {
        name: "Office hours",
        description: "",
        icon: "",
        default: false,
        parameters: [{ name: "cores", value: "2" }],
        desired_prebuild_instances: 1,
        prebuild_policy: {
          ttl_seconds: 0,
          timezone: "Europe/Stockholm",
          schedule: [
            { cron: "* 8-17 * * 1-5", instances: 5 },
            { cron: "* 9-11 * * 6", instances: 2 }
          ]
        }
      },
      {
        name: "Standard",
        description: "What most people need",
        icon: "/icon/memory.svg",
        default: true,
        parameters: [
          { name: "cores", value: "4" },
          { name: "region", value: "north" }
        ],
        desired_prebuild_instances: null,
        prebuild_policy: { ttl_seconds: 0, timezone: "", schedule: [] }
      },
      {
        name: "Names an undefined parameter",
        description: "",
        icon: "",
        default: false,
        parameters: [{ name: "colour", value: "blue" }],
        desired_prebuild_instances: 0,
        prebuild_policy: { ttl_seconds: 0, timezone: "", schedule: [] }
      }
    ])
  })

  it("of tags are texts, of all blocks together", () => {
    expect(right(planOf("tags")).workspace_tags).toEqual({
      cluster: "developers",
      env: "test",
      flag: "true",
      gpu: "no",
      one: "1",
      owner_group: "Everyone",
      team: "platform-team",
      zone: "a",
      size: "small"
    })
  })

  it("of external providers say which are optional", () => {
    expect(right(planOf("external-auth")).external_auth_providers).toEqual([
      { id: "chat", optional: true },
      { id: "artifacts", optional: false },
      { id: "chat", optional: true },
      { id: "primary-github", optional: false }
    ])
  })

  it("of a parameter that is read during the apply are read too", () => {
    expect(right(planOf("attachment")).parameters.map(({ name }) => name)).toEqual(["deferred"])
  })
})

it("a plan counts the tasks of its workspaces", () => {
  expect(right(planOf("task"))).toMatchObject({ has_ai_task: true, ai_tasks: 1, has_external_agent: false })
  expect(right(planOf("tasks-twice"))).toMatchObject({ has_ai_task: true, ai_tasks: 2 })
  expect(right(planOf("external-agent"))).toMatchObject({ has_ai_task: false, has_external_agent: true })
})

it("a plan has an external agent only where it makes one, whatever the template declares", () => {
  const { graph } = recording("external-agent")
  const stopped = { format_version: "1.2", planned_values: { root_module: { resources: [] } } }
  expect(right(readPlan(stopped, graph.join("\n"), () => spare))).toMatchObject({ has_external_agent: false })
})

it("a state names the app that works on the task", () => {
  const { resources, task_app_id } = right(stateOf("task"))
  expect(task_app_id).toBe(agentNamed(resources, "main").apps[0]?.id)
})

describe("a plan that makes resources anew", () => {
  const change = (address: string, actions: ReadonlyArray<string>, replace_paths?: ReadonlyArray<ReadonlyArray<string | number>>) => ({
    address,
    type: address.split(".")[0],
    change: { actions, ...(replace_paths === undefined ? {} : { replace_paths }) }
  })
  const replacementsOf = (resource_changes?: ReadonlyArray<unknown>) =>
    right(readPlan({ planned_values: {}, ...(resource_changes === undefined ? {} : { resource_changes }) }, "", () => spare)).replacements

  it("names them with the attributes that cannot be changed", () => {
    expect(
      replacementsOf([
        change("terraform_data.replaced[0]", ["delete", "create"], [["triggers_replace"], ["disk", 0, "size"]]),
        change("terraform_data.first", ["create", "delete"], [["input"]]),
        change("terraform_data.follows", ["delete", "create"])
      ])
    ).toStrictEqual([
      { resource: "terraform_data.replaced[0]", paths: ["triggers_replace", "disk.0.size"] },
      { resource: "terraform_data.first", paths: ["input"] },
      { resource: "terraform_data.follows", paths: [] }
    ])
  })

  it("lists replaced resources only", () => {
    const others = ["update", "create", "delete", "no-op", "read"].map((action) => change(`terraform_data.${action}`, [action]))
    expect(replacementsOf([...others, change("coder_agent.main", ["delete", "create"], [["env"]])])).toStrictEqual([])
    expect(replacementsOf()).toStrictEqual([])
  })
})
