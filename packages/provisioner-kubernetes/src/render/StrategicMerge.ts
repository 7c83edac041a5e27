/**
 * Strategic merge patches, as `kubectl patch` applies them, on the parts of a Pod: objects are merged, `null` removes a field, and the elements of lists are
 * found by their key. The cluster merges only into objects that exist, and most of a Pod cannot be changed once it does.
 */

/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: unknown
}

/** The key of the elements of a list, by the name of the field. Lists of other fields are replaced. */
const mergeKeys: Readonly<Record<string, ReadonlyArray<string>>> = {
  containers: ["name"],
  initContainers: ["name"],
  ephemeralContainers: ["name"],
  volumes: ["name"],
  env: ["name"],
  imagePullSecrets: ["name"],
  volumeMounts: ["mountPath"],
  volumeDevices: ["devicePath"],
  ports: ["containerPort"],
  hostAliases: ["ip"],
  topologySpreadConstraints: ["topologyKey"],
  resourceClaims: ["name"],
  ownerReferences: ["uid"]
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** A value without directives, as it is where the patch meets nothing. */
const plain = (value: unknown): unknown => {
  if (isList(value)) return value.filter((item) => !(isObject(item) && "$patch" in item)).map(plain)
  return isObject(value) ? merged({}, value) : value
}

const mergedLists = (name: string, base: ReadonlyArray<unknown>, patch: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const key = mergeKeys[name]?.[0]
  const isReplacing = patch.some((item) => isObject(item) && item["$patch"] === "replace")
  if (key === undefined || isReplacing) return patch.filter((item) => !(isObject(item) && item["$patch"] === "replace")).map(plain)
  const result = [...base]
  const added: Array<unknown> = []
  for (const item of patch) {
    if (!isObject(item)) {
      if (!result.includes(item)) added.push(item)
      continue
    }
    const at = result.findIndex((other) => isObject(other) && other[key] === item[key])
    if (item["$patch"] === "delete") {
      if (at >= 0) result.splice(at, 1)
    } else if (at < 0) added.push(plain(item))
    else result[at] = merged(result[at] as JsonObject, item)
  }
  return [...result, ...added]
}

/** Returns an object with a patch in it. Neither is changed. */
export const merged = (base: JsonObject, patch: JsonObject): JsonObject => {
  const { $patch, ...fields } = patch
  if ($patch === "replace") return merged({}, fields)
  const result = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(fields)) {
    const present = result.get(name)
    // Orders of elements and lists of plain values to delete: what a Pod is made of has no use for them
    if (/^\$(?:setElementOrder|deleteFromPrimitiveList|retainKeys)/.test(name)) continue
    if (value === null) result.delete(name)
    else if (isObject(value) && value["$patch"] === "delete") result.delete(name)
    else if (isObject(value)) result.set(name, merged(isObject(present) ? present : {}, value))
    else if (isList(value)) result.set(name, isList(present) ? mergedLists(name, present, value) : plain(value))
    else result.set(name, value)
  }
  return Object.fromEntries(result)
}
