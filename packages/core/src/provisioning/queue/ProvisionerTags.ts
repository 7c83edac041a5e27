/** Tags decide which daemons take a job. templates-and-provisioning.md §3.2, §6.2. */
import { Schema } from "effect"
import type { Uuid } from "../../platform/texts/Uuid.js"

export const ProvisionerTags = Schema.Record({ key: Schema.String, value: Schema.String })
export type ProvisionerTags = typeof ProvisionerTags.Type

/** The tags of a job or daemon that names none. */
export const untagged: ProvisionerTags = { scope: "organization", owner: "" }

/** The largest tags as JSON, in bytes: they travel in events. */
const maximumTagsSize = 4_096

/** Later maps win, but an empty value never replaces another. */
export const overlayTags = (...layers: ReadonlyArray<ProvisionerTags>): ProvisionerTags => {
  const merged = new Map<string, string>()
  for (const [key, value] of layers.flatMap((layer) => Object.entries(layer))) {
    if (value !== "" || !merged.has(key)) merged.set(key, value)
  }
  return Object.fromEntries(merged)
}

/** `scope` becomes `user` or `organization`; `owner` is the user of a user's scope and empty otherwise, whatever was given. */
export const normalizeTags = (tags: ProvisionerTags, userId: Uuid): ProvisionerTags =>
  tags["scope"] === "user" ? { ...tags, owner: userId } : { ...tags, ...untagged }

/** The same text for equal tags. */
export const canonicalTags = (tags: ProvisionerTags): string =>
  JSON.stringify(Object.fromEntries(Object.entries(tags).toSorted(([left], [right]) => (left < right ? -1 : 1))))

const untaggedText = canonicalTags(untagged)

/** Whether a daemon takes a job: untagged jobs need an untagged daemon; any other job's tags all have to be the daemon's too. */
export const tagsContain = (daemon: ProvisionerTags, job: ProvisionerTags): boolean =>
  canonicalTags(job) === untaggedText
    ? canonicalTags(daemon) === untaggedText
    : Object.entries(job).every(([key, value]) => Object.hasOwn(daemon, key) && daemon[key] === value)

/** NUL, and halves of surrogate pairs. */
const unstorable = /\0|\p{Surrogate}/u

/** The rule that tags break, or undefined. */
export const tagsViolation = (tags: ProvisionerTags): string | undefined => {
  if (new TextEncoder().encode(canonicalTags(tags)).length > maximumTagsSize) return `must be at most ${maximumTagsSize} bytes as JSON`
  return Object.entries(tags).some((tag) => tag.some((text) => unstorable.test(text)))
    ? "must not contain characters that are not text"
    : undefined
}
