import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { templatePath } from "../../src/engine/TemplatePath.js"
import { readTemplate } from "../../src/template/TemplateSource.js"
import { formatProblems } from "../../src/template/YamlSource.js"
import { longestTurn, maximumTurn } from "../../../core/test/platform/longestTurn.js"
import { runAtOnce } from "../builders.js"

const source = (yaml: string | Uint8Array, paths: ReadonlyArray<string> = []) =>
  new Map(
    [
      ["template.yaml", typeof yaml === "string" ? new TextEncoder().encode(yaml) : yaml] as const,
      ...paths.map((path) => [path, new Uint8Array(0)] as const)
    ].map(([path, bytes]) => [path, { bytes, mode: 0o644 }] as const)
  )

const problems = (yaml: string | Uint8Array, paths?: ReadonlyArray<string>) =>
  Either.match(runAtOnce(readTemplate(source(yaml, paths))), { onLeft: (found) => formatProblems(found).split("\n"), onRight: () => [] })
const warnings = (yaml: string) => formatProblems(Either.getOrThrow(runAtOnce(readTemplate(source(yaml)))).warnings).split("\n")

describe("the template of a source", () => {
  it("is template.yaml or template.yml at the root", () => {
    expect(templatePath(["README.md", "template.yaml"])).toBe("template.yaml")
    expect(templatePath(["template.yml"])).toBe("template.yml")
    expect(templatePath(["a/template.yaml", "main.tf"])).toBeUndefined()
  })
})

describe("a template's errors name file, line, column and cause", () => {
  it.each<[string, string, ReadonlyArray<string>]>([
    ["an empty file", "", ["template.yaml:1:1: must be a mapping, not empty"]],
    ["a list", "- a", ["template.yaml:1:1: must be a mapping, not a list"]],
    [
      "broken YAML",
      "agents:\n  - name: [a\n",
      ["template.yaml:3:1: Flow sequence in block collection must be sufficiently indented and end with a ]"]
    ],
    ["two documents", "agents: []\n---\nagents: []\n", ["template.yaml:2:1: the file holds more than one document"]],
    ["an unknown tag", "agents: !exec []\n", ["template.yaml:1:9: Unresolved tag: !exec"]],
    ["a key twice", "agents: []\ntags: {}\nagents: []\n", ["template.yaml:3:1: the key agents must not occur twice"]],
    ["a key nobody can hold", "tags:\n  __proto__: x\n", ["template.yaml:2:3: the key __proto__ must not occur at all"]],
    ["an unknown key", "agents:\n  - name: main\n    memory: 4\n", ['template.yaml:3:5: agents[0]: there is no "memory" here']],
    ["a key in the singular", "agent: []\n", ['template.yaml:1:1: there is no "agent" here; did you mean "agents"?']],
    [
      "each broken expression of a text",
      'agents:\n- name: a\n  dir: "${nope.a}/${parameter}/${shell(}/${owner.name}/${}"\n',
      [
        'template.yaml:3:11: agents[0].dir: "nope" is not one of parameter, variable, workspace, owner, template, task, agent_token; for a literal "${" write "$${"',
        'template.yaml:3:21: agents[0].dir: "parameter" is not a value; for a literal "${" write "$${"',
        'template.yaml:3:40: agents[0].dir: unexpected "}"',
        'template.yaml:3:58: agents[0].dir: unexpected "}"'
      ]
    ],
    [
      "a text that YAML takes for a number and writes in another way",
      "parameters:\n- name: v\n  default: 3.10\n- name: n\n  type: number\n  default: 3.10\nagents:\n- name: a\n  env: { PORT: 8080, MODE: 0o644 }\n",
      [
        "template.yaml:3:12: parameters[0].default: must be in quotes: without them, YAML does not keep 3.10 as it is written",
        "template.yaml:9:28: agents[0].env.MODE: must be in quotes: without them, YAML does not keep 0o644 as it is written"
      ]
    ],
    [
      "addresses of apps that cannot be opened",
      `agents:
- name: a
  apps:
  - { slug: a, url: "localhost:80" }
  - { slug: b, url: "ftp://x", healthcheck: { url: "localhost/\${workspace.port}", interval: 5, threshold: 1 } }
  - { slug: c, url: "\${workspace.access_url}/x" }
  - { slug: d, url: "vscode://x", external: true }
`,
      [
        'template.yaml:4:21: agents[0].apps[0].url: must begin with http:// or https://, as in "http://localhost:8080", not "localhost:80"',
        'template.yaml:5:21: agents[0].apps[1].url: must begin with http:// or https://, as in "http://localhost:8080", not "ftp://x"',
        'template.yaml:5:52: agents[0].apps[1].healthcheck.url: must begin with http:// or https://, as in "http://localhost:8080", not "localhost/"'
      ]
    ],
    ["a missing key", "agents:\n  - dir: x\n", ['template.yaml:2:5: agents[0]: "name" is missing']],
    ["a wrong type", "agents:\n  - name: 12\n", ["template.yaml:2:11: agents[0].name: must be text, not 12"]],
    ["a list's place taken", "agents:\n  name: x\n", ["template.yaml:2:3: agents: must be a list, not a mapping"]],
    [
      "a wrong choice",
      "agents:\n- name: a\n  os: lunix\n  arch: x86\n",
      [
        'template.yaml:3:7: agents[0].os: must be one of linux, darwin, windows, not "lunix"',
        'template.yaml:4:9: agents[0].arch: must be one of amd64, arm64, armv7, not "x86"'
      ]
    ],
    [
      "a broken name",
      "agents:\n- name: my_agent\n",
      ['template.yaml:2:9: agents[0].name: must be letters and digits with single dashes between, of at most 64 characters, not "my_agent"']
    ],
    ["a name twice, in another case", "agents:\n- name: main\n- name: Main\n", ['template.yaml:3:9: agents[1].name: "main" occurs twice']],
    [
      "a slug of two agents",
      "agents:\n- name: a\n  apps: [{slug: x, url: http://u}]\n- name: b\n  apps: [{slug: x, url: http://u}]\n",
      ['template.yaml:5:17: agents[1].apps[0].slug: "x" occurs twice']
    ],
    [
      "an app of nothing",
      "agents:\n- name: a\n  apps:\n  - slug: x\n",
      ['template.yaml:4:11: agents[0].apps[0].slug: "x" needs a url or a command']
    ],
    [
      "an app of both",
      "agents:\n- name: a\n  apps:\n  - slug: x\n    url: u\n    command: c\n",
      ["template.yaml:6:14: agents[0].apps[0].command: excludes url"]
    ],
    [
      "an external app that is shared",
      "agents:\n- name: a\n  apps:\n  - {slug: x, url: u, external: true, share: owner}\n",
      ["template.yaml:4:46: agents[0].apps[0].share: excludes external"]
    ],
    [
      "a script without trigger",
      "agents:\n- name: a\n  scripts:\n  - display_name: Go\n    script: go\n",
      ["template.yaml:5:13: agents[0].scripts[0].script: never runs: give run_on_start, run_for_owner, run_on_stop or cron"]
    ],
    [
      "a script that blocks logins it does not precede",
      "agents:\n- name: a\n  scripts:\n  - {display_name: Go, script: go, run_on_stop: true, start_blocks_login: true}\n",
      ["template.yaml:4:75: agents[0].scripts[0].start_blocks_login: needs run_on_start: true"]
    ],
    [
      "a cron of five fields",
      "agents:\n- name: a\n  scripts:\n  - display_name: Go\n    script: go\n    cron: 0 4 * * *\n",
      [
        'template.yaml:6:11: agents[0].scripts[0].cron: must be a schedule of six fields (second, minute, hour, day, month, weekday), not "0 4 * * *"'
      ]
    ],
    [
      "an environment name",
      "agents:\n- name: a\n  env:\n    A-B: x\n",
      ['template.yaml:4:10: agents[0].env.A-B: must be a name of letters, digits and _, not starting with a digit, not "A-B"']
    ],
    ["an agent that is none", "env:\n- {name: A, value: b, agent: main}\n", ['template.yaml:2:30: env[0].agent: there is no agent "main"']],
    ["a file of nothing", "files:\n- path: a\n", ["template.yaml:2:9: files[0].path: needs either content or source"]],
    [
      "a file of the source that is none",
      "files:\n- path: a\n  source: home\n",
      ['template.yaml:3:11: files[0].source: the template\'s source has no "home"']
    ],
    ["a path out of the source", "files:\n- path: a\n  source: ../x\n", ['template.yaml:3:11: files[0].source: "../x" leads outside']],
    [
      "permissions as a number",
      "files:\n- path: a\n  content: b\n  mode: 0644\n",
      ['template.yaml:4:9: files[0].mode: must be octal permissions in quotes, such as "0644", not 644']
    ],
    [
      "two default presets",
      "presets:\n- {name: a, default: true}\n- {name: b, default: true}\n",
      ["template.yaml:3:22: presets[1].default: another preset is the default already"]
    ],
    [
      "an ephemeral parameter that stays",
      "parameters:\n- name: a\n  ephemeral: true\n",
      ["template.yaml:3:14: parameters[0].ephemeral: needs mutable: true"]
    ],
    [
      "an ephemeral parameter without default",
      "parameters:\n- {name: a, ephemeral: true, mutable: true}\n",
      ["template.yaml:2:24: parameters[0].ephemeral: needs a default"]
    ],
    [
      "a form that the type has not",
      "parameters:\n- {name: a, type: bool, form_type: slider}\n",
      ["template.yaml:2:36: parameters[0].form_type: a bool parameter without options takes checkbox or switch"]
    ],
    [
      "a pattern for numbers",
      "parameters:\n- {name: a, type: number, validation: {regex: x, error: y}}\n",
      ["template.yaml:2:47: parameters[0].validation.regex: is for parameters of type string"]
    ],
    [
      "bounds for text",
      "parameters:\n- {name: a, validation: {min: 1}}\n",
      ["template.yaml:2:31: parameters[0].validation.min: is for parameters of type number"]
    ],
    [
      "a pattern with bounds",
      "parameters:\n- {name: a, validation: {regex: x, error: y, max: 1}}\n",
      ["template.yaml:2:33: parameters[0].validation.regex: excludes min, max and monotonic"]
    ],
    [
      "a pattern without explanation",
      "parameters:\n- {name: a, validation: {regex: x}}\n",
      ['template.yaml:2:33: parameters[0].validation.regex: needs an "error" that says what is expected']
    ],
    [
      "a broken pattern",
      "parameters:\n- {name: a, validation: {regex: '(', error: y}}\n",
      ["template.yaml:2:33: parameters[0].validation.regex: cannot be used: error parsing regexp: missing closing ): `(`"]
    ],
    [
      "bounds the wrong way round",
      "parameters:\n- {name: a, type: number, validation: {min: 2, max: 1}}\n",
      ["template.yaml:2:45: parameters[0].validation.min: must not be above max, 1"]
    ],
    [
      "a negative time",
      "agents:\n- {name: a, connection_timeout: -1}\n",
      ["template.yaml:2:33: agents[0].connection_timeout: must be a whole number from 0 to 2147483647, not -1"]
    ],
    [
      "a list of other things",
      "parameters:\n- {name: a, type: list(string), default: [1]}\n",
      ["template.yaml:2:42: parameters[0].default: must be a list of texts alone"]
    ],
    [
      "a list with a broken text",
      "parameters:\n- {name: a, default: [x, '${y}']}\n",
      ['template.yaml:2:22: parameters[0].default: "y" is not a value; for a literal "${" write "$${"']
    ],
    ["a list for one value", "agents:\n- {name: a, env: {A: [x]}}\n", ["template.yaml:2:22: agents[0].env.A: must not be a list"]],
    [
      "a value of no type",
      "parameters:\n- {name: a, default: {x: 1}}\n",
      ["template.yaml:2:22: parameters[0].default: must be text, a number, true, false or a list of texts, not a mapping"]
    ]
  ])("%s", (_, yaml, expected) => {
    expect(problems(yaml)).toEqual(expected)
  })

  it.each<[string, string, string]>([
    [
      "a plain text",
      "agents:\n- name: a\n  dir: x/${HOME}\n",
      '3:12: agents[0].dir: "HOME" is not a value; for a literal "${" write "$${"'
    ],
    ["a quoted text", 'agents:\n- name: a\n  dir: "${owner.nme}"\n', "3:11: agents[0].dir: there is no owner.nme here"],
    ["a quoted text with escapes", 'agents:\n- name: a\n  dir: "\\x61${owner.nme}"\n', "3:8: agents[0].dir: there is no owner.nme here"],
    [
      "a block text",
      "agents:\n- name: a\n  startup_script: |\n    cd /\n\n      echo ${owner.nme}\n",
      "6:14: agents[0].startup_script: there is no owner.nme here"
    ],
    [
      "a folded text",
      "agents:\n- name: a\n  startup_script: >\n    a\n    ${owner.nme}\n",
      "3:19: agents[0].startup_script: there is no owner.nme here"
    ],
    ["an item reached by an alias", "tags: {a: &a '${workspace.name}'}\nagents: []\n", "1:17: tags.a: there is no workspace.name here"],
    ["a condition", "agents:\n- name: a\n  when: parameter.x == 'y'\n", "3:9: agents[0].when: there is no parameter.x here"],
    ["a condition's syntax", "agents:\n- name: a\n  when: owner.name ==\n", "3:22: agents[0].when: an expression is missing"],
    ["a list that is none", "agents:\n- name: a\n  dir: ${join(owner.name, ' ')}\n", "3:15: agents[0].dir: owner.name is not a list"],
    [
      "a parameter declared later",
      "parameters:\n- {name: a, default: '${parameter.b}'}\n- {name: b, default: x}\n",
      "2:25: parameters[0].default: there is no parameter.b here"
    ],
    [
      "a preset that depends on a parameter",
      "parameters: [{name: a}]\npresets:\n- {name: p, parameters: {a: '${parameter.a}'}}\n",
      "3:32: presets[0].parameters.a: there is no parameter.a here"
    ],
    [
      "a variable that depends on another",
      "variables:\n- name: a\n- {name: b, default: '${variable.a}'}\n",
      "3:25: variables[1].default: there is no variable.a here"
    ]
  ])("inside %s", (_, yaml, expected) => {
    expect(problems(yaml)).toEqual([`template.yaml:${expected}`])
  })

  it("all at once, up to twenty", () => {
    const many = problems(`agents:\n${"- os: x\n".repeat(30)}`)
    expect(many).toHaveLength(20)
    expect(many[2]).toBe('template.yaml:3:3: agents[1]: "name" is missing')
  })

  it.each([
    ["no text", new Uint8Array([0xff, 0xfe, 0x00]), "template.yaml:1:1: the file is not UTF-8 text"],
    ["too large", "a".repeat(256 * 1024 + 1), "template.yaml:1:1: the file is larger than 262144 bytes"],
    ["nested without end", "[".repeat(100_000), "template.yaml:1:101: the file is nested too deeply"],
    [
      "a bomb of aliases",
      `tags: &a0 {x: y}\n${Array.from({ length: 30 }, (_, n) => `k${n}: &a${n + 1} [*a${n}, *a${n}]`).join("\n")}`,
      "template.yaml:1:1: aliases are used too often; at most 100 uses of an anchor are resolved"
    ],
    [
      "small, but large with its aliases in place",
      `agents:\n- name: a\n  startup_script: &s "${"${1}".repeat(20_000)}"\n  scripts:\n${"  - {display_name: s, cron: '* * * * * *', script: *s}\n".repeat(90)}`,
      "template.yaml:1:1: the file is larger than 262144 characters with its aliases in place"
    ],
    ["containing itself", "agents: &a\n- *a\n", "template.yaml:1:1: the file is larger than 262144 characters with its aliases in place"]
  ])("of a file that is %s", (_, yaml, expected) => {
    expect(problems(yaml)).toEqual([expected])
  })

  it.each<[string, string, string]>([
    ["in a quoted text", 'tags:\n  a: "x\\0y"\n', "template.yaml:2:6: must not contain the character U+0000"],
    [
      "in a block",
      "agents:\n- name: a\n  startup_script: |\n    one\n    t\0o\n",
      "template.yaml:5:6: must not contain the character U+0000"
    ],
    ["in a key", 'tags:\n  "a\\x00": x\n', "template.yaml:2:3: must not contain the character U+0000"]
  ])("U+0000 %s", (_, yaml, expected) => {
    expect(problems(yaml)).toEqual([expected])
  })

  it.each<[string, string, string]>([
    ["broken agents", `agents:\n${"  - x: 1\n".repeat(26_000)}`, "template.yaml:2001:6: the file has more than 20000 YAML tokens"],
    ["items of a list", `agents:\n${"  - 1\n".repeat(2000)}`, "template.yaml:2:3: agents: has more than 32 items"],
    ["unknown escapes", `tags:\n  a: "x\n   ${"\\q".repeat(100_000)}"`, "template.yaml:3:4: Invalid escape sequence \\q"],
    ["expressions", `tags:\n  a: "${"${1}".repeat(3000)}"`, "template.yaml:2:6: the template's expressions have more than 5000 parts"],
    ["documents", "---\n".repeat(9000), "template.yaml:2:1: the file holds more than one document"]
  ])("and too many %s are not all read", (_, yaml, expected) => {
    expect(problems(yaml)).toEqual([expected])
  })

  it.each<[string, string]>([
    ["broken agents", `agents:\n${"  - x: 1\n".repeat(26_000)}`],
    ["broken parts of agents", `agents:\n${`- name: a\n  apps:\n${"  - 1\n".repeat(99)}`.repeat(32)}`],
    ["unclosed quotes", 'a: "b\n'.repeat(3000)],
    ["unknown tags", "- !!x 1\n".repeat(2000)],
    ["open brackets", "[".repeat(256 * 1024)],
    ["repeated keys", "a: 1\n".repeat(2800)],
    ["expressions", `agents:\n- name: a\n  env:\n${Array.from({ length: 1200 }, (_, n) => `    a${n}: \${parameter.a}\n`).join("")}`],
    [
      "nested expressions",
      `agents:\n- name: a\n  when: '${Array.from({ length: 30 }, () => `${"(".repeat(30)}1${")".repeat(30)}`).join("||")}'\n`
    ]
  ])("without keeping others waiting for 50 ms because of %s", async (_, yaml) => {
    expect(await longestTurn(() => Effect.runPromise(Effect.either(readTemplate(source(yaml)))))).toBeLessThan(maximumTurn)
  })

  it("in a file whose aliases make it no larger than a file may be", () => {
    expect(problems(`agents:\n- {name: a, startup_script: &s "${"x".repeat(80_000)}", shutdown_script: *s}\n`)).toEqual([])
  })

  it("in a file of nothing but errors", () => {
    const keys = Array.from({ length: 2000 }, (_, index) => `k${index}: 1`).join("\n")
    expect(problems(keys)[0]).toBe('template.yaml:1:1: there is no "k0" here')
    const names = `agents:\n- name: a\n  env:\n${Array.from({ length: 2000 }, (_, index) => `    ${index}: 1`).join("\n")}`
    expect(problems(names)[0]).toContain("template.yaml:4:8: agents[0].env[0]")
  })

  it("and nothing ever makes its reader crash", () => {
    const line = fc.constantFrom(
      "agents:",
      "- name: a",
      "  apps:",
      "  - slug: x",
      "    url: ${owner.name}",
      "*a",
      "&a [",
      "{",
      "}",
      "? x",
      "<<: *a",
      "| ",
      "\t",
      "when: (",
      "%YAML 1.1",
      "---",
      "!!binary x",
      "null",
      "-1.5e3"
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"))
        ),
        (yaml) => {
          for (const problem of problems(yaml)) expect(problem).toMatch(/^template\.yaml:[1-9]\d*:[1-9]\d*: /)
        }
      ),
      { numRuns: 200 }
    )
  })
})

describe("a template's warnings", () => {
  it("name a template without agents", () => {
    expect(warnings("parameters: []\n")).toEqual([
      "template.yaml:1:1: the template has no agents, so its workspaces have nothing to connect to"
    ])
  })

  it("name values that enter a shell unquoted", () => {
    const yaml = `
parameters:
- name: repo
- {name: size, type: number, default: 1}
agents:
- name: main
  startup_script: git clone \${parameter.repo} \${shell(parameter.repo)} \${parameter.size}
  apps: [{slug: sh, command: "echo \${owner.name}"}]
`
    expect(warnings(yaml)).toEqual([
      "template.yaml:7:31: agents[0].startup_script: ${parameter.repo} enters a shell as it is; ${shell(parameter.repo)} makes it one word",
      "template.yaml:8:38: agents[0].apps[0].command: ${owner.name} enters a shell as it is; ${shell(owner.name)} makes it one word"
    ])
  })

  it("name lists, and values that another function has only quoted for something else", () => {
    const yaml = `
parameters:
- {name: repo}
- {name: hosts, type: list(string)}
agents:
- name: main
  startup_script: ping \${parameter.hosts} \${shell_list(parameter.hosts)} \${shell(join(parameter.hosts, ","))}
  shutdown_script: ping \${join(parameter.hosts, " ")} \${url(parameter.repo)} \${contains(parameter.hosts, "a")} \${parameter.repo == "a"}
`
    const hint = "${parameter.hosts} enters a shell as it is; ${shell_list(parameter.hosts)} makes each element one word"
    expect(warnings(yaml)).toEqual([
      `template.yaml:7:26: agents[0].startup_script: ${hint}`,
      `template.yaml:8:32: agents[0].shutdown_script: ${hint}`,
      "template.yaml:8:61: agents[0].shutdown_script: ${parameter.repo} enters a shell as it is; ${shell(parameter.repo)} makes it one word"
    ])
  })

  it("report preset values for undeclared parameters", () => {
    expect(warnings("presets:\n- name: p\n  parameters: {size: 1}\n")).toEqual([
      "template.yaml:1:1: the template has no agents, so its workspaces have nothing to connect to",
      'template.yaml:3:22: presets[0].parameters.size: there is no parameter "size"'
    ])
  })
})
