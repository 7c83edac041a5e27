/** Workspaces that are made before their users ask for them. templates-and-provisioning.md §5.5. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, flag, Path } from "../../wire/input.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const Settings = Schema.Struct({ reconciliation_paused: Schema.Boolean }).annotations({ identifier: "PrebuildsSettings" })

const InvalidatedPreset = Schema.Struct({
  template_name: Schema.String,
  template_version_name: Schema.String,
  preset_name: Schema.String
}).annotations({ identifier: "InvalidatedPreset" })

const Invalidated = Schema.Struct({ invalidated: Schema.Array(InvalidatedPreset) }).annotations({ identifier: "InvalidatePresetsResponse" })

export const prebuilds = HttpApiGroup.make("prebuilds")
  .annotate(OpenApi.Description, "Prebuilt workspaces.")
  .add(
    HttpApiEndpoint.get("getPrebuildsSettings", "/api/v2/prebuilds/settings")
      .annotateContext(operation("Get prebuild settings", "Returns whether the upkeep of prebuilt workspaces is paused."))
      .addSuccess(Settings)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("updatePrebuildsSettings", "/api/v2/prebuilds/settings")
      .annotateContext(operation("Update prebuild settings", "Pauses or resumes the upkeep of prebuilt workspaces."))
      .setPayload(Body({ reconciliation_paused: flag }))
      .addSuccess(Settings)
      .addError(refusals("Forbidden", "NotModified"))
  )
  .add(
    HttpApiEndpoint.post("invalidatePresets", "/api/v2/templates/:template/prebuilds/invalidate")
      .annotateContext(
        operation("Invalidate presets", "Has the prebuilt workspaces of a template's active version replaced, and returns its presets.")
      )
      .setPath(Path({ template: Uuid.Uuid }))
      .addSuccess(Invalidated)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
