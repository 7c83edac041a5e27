import * as notifications from "@atelier/client/notifications"
import { queryOptions } from "@tanstack/react-query"
import { client } from "./client.js"

/** What users are told of: the events of the service, and what programs of a user send to that user. */
export const notificationTemplatesQuery = queryOptions({
  queryKey: ["notification-templates"],
  queryFn: async ({ signal }) =>
    (
      await Promise.all([
        notifications.listSystemNotificationTemplates(client, { signal }),
        notifications.listCustomNotificationTemplates(client, { signal })
      ])
    ).flat()
})
