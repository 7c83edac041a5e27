/** The templates of the user's organizations. */
import * as templates from "@atelier/client/templates"
import { queryOptions } from "@tanstack/react-query"
import { client } from "../../app/client.js"

export const templatesQuery = queryOptions({
  queryKey: ["templates"],
  queryFn: ({ signal }) => templates.listTemplates(client, {}, { signal })
})
