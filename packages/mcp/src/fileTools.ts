/** Tools for the files of workspaces. */
import * as z from "zod"
import { destructive, pathInput, readOnly, removing, tool, workspaceInput } from "./Tool.js"
import { ToolError } from "./toolResult.js"
import { sandboxOf, within } from "./workspaceOf.js"

/** Milliseconds that one tool takes for its file at most. */
const fileTime = 60_000

const usualRead = 64 * 1024
const maximumRead = 1024 * 1024

/** Bytes of a file that is edited, and characters of a text that is written. */
const maximumText = 4 * 1024 * 1024

const written = { path: z.string(), size: z.int(), etag: z.string() }

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new ToolError("content: must be base64")
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

const base64Of = (bytes: Uint8Array): string => {
  let binary = ""
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(binary)
}

/** The text of a file as it is, with its byte order mark. */
const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ToolError("The file is not text in UTF-8.")
  }
}

const edited = (
  text: string,
  { new_text, old_text, replace_all }: { readonly old_text: string; readonly new_text: string; readonly replace_all: boolean }
) => {
  const parts = text.split(old_text)
  const found = parts.length - 1
  if (found === 0) throw new ToolError("old_text: is not in the file")
  if (found > 1 && !replace_all)
    throw new ToolError(`old_text: is in the file ${found} times; give more of its surroundings, or set replace_all`)
  return { replacements: found, text: parts.join(new_text) }
}

export const fileTools = [
  tool({
    name: "read_file",
    title: "Read a file",
    description: "Returns a part of a file as text, or as base64. Pass offset to read on where a result was truncated.",
    ...readOnly,
    input: {
      workspace: workspaceInput,
      path: pathInput,
      offset: z.int().min(0).default(0).describe("The first byte."),
      limit: z.int().min(1).max(maximumRead).default(usualRead).describe("Bytes at most."),
      encoding: z.enum(["utf8", "base64"]).default("utf8")
    },
    output: { content: z.string(), size: z.int(), next_offset: z.int(), truncated: z.boolean(), etag: z.string() },
    run: async (client, { encoding, limit, offset, path, workspace }, signal) => {
      const { files } = await sandboxOf(client, workspace, signal)
      const options = { signal: within(signal, fileTime) }
      const { etag, size, type } = await files.stat(path, options)
      const isBeyond = type === "file" && offset >= size
      const bytes = isBeyond ? new Uint8Array() : await files.read(path, { ...options, start: offset, end: offset + limit })
      const next = offset + bytes.length
      const content = encoding === "base64" ? base64Of(bytes) : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
      return { content, size, next_offset: next, truncated: type === "file" ? next < size : bytes.length === limit, etag }
    }
  }),
  tool({
    name: "write_file",
    title: "Write a file",
    description: "Writes a file whole, and makes the directories above it. A reader sees the old file or the new one.",
    ...removing,
    input: {
      workspace: workspaceInput,
      path: pathInput,
      content: z.string().max(maximumText),
      encoding: z.enum(["utf8", "base64"]).default("utf8"),
      mode: z
        .string()
        .regex(/^[0-7]{3,4}$/)
        .optional()
        .describe("Octal, such as 0755."),
      if_match: z.string().max(200).optional().describe("Writes only if the file still has this etag.")
    },
    output: written,
    run: async (client, { content, encoding, if_match, mode, path, workspace }, signal) => {
      const data = encoding === "base64" ? bytesOf(content) : content
      const { files } = await sandboxOf(client, workspace, signal)
      const { etag, path: at, size } = await files.write(path, data, { mode, ifMatch: if_match, signal: within(signal, fileTime) })
      return { path: at, size, etag }
    }
  }),
  tool({
    name: "edit_file",
    title: "Edit a file",
    description: "Replaces a text in a file by another one. Fails if the text is not there, or there more than once without replace_all.",
    ...destructive,
    input: {
      workspace: workspaceInput,
      path: pathInput,
      old_text: z.string().min(1).max(maximumText),
      new_text: z.string().max(maximumText),
      replace_all: z.boolean().default(false)
    },
    output: { ...written, replacements: z.int() },
    run: async (client, { path, workspace, ...change }, signal) => {
      const { files } = await sandboxOf(client, workspace, signal)
      const options = { signal: within(signal, fileTime) }
      // Before the text: a change in between is refused
      const before = await files.stat(path, options)
      if (before.size > maximumText)
        throw new ToolError(`path: the file has ${before.size} bytes, and at most ${maximumText} can be edited`)
      const bytes = await files.read(path, { ...options, start: 0, end: maximumText + 1 })
      const { replacements, text } = edited(textOf(bytes), change)
      if (text.length > 2 * maximumText) throw new ToolError("new_text: makes the file too long")
      // A link is described by itself, and its file is what is written
      const match = before.type === "symlink" ? undefined : before.etag
      const { etag, path: at, size } = await files.write(path, text, { ...options, ifMatch: match })
      return { path: at, size, etag, replacements }
    }
  }),
  tool({
    name: "find_files",
    title: "Find files",
    description: "Finds what is below a directory by a pattern of names, or lines of files by a text.",
    ...readOnly,
    input: {
      workspace: workspaceInput,
      path: pathInput.default("."),
      name: z.string().min(1).max(1024).optional().describe("A pattern of names, such as *.ts."),
      content: z.string().min(1).max(1024).optional().describe("A text in the files."),
      limit: z.int().min(1).max(1000).default(200)
    },
    output: {
      matches: z.array(z.object({ path: z.string(), line: z.int().optional(), text: z.string().optional() })),
      truncated: z.boolean()
    },
    run: async (client, { workspace, ...query }, signal) => {
      const { files } = await sandboxOf(client, workspace, signal)
      const { matches, truncated } = await files.find(query, { signal: within(signal, fileTime) })
      return {
        matches: matches.map(({ line, path, text }) => ({
          path,
          ...(line === undefined ? {} : { line }),
          ...(text === undefined ? {} : { text })
        })),
        truncated
      }
    }
  })
]
