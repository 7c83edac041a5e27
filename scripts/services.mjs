// Lists the services of the core with their methods, from the compiled declarations and their docstrings: `docs/reference/services.md`. A test
// compares it. `npm run api` writes it after `npm run build`.
import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { exportsOf } from "./api.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const core = join(root, "packages/core")

const opening = "([{<"
const closing = ")]}>"

/** The parts of a text between separators that are in no bracket, text or comment. */
const split = (text, separator) => {
  const parts = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (text.startsWith("/*", at)) at = text.indexOf("*/", at) + 1
    else if (letter === '"' || letter === "'" || letter === "`") at = text.indexOf(letter, at + 1)
    else if (text.startsWith("=>", at)) at++
    else if (opening.includes(letter)) depth++
    else if (closing.includes(letter)) depth--
    else if (letter === separator && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== "")
}

/** The text within the bracket at a place, and the place behind it. */
const within = (text, start) => {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const letter = text[at]
    if (text.startsWith("/*", at)) at = text.indexOf("*/", at) + 1
    else if (letter === '"' || letter === "'" || letter === "`") at = text.indexOf(letter, at + 1)
    else if (text.startsWith("=>", at)) at++
    else if (opening.includes(letter)) depth++
    else if (closing.includes(letter) && --depth === 0) return { inner: text.slice(start + 1, at), end: at + 1 }
  }
  throw new Error(`a bracket is not closed: ${text.slice(start, start + 80)}`)
}

/** The sentences of the docstring that ends before a member, in one line. */
const sentencesOf = (comment) =>
  comment
    .trim()
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\* ?/gm, "")
    .replace(/\s+/g, " ")
    .trim()

/** The members of an object type: name, docstring and type. */
const membersOf = (body) =>
  split(body, ";").flatMap((member) => {
    const [, comment = "", rest = ""] = /^((?:\/\*\*[\s\S]*?\*\/\s*)*)([\s\S]*)$/.exec(member) ?? []
    const [, name, optional, type] = /^(?:readonly )?(?:get )?([\w$]+)(\??):\s*([\s\S]*)$/.exec(rest) ?? []
    return name === undefined ? [] : [{ name, optional: optional === "?", doc: sentencesOf(comment), type: type.trim() }]
  })

/** A type as a reader knows it: by its name, and of objects without names the members. */
const shown = (type) => {
  let text = type
    .replaceAll(/import\("[^"]*"\)\./g, "")
    .replaceAll(/\b(?:typeof )?(?:Uuid|Timestamp)\.(Uuid|Timestamp)\b/g, "$1")
    .replaceAll(/(?:string|number|bigint) & (?:Brand\.)?Brand<"(\w+)">/g, "$1")
    .replaceAll(/\b(Effect|Stream|Redacted|Option|HashMap|Chunk|Duration)\.\1\b/g, "$1")
    .replaceAll(/(?:, never)+>/g, ">")
    .replaceAll(/\((\w+)\)\[\]/g, "$1[]")
    .replaceAll(/\s+/g, " ")
  for (let at = text.indexOf("{"); at >= 0; at = text.indexOf("{", at + 1)) {
    const { end, inner } = within(text, at)
    const names = membersOf(inner.replaceAll(/\/\*\*[\s\S]*?\*\//g, "")).map(({ name, optional }) => `${name}${optional ? "?" : ""}`)
    const [, indexed] = /^\s*(?:readonly )?\[\w+: string\]: ([^;]*);?\s*$/.exec(inner) ?? []
    const list =
      indexed !== undefined
        ? `Record<string, ${indexed}>`
        : names.length === 0
          ? "{}"
          : `{ ${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""} }`
    text = text.slice(0, at) + list + text.slice(end)
    at += list.length - 1
  }
  return text
}

const code = (text) => `\`${text.replaceAll("`", "'")}\``

/** Lists names as `a`, `b` or `c`. */
const either = (names) =>
  names
    .map(code)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1")

/** The parts of an effect's type: what it answers, how it fails, and whether it needs an actor. */
const effectOf = (type) => {
  const kind = /^(?:import\("[^"]*"\)\.)?(Effect|Stream)(?:\.\1)?(?=<)/.exec(type)
  if (kind === null) return { answers: shown(type), errors: [], actor: undefined }
  const [answer = "void", error = "never", context = "never"] = split(within(type, kind[0].length).inner, ",")
  const failures = split(error, "|").map(shown)
  return {
    answers: kind[1] === "Stream" ? `Stream<${shown(answer)}>` : shown(answer),
    errors: [...new Set(failures.filter((name) => name !== "never"))].toSorted(),
    actor: /\bCurrentActor\b/.test(context)
  }
}

/** A parameter; one that is taken apart at once has no name of its own. */
const parameterOf = (parameter) =>
  shown(parameter.startsWith("{") ? `input${parameter.slice(within(parameter, 0).end)}` : parameter.replace(/^args_\d+/, "input"))

const methodOf = ({ doc, name, type }) => {
  const generic = type.startsWith("<") ? within(type, 0) : undefined
  const rest = generic === undefined ? type : type.slice(generic.end).trim()
  const isFunction = rest.startsWith("(") && /^\s*=>/.test(rest.slice(within(rest, 0).end))
  const call = isFunction ? within(rest, 0) : undefined
  const parameters = call === undefined ? undefined : split(call.inner, ",").map(parameterOf)
  const { actor, answers, errors } = effectOf(call === undefined ? rest : rest.slice(call.end).replace(/^\s*=>\s*/, ""))
  const signature = parameters === undefined ? name : `${name}(${parameters.join(", ")})`
  const outcome = ["void", "undefined"].includes(answers) ? [] : [`→ ${code(answers)}`]
  const failing = errors.length === 0 ? [] : [`fails with ${either(errors)}`]
  const without = actor === false ? ["needs no actor"] : []
  const facts = [...outcome, ...failing, ...without].join("; ")
  return `- **${code(signature)}**${facts === "" ? "" : ` ${facts}`}${doc === "" ? "" : `\n\n  ${doc}`}`
}

/** The members of a service's shape, which may be an interface of its file. */
const bodyOf = (shape, text) => {
  if (shape.startsWith("{")) return within(shape, 0).inner
  const named = /^\w+$/.test(shape) ? new RegExp(`interface ${shape} (?:extends [^{]*)?\\{`).exec(text) : null
  return named === null ? "" : within(text, named.index + named[0].length - 1).inner
}

/** The services that an area's folder declares and exports. */
const servicesOf = async (area) => {
  const folder = join(core, "dist", area)
  const exported = await exportsOf(join(folder, "index.d.ts"))
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".d.ts")).toSorted()
  const services = []
  for (const file of files) {
    // A module that is gone may have left its declarations
    if (!existsSync(join(core, "src", area, file.replace(/\.d\.ts$/, ".ts")))) continue
    const text = await readFile(join(folder, file), "utf8")
    for (const found of text.matchAll(/^declare const (\w+)_base: Context\.TagClass</gm)) {
      const name = found[1]
      const declaration = new RegExp(
        `((?:/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\s*)?)export declare class ${name} extends ${name}_base \\{`
      ).exec(text)
      if (declaration === null || !exported.has(name)) continue
      const { inner } = within(text, declaration.index + declaration[0].length - 1)
      if (!/\bstatic readonly layer\b/.test(inner)) continue
      const [, , shape = ""] = split(within(text, found.index + found[0].length - 1).inner, ",")
      services.push({ name, doc: sentencesOf(declaration[1].trim()), methods: membersOf(bodyOf(shape, text)) })
    }
  }
  return services.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

const head = `# Services

The use cases of the core, which the interface's handlers call too. Each area is an import path. [Embedding](../embedding.md#calling-services-without-http)
shows how they are called, and by whom. A method is an effect; it runs as the actor that is provided, unless it says that it needs none. Errors are classes of
\`@atelier/core/platform\`, unless the area exports one of the name.

This page is generated from the declarations. \`npm run build && npm run api\` writes it.
`

/** The page. */
export const servicesPage = async () => {
  const areas = (await readdir(join(core, "src"), { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const parts = [head]
  for (const area of areas.toSorted()) {
    const services = await servicesOf(area)
    if (services.length === 0) continue
    parts.push(`## ${area}\n\n\`\`\`ts\nimport { ${services.map(({ name }) => name).join(", ")} } from "@atelier/core/${area}"\n\`\`\`\n`)
    for (const { doc, methods, name } of services) {
      parts.push(`### ${name}\n\n${doc}${doc === "" ? "" : "\n\n"}${methods.map(methodOf).join("\n")}\n`)
    }
  }
  return parts.join("\n")
}

/** The file of the page. */
export const servicesFile = join(root, "docs/reference/services.md")

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(join(root, "docs/reference"), { recursive: true })
  await writeFile(servicesFile, await servicesPage())
}
