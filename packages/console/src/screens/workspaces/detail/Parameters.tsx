/** The parameters of a workspace, which a new build applies. */
import type { Workspace } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { client } from "../../../app/client.js"
import { settingsText } from "../../../texts/workspace.js"
import { Callout } from "../../../ui/page/Callout.js"
import { Form, FormActions, SubmitButton } from "../../../ui/forms/Form.js"
import { Section } from "../../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../../ui/page/States.js"
import { notify } from "../../../ui/floating/Toast.js"
import { ParameterFields } from "../../create/ParameterFields.js"
import { useParameterForm, type Values } from "../../create/parameterForm.js"
import { restart, update as updateWorkspace } from "../actions.js"
import { isBuilding } from "../state.js"
import { useWorkspaceQuery } from "./workspace.js"

const route = getRouteApi("/@{$owner}/$workspace/settings/parameters")

export const Parameters = () => {
  const { data: workspace } = useWorkspaceQuery()
  const build = workspace?.latest_build.id ?? ""
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["builds", build, "parameters"],
    queryFn: ({ signal }) => builds.getWorkspaceBuildParameters(client, { workspacebuild: build }, { signal }),
    enabled: workspace !== undefined
  })
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (workspace === undefined || data === undefined) return <SkeletonLines count={5} />
  return <Loaded key={build} workspace={workspace} initial={Object.fromEntries(data.map(({ name, value }) => [name, value]))} />
}

const Loaded = ({ initial, workspace }: { readonly workspace: Workspace; readonly initial: Values }) => {
  const { latest_build, name, owner_id, owner_name, template_active_version_id } = workspace
  const { update = false } = route.useSearch()
  const navigate = useNavigate()
  const form = useParameterForm({
    version: update ? template_active_version_id : latest_build.template_version_id,
    owner: owner_id,
    initial
  })
  const isRunning = latest_build.status === "running"
  const submit = async (): Promise<void> => {
    const values = form.build()
    await (update ? updateWorkspace(workspace, values) : restart(workspace, values))
    notify(settingsText.applied)
    await navigate({ to: "/@{$owner}/$workspace", params: { owner: owner_name, workspace: name } })
  }
  return (
    <Section title={settingsText.parametersTitle} description={settingsText.parametersHint}>
      <Form onSubmit={submit}>
        {update ? <Callout title={settingsText.updating}>{settingsText.updatingHint}</Callout> : null}
        <ParameterFields form={form} isFixed={({ mutable, name }) => !mutable && name in initial} />
        {form.parameters.length === 0 ? null : (
          <FormActions>
            <SubmitButton disabled={!form.isValid || isBuilding(latest_build)}>
              {isRunning ? settingsText.apply : settingsText.applyStopped}
            </SubmitButton>
          </FormActions>
        )}
      </Form>
    </Section>
  )
}
