import { descriptionOf } from "@atelier/core/logs"
import { expect, it } from "vitest"

it.each([
  ["create", "workspace", 201, "{user} created workspace {target}"],
  ["start", "workspace_build", 200, "{user} started workspace {target}"],
  ["delete", "api_key", 204, "{user} deleted token {target}"],
  ["login", "api_key", 201, "{user} logged in"],
  ["login", "api_key", 401, "{user} unsuccessfully attempted to login"],
  ["write", "git_ssh_key", 200, "{user} updated the git ssh key"],
  ["create", "convert_login", 201, "{user} created login type conversion to {target}"],
  ["write", "idp_sync_settings_group", 200, "{user} updated settings {target}"],
  ["write", "notifications_settings", 200, "{user} updated notifications_settings {target}"],
  ["request_password_reset", "user", 204, "password reset requested for {target}"],
  ["write", "template_version", 303, "{user} was redirected when attempting to write template version {target}"]
] as const)("%s of %s with status %i reads %s", (action, resource_type, status_code, description) => {
  expect(descriptionOf({ action, resource_type, status_code })).toBe(description)
})
