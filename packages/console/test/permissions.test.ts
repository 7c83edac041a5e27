/** The matrix of a custom role offers what core's permissions are. */
import { resourceActions } from "@atelier/core/access"
import { expect, it } from "vitest"
import { organizationPermissions } from "../src/screens/people/permissions.js"

it("offers each action of each kind of object", () => {
  for (const [kind, actions] of Object.entries(organizationPermissions)) {
    expect({ [kind]: actions }).toEqual({ [kind]: Reflect.get(resourceActions, kind) })
  }
})
