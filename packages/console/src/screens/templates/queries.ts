/** Questions that several screens of templates ask. */
import type { ProvisionerJob, Template, TemplateVersion } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import * as templateVersions from "@atelier/client/templateVersions"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { useMay } from "../../app/session.js"

export const templateQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: ["templates", "named", organization, name],
    queryFn: ({ signal }) => templates.getTemplateByName(client, { organization, templatename: name }, { signal })
  })

const frame = getRouteApi("/templates/$organization/$template")

/** The template that the address names. */
export const useTemplateQuery = () => {
  const { organization, template } = frame.useParams()
  return useQuery(templateQuery(organization, template))
}

/** A job that goes on by itself. */
export const isMoving = ({ status }: Pick<ProvisionerJob, "status">): boolean => ["pending", "running", "canceling"].includes(status)

const whileMoving = 2_000

export const versionsQuery = (template: string, isWithArchived: boolean) =>
  queryOptions({
    queryKey: ["template-versions", "of", template, isWithArchived],
    queryFn: async ({ signal }): Promise<ReadonlyArray<TemplateVersion>> =>
      (await templateVersions.listTemplateVersions(client, { template, include_archived: isWithArchived }, { signal })).toReversed(),
    refetchInterval: ({ state }) => (state.data?.some(({ job }) => isMoving(job)) === true ? whileMoving : false)
  })

export const versionQuery = (id: string) =>
  queryOptions({
    queryKey: ["template-versions", id],
    queryFn: ({ signal }) => templateVersions.getTemplateVersion(client, { templateversion: id }, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data.job) ? whileMoving : false)
  })

export const versionByNameQuery = (template: string, name: string) =>
  queryOptions({
    queryKey: ["template-versions", "named", template, name],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionByName(client, { template, templateversionname: name }, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data.job) ? whileMoving : false)
  })

export const resourcesQuery = (version: string) =>
  queryOptions({
    queryKey: ["template-versions", version, "resources"],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionResources(client, { templateversion: version }, { signal })
  })

/** Reads again what a changed template or version is shown in. */
export const refreshTemplates = async (): Promise<void> => {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ["templates"] }),
    queryClient.invalidateQueries({ queryKey: ["template-versions"] })
  ])
}

/** What the user may do to a template: one question for all of its screens. */
export const useTemplateRights = (template: Template | undefined) => {
  const object = { on: "template", organization: template?.organization_id, id: template?.id }
  return useMay({
    use: { ...object, to: "use" },
    update: { ...object, to: "update" },
    delete: { ...object, to: "delete" },
    insights: { ...object, to: "view_insights" },
    createWorkspace: { on: "workspace", to: "create", owner: "me", organization: template?.organization_id }
  })
}
