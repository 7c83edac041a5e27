import { expect, it } from "vitest"
import { routes } from "../../../src/contract/generated/routes.js"
import { makeRoutes } from "../../../src/server/pipeline/Routes.js"

const { allowsSlash, find } = makeRoutes(routes)
const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

it("collections and roots work with a slash at their end", () => {
  const refused = [
    ["GET", "/api/v2/notifications/inbox"],
    ["PUT", "/api/v2/users/me/notifications/preferences"],
    ["GET", "/api/v2/users/me/workspace/dev"],
    ["GET", `/api/v2/workspaceagents/${id}`],
    ["POST", `/api/v2/workspaces/${id}/builds`],
    ["DELETE", `/api/v2/workspaces/${id}/port-share`],
    ["GET", "/api/v2/debug/health"],
    ["PUT", "/api/v2/debug/health/settings"],
    ["GET", `/api/v2/organizations/${id}/templates/docker`],
    ["GET", `/api/v2/organizations/${id}/templates/docker/versions/one`],
    ["POST", `/api/v2/templateversions/${id}/dry-run`],
    ["POST", "/api/v2/files"],
    ["DELETE", "/api/v2/workspaceproxies/west"],
    ["GET", "/api/v2/external-auth/github"],
    ["POST", "/api/v2/tasks/me"],
    ["GET", "/api/v2/tasks/me/one"],
    ["DELETE", "/api/v2/users/me/secrets/one"],
    ["POST", "/api/v2/oauth2-provider/apps"],
    ["GET", "/api/v2/ai/providers"],
    ["POST", "/api/v2/users/me/ssh-keys"],
    ["PUT", `/api/v2/workspaceagents/${id}/files`],
    ["DELETE", `/api/v2/workspaceagents/${id}/processes/one`]
  ].filter(([method = "", path = ""]) => !allowsSlash(method, path))
  expect(refused).toEqual([])
})

it("a leaf has no slash at its end", () => {
  const found = [
    ["GET", "/api/v2/buildinfo"],
    ["GET", "/api/v2/auth/scopes"],
    ["GET", "/api/v2/users/me/roles"],
    ["GET", `/api/v2/organizations/${id}/paginated-members`],
    ["PUT", `/api/v2/workspaces/${id}/dormant`],
    ["PUT", `/api/v2/workspaces/${id}/extend`],
    ["GET", `/api/v2/workspaces/${id}/watch`],
    ["GET", `/api/v2/workspacebuilds/${id}/logs`]
  ].filter(([method = "", path = ""]) => allowsSlash(method, path))
  expect(found).toEqual([])
})

it("a path without parameters leads to its own endpoint, with and without a query", () => {
  const plain = routes.filter(({ path }) => !path.includes(":"))
  expect(plain.length).toBeGreaterThan(100)
  for (const route of plain) {
    const { method, path } = route
    expect(find(method, path)).toStrictEqual({ route, url: path, params: {}, query: {} })
    expect(find(method, `${path}?a=1`)?.route).toBe(route)
  }
})
