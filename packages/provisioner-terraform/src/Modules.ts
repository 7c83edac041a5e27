/** The values of a template's modules, each evaluated when another needs it. What only an apply or a provider tells is unknown. */
import { randomUUID } from "node:crypto"
import type { Attribute, ConfiguredBlock, ConfiguredBody, ModuleSource } from "./Configuration.js"
import { EvaluationError, refuse } from "./EvaluationError.js"
import { parseExpression } from "./ExpressionParser.js"
import type { Expression } from "./Expressions.js"
import { HclError } from "./Hcl.js"
import { evaluate } from "./Interpreter.js"
import { keyOfCall, maximumModules, maximumNesting, type ModuleTree } from "./ModuleTree.js"
import type { Scope } from "./Scope.js"
import { converted } from "./TypeConstraints.js"
import { Attributes, entriesOf, isList, settled, toNumber, toText, unknown, type Value } from "./Values.js"
import { Work } from "./Work.js"

/** What is the same for all modules of a form. */
export interface Context {
  readonly work: Work
  readonly tree: ModuleTree
  /** The values that a user gave, by the names of parameters. */
  readonly inputs: ReadonlyMap<string, string>
  /** The attributes of the product's own data sources, by their types; the rest of them is unknown. */
  readonly provided: ReadonlyMap<string, ReadonlyMap<string, Value>>
}

/** One of the instances that `count` or `for_each` makes of a block. */
export interface Instance {
  readonly key: string | number | undefined
  /** `each` and `count` of the instance. */
  readonly names: ReadonlyMap<string, Value>
}

const single: ReadonlyArray<Instance> = [{ key: undefined, names: new Map() }]

const maximumInstances = 1_000

/** The instances of the largest `count`: they are the same for all blocks. */
const counted: ReadonlyArray<Instance> = Array.from({ length: maximumInstances }, (_, index) => ({
  key: index,
  names: new Map([["count", new Map([["index", index]])]])
}))

export class Module {
  private readonly known = new Map<string, { readonly value: Value } | "evaluating">()
  private readonly expanded = new Map<string, ReadonlyArray<Instance> | undefined>()
  private readonly called = new Map<string, ReadonlyArray<readonly [Instance, Module]> | undefined>()

  constructor(
    readonly context: Context,
    readonly source: ModuleSource,
    /** The values of its variables, as far as its caller gives them. */
    private readonly given: ReadonlyMap<string, () => Value>,
    /** The calls that lead to it from the root. */
    readonly key = "",
    private readonly count = { modules: 0 }
  ) {
    if (++count.modules > maximumModules || key.split(".").length > maximumNesting)
      throw new EvaluationError({ cause: "the template has too many modules", isLimit: true })
  }

  scope(names: ReadonlyMap<string, Value> = new Map()): Scope {
    const { tree, work } = this.context
    return { evaluate, work, files: tree.files, names, resolve: (root, steps) => this.resolve(root, steps) }
  }

  value(attribute: Attribute, names: ReadonlyMap<string, Value> = new Map()): Value {
    return evaluate(attribute.expression(), this.scope(names))
  }

  /** Evaluates once; fails where the value needs itself. */
  private once(address: string, read: () => Value): Value {
    const found = this.known.get(address)
    if (found === "evaluating") return refuse(`${address} refers to itself`)
    if (found !== undefined) return found.value
    this.known.set(address, "evaluating")
    try {
      const value = read()
      this.known.set(address, { value })
      return value
    } finally {
      if (this.known.get(address) === "evaluating") this.known.delete(address)
    }
  }

  resolve(root: string, steps: ReadonlyArray<string>): { readonly value: Value; readonly used: number } {
    const [first = "", second = ""] = steps
    switch (root) {
      case "var":
        return { value: this.once(`var.${first}`, () => this.variable(first)), used: 1 }
      case "local": {
        const local = this.source.locals.get(first) ?? refuse(`there is no local value ${first}`)
        return { value: this.once(`local.${first}`, () => this.value(local)), used: 1 }
      }
      case "path":
        return { value: first === "module" ? this.source.folder : ".", used: 1 }
      case "terraform":
        return { value: first === "workspace" ? "default" : refuse(`there is no terraform.${first}`), used: 1 }
      case "module":
        return { value: this.once(`module.${first}`, () => this.moduleValue(first)), used: 1 }
      case "data":
        return { value: this.once(`data.${first}.${second}`, () => this.blockValue(`data.${first}.${second}`)), used: 2 }
      default:
        return { value: this.once(`${root}.${first}`, () => this.blockValue(`${root}.${first}`)), used: 1 }
    }
  }

  private variable(name: string): Value {
    const block = this.source.blocks.get(`var.${name}`) ?? refuse(`there is no variable ${name}`)
    const fallback = block.attributes.get("default")
    const given = this.given.get(name)?.()
    const value = given ?? (fallback === undefined ? unknown : this.value(fallback))
    const type = block.attributes.get("type")?.expression()
    return type === undefined
      ? value
      : converted(type, settled(value), { literal: (literal) => evaluate(literal, this.scope()), work: this.context.work })
  }

  /** The instances of a block; undefined if their number is not known. */
  instances(address: string, block: ConfiguredBlock): ReadonlyArray<Instance> | undefined {
    if (this.expanded.has(address)) return this.expanded.get(address)
    const instances = this.expand(block)
    if (instances !== undefined && instances.length > maximumInstances)
      return refuse(`${address} has more than ${maximumInstances} instances`)
    this.expanded.set(address, instances)
    return instances
  }

  private expand({ attributes }: ConfiguredBlock): ReadonlyArray<Instance> | undefined {
    const count = attributes.get("count")
    if (count !== undefined) {
      const value = this.value(count)
      if (value === unknown) return undefined
      const length = toNumber(value)
      if (!Number.isInteger(length) || length < 0) return refuse("count must be a whole number of at least 0")
      if (length > maximumInstances) return refuse(`count is more than ${maximumInstances}`)
      this.context.work.step(length)
      return counted.slice(0, length)
    }
    const each = attributes.get("for_each")
    if (each === undefined) return single
    const value = this.value(each)
    if (value === unknown) return undefined
    if (isList(value)) return refuse("for_each takes a map or a set of texts, not a list")
    const entries = entriesOf(value, this.context.work)
    this.context.work.step(entries.length)
    return entries.map(([key, item]) => {
      const name = toText(key)
      return {
        key: name,
        names: new Map([
          [
            "each",
            new Map<string, Value>([
              ["key", name],
              ["value", item]
            ])
          ]
        ])
      }
    })
  }

  /** One value, or a list or map of the instances' values. */
  private collected(instances: ReadonlyArray<Instance> | undefined, block: ConfiguredBlock, read: (instance: Instance) => Value): Value {
    if (instances === undefined) return unknown
    if (block.attributes.has("count")) return instances.map(read)
    if (block.attributes.has("for_each")) return new Map(instances.map((instance) => [String(instance.key), read(instance)]))
    const [only] = instances
    return only === undefined ? unknown : read(only)
  }

  private blockValue(address: string): Value {
    const block = this.source.blocks.get(address) ?? refuse(`there is no ${address}`)
    return this.collected(this.instances(address, block), block, (instance) => this.attributesOf(address, block, instance))
  }

  private attributesOf(address: string, block: ConfiguredBlock, instance: Instance): Value {
    const [type = ""] = block.labels
    const provided = block.type === "data" ? this.context.provided.get(type) : undefined
    const attribute = (name: string): Value => {
      if (type === "coder_parameter" && name === "value") return this.parameterValue(address, block, instance)
      const known = provided?.get(name)
      if (known !== undefined) return known
      const own = block.attributes.get(name)
      if (own !== undefined) return this.value(own, instance.names)
      // Data sources are read in the plan; what they are called there means nothing
      return name === "id" && block.type === "data" && type.startsWith("coder_") ? randomUUID() : unknown
    }
    const names = () => [
      ...new Set([...block.attributes.keys(), ...(provided?.keys() ?? []), ...(type === "coder_parameter" ? ["value"] : [])])
    ]
    return new Attributes({ attribute, names })
  }

  /** What the user gave, else the default; always a text, as it is to Terraform. */
  parameterValue(address: string, block: ConfiguredBlock, instance: Instance): Value {
    return this.once(`${address}[${String(instance.key)}].value`, () => {
      const name = block.attributes.get("name")
      const given = name === undefined ? undefined : this.context.inputs.get(toText(this.value(name, instance.names)))
      if (given !== undefined) return given
      const fallback = block.attributes.get("default")
      const value = fallback === undefined ? unknown : this.value(fallback, instance.names)
      return value === unknown || value === null ? unknown : toText(value)
    })
  }

  /** The modules that a call makes; undefined if their number is not known or they are not among the template's files. */
  modules(name: string): ReadonlyArray<readonly [Instance, Module]> | undefined {
    if (this.called.has(name)) return this.called.get(name)
    const block = this.source.blocks.get(`module.${name}`) ?? refuse(`there is no module ${name}`)
    const key = keyOfCall(this.key, name)
    const source = this.context.tree.module(key)
    const instances = source === undefined ? undefined : this.instances(`module.${name}`, block)
    const modules =
      source === undefined
        ? undefined
        : instances?.map((instance) => {
            const given = Array.from(block.attributes, ([key, attribute]) => [key, () => this.value(attribute, instance.names)] as const)
            return [instance, new Module(this.context, source, new Map(given), key, this.count)] as const
          })
    this.called.set(name, modules)
    return modules
  }

  /** Whether a call's source is among the files. */
  isLoaded(name: string): boolean {
    const source = this.context.tree.module(keyOfCall(this.key, name))
    return source !== undefined && source.blocks.size + source.locals.size > 0
  }

  private moduleValue(name: string): Value {
    const block = this.source.blocks.get(`module.${name}`) ?? refuse(`there is no module ${name}`)
    const modules = this.modules(name)
    if (modules === undefined) return unknown
    const byInstance = new Map(modules)
    return this.collected([...byInstance.keys()], block, (instance) => byInstance.get(instance)?.outputs() ?? unknown)
  }

  outputs(): Value {
    const names = [...this.source.blocks.keys()].flatMap((address) =>
      address.startsWith("output.") ? [address.slice("output.".length)] : []
    )
    const attribute = (name: string): Value => {
      const value = this.source.blocks.get(`output.${name}`)?.attributes.get("value")
      return value === undefined ? refuse(`the module has no output ${name}`) : this.once(`output.${name}`, () => this.value(value))
    }
    return new Attributes({ attribute, names: () => names })
  }

  /** The blocks of a type in a body, with those that `dynamic` makes as far as their number is known. */
  nested(body: ConfiguredBody, type: string, names: Instance["names"]): ReadonlyArray<Nested> {
    return body.blocks.flatMap((block) => {
      if (block.type === type) return [{ body: block, names }]
      return block.type === "dynamic" && block.labels[0] === type ? this.dynamic(block, type, names) : []
    })
  }

  private dynamic({ attributes, blocks }: ConfiguredBlock, type: string, names: Instance["names"]): ReadonlyArray<Nested> {
    const each = attributes.get("for_each")
    const body = blocks.find((inner) => inner.type === "content")
    const value = each === undefined ? undefined : valueOrNone(() => settled(this.value(each, names)))
    if (body === undefined || value === undefined || value === null || value === unknown || typeof value !== "object") return []
    const chosen = valueOrNone(() => attributes.get("iterator")?.expression())
    const iterator = chosen?.kind === "reference" ? chosen.name : type
    return entriesOf(value, this.context.work)
      .slice(0, maximumInstances)
      .map(([key, item]) => {
        const current = new Map<string, Value>([
          ["key", key],
          ["value", item]
        ])
        return { body, names: new Map<string, Value>([...names, [iterator, current]]) }
      })
  }
}

/** A block in another, with the names of the iterators around. */
export interface Nested {
  readonly body: ConfiguredBody
  readonly names: Instance["names"]
}

/** The result; undefined where an expression has no value. */
export const valueOrNone = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof EvaluationError && error.isLimit !== true) return undefined
    throw error
  }
}

/** The value of a template variable, which is given as a text. */
export const variableValue = (type: Expression | undefined, text: string): Value => {
  if (type === undefined || type.kind === "reference") return text
  try {
    const noNames = { resolve: () => refuse("a value refers to nothing") }
    return evaluate(parseExpression(text, 1), { ...noNames, evaluate, work: new Work(), files: new Map(), names: new Map() })
  } catch (error) {
    if (error instanceof HclError) return refuse(error.message)
    throw error
  }
}
