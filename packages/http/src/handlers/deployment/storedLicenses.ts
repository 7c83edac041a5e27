import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Licenses } from "@atelier/core/deployment"
import { NotFound } from "@atelier/core/platform"
import { Effect } from "effect"
import * as contract from "../../contract/deployment/storedLicenses.js"
import { json } from "../../server/codec/respond.js"
import * as Handlers from "../Handlers.js"

/** The number that a path names; none where the store could not hold it. */
const licenseId = (text: string): number | undefined => {
  const id = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return Math.abs(id) <= 2_147_483_647 ? id : undefined
}

export const storedLicenses = Handlers.group(contract.storedLicenses, (handlers) =>
  Effect.map(Licenses, (licenses) =>
    handlers
      .handle("listLicenses", () => licenses.list)
      .handle("addLicense", ({ payload }) => licenses.add(payload.license))
      .handle("requestTrialLicense", ({ payload }) => licenses.trial(payload))
      .handle("refreshEntitlements", () =>
        Effect.map(licenses.refresh, (secondsLeft) =>
          secondsLeft === 0
            ? { message: "The entitlements have been computed." }
            : HttpServerResponse.setHeader(
                json(400, { message: "The entitlements were computed less than a minute ago." }),
                "retry-after",
                String(secondsLeft)
              )
        )
      )
      .handle("deleteLicense", ({ path }) => {
        const id = licenseId(path.id)
        return id === undefined ? new NotFound({ resource: "license" }) : licenses.remove(id)
      })
  )
)
