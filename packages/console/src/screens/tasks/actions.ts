/** What a user can do to a task. */
import type { Task } from "@atelier/client"
import * as tasks from "@atelier/client/tasks"
import { useMutation } from "@tanstack/react-query"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { taskText } from "../../texts/tasks.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"

/** Tasks and their workspaces have changed. */
export const refreshTasks = (): Promise<unknown> =>
  Promise.all([queryClient.invalidateQueries({ queryKey: ["tasks"] }), queryClient.invalidateQueries({ queryKey: ["workspaces"] })])

export const usePause = () =>
  useMutation({
    mutationFn: ({ id, owner_name }: Task) => tasks.pauseTask(client, { user: owner_name, task: id }),
    onSuccess: (_, { display_name, name }) => {
      notify(taskText.paused(display_name || name))
      return refreshTasks()
    },
    onError: notifyError
  })

export const useResume = () =>
  useMutation({
    mutationFn: ({ id, owner_name }: Task) => tasks.resumeTask(client, { user: owner_name, task: id }),
    onSuccess: (_, { display_name, name }) => {
      notify(taskText.resumed(display_name || name))
      return refreshTasks()
    },
    onError: notifyError
  })
