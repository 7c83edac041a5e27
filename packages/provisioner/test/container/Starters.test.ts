import { Either } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { templateEngines } from "../../src/engine/TemplatePath.js"
import { evaluate } from "../../src/template/Evaluation.js"
import { readTemplate } from "../../src/template/TemplateSource.js"
import { formatProblems } from "../../src/template/YamlSource.js"
import { aPlanInput, runAtOnce, uuid } from "../builders.js"

const starters = new URL("../../../templates/starters/", import.meta.url)

const evaluated = (name: string) => {
  const folder = new URL(`${name}/`, starters)
  const files = new Map(readdirSync(folder).map((path) => [path, { bytes: readFileSync(new URL(path, folder)), mode: 0o644 }]))
  const text = readFileSync(new URL("template.yaml", folder), "utf8")
  const [engine = ""] = templateEngines({ paths: ["template.yaml"], text: () => text })
  const template = Either.getOrThrowWith(
    runAtOnce(readTemplate(files, { engine, containers: { allowPrivileged: false } })),
    (problems) => new Error(formatProblems(problems))
  )
  expect(template.warnings).toEqual([])
  const place = {
    kind: "container",
    directory: "~",
    resourceType: "container",
    platform: { os: "linux", arch: "amd64" },
    port: 8000,
    token: () => uuid(9)
  } as const
  const evaluation = evaluate(template, aPlanInput(), place)
  return { engine, ...Either.getOrThrowWith(evaluation, (failure) => new Error(JSON.stringify(failure))) }
}

describe("a starter template of containers", () => {
  it.each([
    ["docker-node", "docker", "node:22", []],
    ["docker-python", "docker", "python:3.13-slim", []],
    ["docker-compose-like", "docker", "node:22", ["postgres:17"]],
    ["kubernetes-pod", "kubernetes", "docker.io/library/node:22", []]
  ])("%s is sound, and builds with its defaults", (name, engine, reference, sidecars) => {
    const evaluation = evaluated(name)
    expect(evaluation).toMatchObject({ engine, parameterProblems: [] })
    expect(evaluation.containers.map(({ image, sidecars }) => [image, sidecars.map(({ image }) => image)])).toEqual([
      [{ _tag: "Image", reference }, sidecars]
    ])
  })
})
