import type { Match, Routes } from "./Routes.js"

/**
 * The routes that show the objects which a path names, from the outermost: `/templates/{template}/versions` names the template that
 * `GET /templates/{template}` shows.
 */
export const pathObjects = ({ find }: Pick<Routes, "find">, { route, url }: Pick<Match, "route" | "url">): ReadonlyArray<Match> => {
  const [path = ""] = url.split("?")
  const [names, values] = [route.path.split("/"), path.split("/")]
  return names.flatMap((name, index) => {
    if (!name.startsWith(":")) return []
    // A user has one page, and is named in paths of others too
    const isOfUser = name === ":user" && names[index - 1] !== "members"
    const [pattern, named] = isOfUser
      ? ["/api/v2/users/:user", `/api/v2/users/${values[index]}`]
      : [names.slice(0, index + 1).join("/"), values.slice(0, index + 1).join("/")]
    const found = find("GET", named)
    return found !== undefined && found.route !== route && found.route.path === pattern ? [found] : []
  })
}
