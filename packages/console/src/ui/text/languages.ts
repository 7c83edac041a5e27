/** The languages of the editor, each loaded when a file of it is opened. */
import type { StreamParser } from "@codemirror/language"

type Parser = () => Promise<StreamParser<unknown>>

const parser =
  <State>(load: () => Promise<StreamParser<State>>): Parser =>
  async () =>
    // A parser is given back only the states that it made
    (await load()) as StreamParser<unknown>

const yaml = parser(async () => (await import("@codemirror/legacy-modes/mode/yaml")).yaml)
const shell = parser(async () => (await import("@codemirror/legacy-modes/mode/shell")).shell)
const toml = parser(async () => (await import("@codemirror/legacy-modes/mode/toml")).toml)
const docker = parser(async () => (await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile)
const properties = parser(async () => (await import("@codemirror/legacy-modes/mode/properties")).properties)
const python = parser(async () => (await import("@codemirror/legacy-modes/mode/python")).python)
const go = parser(async () => (await import("@codemirror/legacy-modes/mode/go")).go)
const rust = parser(async () => (await import("@codemirror/legacy-modes/mode/rust")).rust)
const ruby = parser(async () => (await import("@codemirror/legacy-modes/mode/ruby")).ruby)
const css = parser(async () => (await import("@codemirror/legacy-modes/mode/css")).css)
const xml = parser(async () => (await import("@codemirror/legacy-modes/mode/xml")).xml)
const html = parser(async () => (await import("@codemirror/legacy-modes/mode/xml")).html)
const sql = parser(async () => (await import("@codemirror/legacy-modes/mode/sql")).standardSQL)
const javascript = parser(async () => (await import("@codemirror/legacy-modes/mode/javascript")).javascript)
const typescript = parser(async () => (await import("@codemirror/legacy-modes/mode/javascript")).typescript)
const json = parser(async () => (await import("@codemirror/legacy-modes/mode/javascript")).json)
const diff = parser(async () => (await import("@codemirror/legacy-modes/mode/diff")).diff)
const hcl = parser(async () => (await import("./hcl.js")).hcl)

/** A map, because a file may end with `constructor`. */
const byEnding: ReadonlyMap<string, Parser> = new Map(
  Object.entries({
    yaml,
    yml: yaml,
    sh: shell,
    bash: shell,
    zsh: shell,
    bashrc: shell,
    profile: shell,
    toml,
    ini: properties,
    conf: properties,
    cfg: properties,
    env: properties,
    properties,
    dockerfile: docker,
    py: python,
    go,
    rs: rust,
    rb: ruby,
    css,
    xml,
    svg: xml,
    html,
    sql,
    js: javascript,
    mjs: javascript,
    cjs: javascript,
    jsx: javascript,
    ts: typescript,
    tsx: typescript,
    json,
    diff,
    patch: diff,
    tf: hcl,
    tfvars: hcl,
    hcl
  })
)

/** How to load the language of a file; undefined for plain text. */
export const languageOf = (path: string): Parser | undefined => {
  const name = (path.split("/").at(-1) ?? "").toLowerCase()
  // `Dockerfile`, `.bashrc` and `main.tf` end with the word that counts
  return byEnding.get(name.split(".").at(-1) ?? "")
}
