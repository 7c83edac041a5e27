/** The orders in which an agent's parts are shown. */
import type { WorkspaceApp } from "../apps/WorkspaceApp.js"

export type Compare<A> = (left: A, right: A) => number

export const by = <A>(...keys: ReadonlyArray<(value: A) => string | number>): Compare<A> => {
  return (left, right) => {
    for (const key of keys) {
      const [a, b] = [key(left), key(right)]
      if (a !== b) return a < b ? -1 : 1
    }
    return 0
  }
}

export const appOrder: Compare<Pick<WorkspaceApp, "display_order" | "display_name" | "slug">> = by(
  (app) => app.display_order,
  (app) => app.display_name,
  (app) => app.slug
)
/** Parts of a build are made in one instant: their ids, which count up, tell their order. */
export const oldestFirst: Compare<{ readonly created_at: string; readonly id: string }> = by(
  (part) => part.created_at,
  (part) => part.id
)
