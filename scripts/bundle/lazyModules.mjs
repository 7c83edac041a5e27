// Has the modules of a bundled script evaluated with their first use, as bundlers for telephones do ("inline requires"). A start needs half of the server's own
// modules, and a half of all that it did in their bodies: most of the other half are schemas of requests and of answers.
//
// esbuild keeps the body of each module in a function, which the modules that import it call first. Here they do not. In their place, each use of a name of another
// module asks whether that module has been evaluated: `($init_Users||init_Users(),Users)`. A name of the bundle is a name of one module alone: esbuild gives no
// variable of a function the name of one outside.
import { parseAst } from "vite"

/** The module that a statement of the script holds: esbuild writes `var init_Users=__esm({"packages/core/dist/Users.js"(){…}})`. */
const moduleOf = (statement) => {
  const [declaration] = statement.type === "VariableDeclaration" ? statement.declarations : []
  if (declaration?.init?.type !== "CallExpression" || declaration.init.callee.name !== "__esm") return undefined
  const [{ key, value }] = declaration.init.arguments[0].properties
  const evaluate = declaration.id.name
  return { path: key.value, evaluate, isEvaluated: `$${evaluate}`, body: value.body }
}

/** What a statement before that of a module declares for it: functions, variables, and the object of all its exports. */
const namesIn = (statement) => {
  if (statement.type === "FunctionDeclaration") return [statement.id.name]
  if (statement.type !== "VariableDeclaration") return []
  return statement.declarations.filter(({ init }) => init === null || init.type === "ObjectExpression").map(({ id }) => id.name)
}

/** The modules of a script by the functions that evaluate them, and with the statements before each. */
const modulesIn = (statements) => {
  const modules = new Map()
  let before = []
  for (const statement of statements) {
    const module = moduleOf(statement)
    if (module === undefined) {
      before.push(statement)
      continue
    }
    modules.set(module.evaluate, { ...module, before, names: before.flatMap(namesIn) })
    before = []
  }
  return { modules, after: before }
}

/** The module whose evaluation a statement asks for. */
const evaluatedBy = ({ expression }, modules) =>
  expression?.type === "CallExpression" && expression.callee.type === "Identifier" ? modules.get(expression.callee.name) : undefined

/** Whether a statement does nothing but to give names of its module their values, or one of these values fields. */
const isPlain = ({ directive, expression }, names) => {
  if (directive !== undefined) return true
  if (expression?.type === "AssignmentExpression") return expression.left.type !== "MemberExpression"
  const isAssign = expression?.type === "CallExpression" && expression.callee.object?.name === "Object"
  return isAssign && names.includes(expression.arguments[0].name)
}

/** A module may be evaluated at any time if its body changes nothing but its own names: not at all, if no name of it is used. */
const requirePlain = ({ body, names, path }, modules, source) => {
  for (const statement of body.body) {
    if (evaluatedBy(statement, modules) !== undefined || isPlain(statement, names)) continue
    throw new Error(`${path} does more than to give its names values: ${source.slice(statement.start, statement.end)}`)
  }
}

/** Names of fields, which are no uses of variables. */
const fieldOf = { MemberExpression: "property", Property: "key", MethodDefinition: "key", PropertyDefinition: "key" }

/** Calls `use` for each use of a variable below a node, with how it is written where it gives a field its name too. */
const visit = (node, use) => {
  if (Array.isArray(node)) return node.forEach((each) => visit(each, use))
  if (node === null || typeof node !== "object") return
  if (node.type === "Identifier") return use(node, "")
  if (node.type === "Property" && node.shorthand && node.value.type === "Identifier") return use(node.value, `${node.value.name}:`)
  const field = node.computed === true ? undefined : fieldOf[node.type]
  for (const [key, child] of Object.entries(node)) if (key !== field) visit(child, use)
}

/** The helpers of esbuild that call a module with its first use. */
const callers = ["__esm", "__commonJS"]

/** How they call the one method of an object. */
const callOfMethod = /\(0,(\w+)\[__getOwnPropNames\(\1\)\[0\]\]\)\(/

/**
 * Has the modules that one statement declares be functions. esbuild makes each the one method of an object, which is named after its path. These objects have a
 * shape each, so that V8 makes as many shapes as there are modules at each start, and their code takes a twentieth of all.
 */
const withFunctions = ({ declarations, type }, source) => {
  if (type !== "VariableDeclaration") return []
  return declarations.flatMap(({ id, init }) => {
    if (callers.includes(id.name)) {
      const called = source.slice(init.start, init.end).replace(callOfMethod, "$1(")
      if (called.length === init.end - init.start) throw new Error(`${id.name} calls modules in another way`)
      return [{ start: init.start, end: init.end, text: called }]
    }
    if (init?.type !== "CallExpression" || !callers.includes(init.callee.name)) return []
    const [object] = init.arguments
    const [{ value: method }] = object.properties
    const parameters = method.params.map(({ name }) => name).join(",")
    return [
      { start: object.start, end: method.body.start, text: `function(${parameters})` },
      { start: method.body.end, end: object.end, text: "" }
    ]
  })
}

/** A text with parts of it replaced. */
const edited = (source, edits) => {
  let at = 0
  const parts = []
  for (const { end, start, text } of edits.toSorted((a, b) => a.start - b.start)) {
    if (start < at) throw new Error(`two uses at once: ${source.slice(start, end)}`)
    parts.push(source.slice(at, start), text)
    at = end
  }
  return parts.join("") + source.slice(at)
}

/**
 * Returns a script that evaluates each module whose path `isOwn` takes with the first use of one of its names. Throws if its body does more than to define these. All
 * modules are functions in it.
 */
export const withLazyModules = (source, isOwn) => {
  const statements = parseAst(source).body[0].expression.body.body
  const { after, modules } = modulesIn(statements)
  const lazy = new Set([...modules.values()].filter(({ path }) => isOwn(path)))
  for (const module of lazy) requirePlain(module, modules, source)
  const owners = new Map([...lazy].flatMap((module) => module.names.map((name) => [name, module])))
  const edits = statements.flatMap((statement) => withFunctions(statement, source))
  const guardUses = (node, within) =>
    visit(node, ({ end, name, start }, field) => {
      const owner = owners.get(name)
      if (owner === undefined || owner === within) return
      edits.push({ start, end, text: `${field}(${owner.isEvaluated}||${owner.evaluate}(),${name})` })
    })
  for (const module of modules.values()) {
    for (const statement of module.before) {
      // The object of a module's exports is made with the script: `__export(users_exports,{Users:()=>Users})`
      if (statement.expression?.callee?.name === "__export") guardUses(statement.expression.arguments[1], undefined)
      else if (namesIn(statement).length === 0 || statement.type === "FunctionDeclaration") guardUses(statement, module)
    }
    for (const statement of module.body.body) {
      if (lazy.has(evaluatedBy(statement, modules))) edits.push({ ...statement, text: "" })
      else guardUses(statement, module)
    }
    const { end } = module.body
    if (lazy.has(module)) edits.push({ start: end - 1, end: end - 1, text: `;${module.isEvaluated}=true` })
  }
  guardUses(after, undefined)
  const [{ end }] = statements
  edits.push({ start: end, end, text: `var ${[...lazy].map(({ isEvaluated }) => isEvaluated).join(",\n")};` })
  return edited(source, edits)
}
