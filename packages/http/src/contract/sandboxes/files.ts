/** Files of workspaces. agents-and-apps.md §17a. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, boundedText, flagParameter, IntegerFromText, Path, Query, required } from "../../wire/input.js"
import { AlsoAnswers, Messages, operation, Streaming, TakesBytes, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const byAgent = Path({ workspaceagent: Uuid.Uuid })

/** Absolute, or relative to the agent's directory. */
const path = required(boundedText(4096))

/** Characters of a pattern, and of a text that is searched for. */
const pattern = boundedText(1024)

/** Permission bits. */
const mode = Schema.String.pipe(
  Schema.pattern(/^[0-7]{1,4}$/, { message: () => "must be one to four octal digits", jsonSchema: { pattern: "^[0-7]{1,4}$" } })
)

const between = (least: number, most: number) => Schema.optional(IntegerFromText.pipe(Schema.between(least, most)))

const FileEntry = Schema.Struct({
  /** Absolute. */
  path: Schema.String,
  name: Schema.String,
  type: Schema.Literal("file", "directory", "symlink", "other"),
  /** Bytes. */
  size: Numbers.Count,
  /** Permission bits as four octal digits. */
  mode: Schema.String,
  modified_at: Schema.String,
  /** The validator of a file's content. */
  etag: Schema.String,
  /** Where a symbolic link leads. */
  target: Schema.optional(Schema.String)
}).annotations({ identifier: "FileEntry" })

const FileList = Schema.Struct({
  entries: Schema.Array(FileEntry),
  /** The value of `after` for the next page; absent on the last one. */
  next: Schema.optional(Schema.String)
}).annotations({ identifier: "FileList" })

const FileMatches = Schema.Struct({
  matches: Schema.Array(
    Schema.Struct({
      /** Absolute. */
      path: Schema.String,
      /** Counted from 1. */
      line: Schema.optional(Numbers.Count),
      text: Schema.optional(Schema.String)
    }).annotations({ identifier: "FileMatch" })
  ),
  /** Whether there may be more, because a bound was reached. */
  truncated: Schema.Boolean
}).annotations({ identifier: "FileMatches" })

const FileChanges = Schema.Struct({
  /** What has changed. The first message has none: the watch has begun. */
  events: Schema.optional(
    Schema.Array(
      Schema.Struct({
        /** Absolute. */
        path: Schema.String,
        kind: Schema.Literal("created", "changed", "deleted")
      }).annotations({ identifier: "FileChange" })
    )
  ),
  /** Some changes are not told. */
  type: Schema.optional(Schema.Literal("overflow"))
}).annotations({ identifier: "FileChanges" })

const transfer = Body({
  from: path,
  to: path,
  /** Whether a file or an empty directory at `to` is replaced. */
  overwrite: Schema.optional(Schema.Boolean),
  /** Whether a directory may be copied. */
  recursive: Schema.optional(Schema.Boolean)
})

const bytes = { schema: { type: "string", format: "binary" } }

/** The refusals of every request for files. */
const unreached = ["NotFound", "Forbidden", "Conflict", "UpstreamFailure"] as const

export const files = HttpApiGroup.make("files")
  .annotate(OpenApi.Description, "Files of workspaces.")
  .add(
    HttpApiEndpoint.get("readFile", "/api/v2/workspaceagents/:workspaceagent/files")
      .annotateContext(
        operation("Read a file", "Returns the bytes of a file, or one range of them, with an entity tag. Symbolic links are followed.")
      )
      .setPath(byAgent)
      .setUrlParams(Query({ path }))
      .addSuccess(HttpApiSchema.Uint8Array())
      .addError(refusals(...unreached, "ExpectationMismatch"))
      .annotate(AlsoAnswers, { "206": { "application/octet-stream": bytes }, "304": {}, "416": {} })
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.head("inspectFile", "/api/v2/workspaceagents/:workspaceagent/files")
      .annotateContext(operation("Inspect a file", "Returns the headers with which a file would be read: its length, entity tag and mode."))
      .setPath(byAgent)
      .setUrlParams(Query({ path }))
      .addSuccess(HttpApiSchema.Empty(200))
      .addError(refusals(...unreached, "ExpectationMismatch"))
      .annotate(AlsoAnswers, { "304": {} })
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("writeFile", "/api/v2/workspaceagents/:workspaceagent/files")
      .annotateContext(
        operation(
          "Write a file",
          "Writes the bytes of the request beside a file, and gives them its name once all are there. `If-Match` and `If-None-Match` are held to. With `offset`, the bytes are added to the end of the file."
        )
      )
      .setPath(byAgent)
      .setUrlParams(
        Query({
          path,
          /** Octal. The default is the mode of the file, and for a new one that of the workspace's user. */
          mode: Schema.optional(mode),
          /** Whether missing directories are made. */
          parents: flagParameter,
          /** Whether the answer waits until the bytes are on the device. */
          fsync: flagParameter,
          /** Where the file ends: the bytes are added there. What has arrived of a request that breaks off stays. 412 if the file ends elsewhere. */
          offset: between(0, Number.MAX_SAFE_INTEGER)
        })
      )
      .addSuccess(FileEntry, { status: 201 })
      .addSuccess(FileEntry, { status: 200 })
      .addError(refusals(...unreached, "ExpectationMismatch"))
      .annotate(TakesBytes, ["application/octet-stream"])
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteFile", "/api/v2/workspaceagents/:workspaceagent/files")
      .annotateContext(
        operation(
          "Delete a file",
          "Deletes a file, a symbolic link itself, an empty directory, or on request a directory with all that it holds."
        )
      )
      .setPath(byAgent)
      .setUrlParams(Query({ path, recursive: flagParameter }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals(...unreached, "ExpectationMismatch"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("describeFile", "/api/v2/workspaceagents/:workspaceagent/files/stat")
      .annotateContext(operation("Describe a file", "Returns what a path is. A symbolic link is described itself."))
      .setPath(byAgent)
      .setUrlParams(Query({ path }))
      .addSuccess(FileEntry)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.get("listFiles", "/api/v2/workspaceagents/:workspaceagent/files/list")
      .annotateContext(
        operation(
          "List a directory",
          "Returns what is below a directory, in the order of the paths' bytes, in pages. Symbolic links are not followed."
        )
      )
      .setPath(byAgent)
      .setUrlParams(
        Query({
          path,
          /** Levels below the directory. Default 1. */
          depth: between(1, 1000),
          /** Default 1000. */
          limit: between(1, 10_000),
          /** The `next` of the page before. */
          after: Schema.optional(boundedText(8192))
        })
      )
      .addSuccess(FileList)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.post("makeDirectory", "/api/v2/workspaceagents/:workspaceagent/files/directories")
      .annotateContext(operation("Make a directory", "Makes a directory, with `parents` also those above it. It may exist already then."))
      .setPath(byAgent)
      .setPayload(Body({ path, parents: Schema.optional(Schema.Boolean), mode: Schema.optional(mode) }))
      .addSuccess(FileEntry, { status: 201 })
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.post("moveFile", "/api/v2/workspaceagents/:workspaceagent/files/move")
      .annotateContext(operation("Move a file", "Gives a file, a symbolic link or a directory another path, also on another device."))
      .setPath(byAgent)
      .setPayload(transfer)
      .addSuccess(FileEntry)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.post("copyFile", "/api/v2/workspaceagents/:workspaceagent/files/copy")
      .annotateContext(
        operation(
          "Copy a file",
          "Copies a file, a symbolic link as such, or with `recursive` a directory. Pipes, sockets and devices are left out."
        )
      )
      .setPath(byAgent)
      .setPayload(transfer)
      .addSuccess(FileEntry)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.get("packDirectory", "/api/v2/workspaceagents/:workspaceagent/files/archive")
      .annotateContext(
        operation("Download a directory", "Returns what a directory holds as a tar. Symbolic links are entries of their own.")
      )
      .setPath(byAgent)
      .setUrlParams(Query({ path }))
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/x-tar" }))
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.put("unpackDirectory", "/api/v2/workspaceagents/:workspaceagent/files/archive")
      .annotateContext(
        operation("Upload a directory", "Unpacks a tar into a directory, which is made if it is missing. Nothing is written outside of it.")
      )
      .setPath(byAgent)
      .setUrlParams(Query({ path }))
      .addSuccess(Schema.Struct({ entries: Numbers.Count, bytes: Numbers.Count }).annotations({ identifier: "UnpackedArchive" }))
      .addError(refusals(...unreached))
      .annotate(TakesBytes, ["application/x-tar"])
  )
  .add(
    HttpApiEndpoint.get("findFiles", "/api/v2/workspaceagents/:workspaceagent/files/find")
      .annotateContext(
        operation(
          "Find files",
          "Returns the entries below a directory whose name matches, or the lines of its files that hold a text. Binary files are left out."
        )
      )
      .setPath(byAgent)
      .setUrlParams(
        Query({
          path,
          /** A pattern of names, or with a slash of paths below the directory, such as `src/**\/*.ts`. */
          name: Schema.optional(pattern),
          /** A text within one line. */
          content: Schema.optional(pattern),
          /** Default 1000. */
          limit: between(1, 10_000),
          /** Milliseconds that the search may take. Default 10,000. */
          timeout_ms: between(1, 60_000)
        })
      )
      .addSuccess(FileMatches)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.get("watchFiles", "/api/v2/workspaceagents/:workspaceagent/files/watch")
      .annotateContext(operation("Watch files", "Sends what changes at a file or in a directory over a WebSocket."))
      .setPath(byAgent)
      .setUrlParams(Query({ path, recursive: flagParameter }))
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals(...unreached, "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(Messages, { schema: FileChanges, framing: "values", resume: "snapshot" })
  )
  .middlewareEndpoints(Authenticated)
