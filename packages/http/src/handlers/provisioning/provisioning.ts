import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Files, maximumFileSize, OrganizationJobs, ProvisionerDaemons } from "@atelier/core/provisioning"
import { Effect } from "effect"
import * as contract from "../../contract/provisioning/provisioning.js"
import { readBody } from "../../server/request/body.js"
import { json } from "../../server/codec/respond.js"
import * as Handlers from "../Handlers.js"

/** A list that was not given does not restrict anything. */
const given = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> | undefined => (items.length === 0 ? undefined : items)

export const provisioning = Handlers.group(contract.provisioning, (handlers) =>
  Effect.gen(function* () {
    const files = yield* Files
    const jobs = yield* OrganizationJobs
    const daemons = yield* ProvisionerDaemons

    return handlers
      .handle("uploadFile", ({ request }) =>
        Effect.gen(function* () {
          const declared = request.headers["content-length"]
          const length = declared === undefined ? undefined : Number(declared)
          // A fetch-style host may pass on another length than the body's
          const body = readBody(request, Math.min(length ?? maximumFileSize, maximumFileSize))
          const { id, isNew } = yield* files.upload(request.headers["content-type"] ?? "", body, length)
          return json(isNew ? 201 : 200, { hash: id })
        })
      )
      .handle("downloadFile", ({ path, urlParams }) =>
        Effect.map(files.download(path.fileID, { asZip: urlParams.format === "zip" }), ({ content, mimetype, size }) =>
          HttpServerResponse.stream(content, { contentType: mimetype, ...(size === undefined ? {} : { contentLength: size }) })
        )
      )
      .handle("listProvisionerJobs", ({ path, urlParams: { ids, initiator, limit, status, tags } }) =>
        jobs.list(path.organization, { ids: given(ids), status: given(status), tags, initiator_id: initiator, limit })
      )
      .handle("getProvisionerJob", ({ path }) => jobs.get(path.organization, path.job))
      .handle("listProvisionerDaemons", ({ path, urlParams: { ids, limit, max_age, offline, status, tags } }) =>
        daemons.list(path.organization, { ids: given(ids), limit, max_age, offline, status, tags })
      )
  })
)
