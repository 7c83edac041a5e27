/** Questions that the screens of tasks ask. */
import * as tasks from "@atelier/client/tasks"
import * as templates from "@atelier/client/templates"
import { queryOptions } from "@tanstack/react-query"
import { client } from "../../app/client.js"

/** The filter that no words in the address mean. */
export const mine = "owner:me"

export const tasksQuery = (q: string) =>
  queryOptions({
    queryKey: ["tasks", "list", q],
    queryFn: ({ signal }) => tasks.listTasks(client, { q }, { signal })
  })

export const taskQuery = (owner: string, task: string) =>
  queryOptions({
    queryKey: ["tasks", "one", owner, task],
    queryFn: ({ signal }) => tasks.getTask(client, { user: owner, task }, { signal })
  })

/** The templates whose active version names an app for tasks. */
export const taskTemplatesQuery = queryOptions({
  queryKey: ["templates", "for tasks"],
  queryFn: async ({ signal }) =>
    (await templates.listTemplates(client, { q: "has-ai-task:true" }, { signal })).filter(({ deprecated }) => !deprecated)
})
