import type { Organization } from "@atelier/client"
import * as organizations from "@atelier/client/organizations"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { organizationsText } from "../../texts/people.js"
import { Button } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Field, Select } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Section } from "../../ui/page/Page.js"
import { ErrorState, NoAccess, SkeletonLines } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { OrganizationFields, organizationOf } from "./OrganizationFields.js"
import { OrganizationFrame } from "./OrganizationFrame.js"
import "./people.css"

export const OrganizationSettings = () => {
  const { organization } = useParams({ from: "/organizations/$organization/settings" })
  return <OrganizationFrame name={organization}>{(known) => <Settings organization={known} />}</OrganizationFrame>
}

const Settings = ({ organization }: { readonly organization: Organization }) => {
  const { id } = organization
  const may = useMay({
    update: { on: "organization", to: "update", organization: id },
    delete: { on: "organization", to: "delete", organization: id }
  })
  const [isDeleting, setDeleting] = useState(false)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  if (!may.isPending && !may.update) return <NoAccess />
  const changed = () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: ["organizations"] }),
      queryClient.invalidateQueries({ queryKey: ["me", "organizations"] })
    ])
  const shown = organization.display_name || organization.name
  return (
    <>
      <Section title={organizationsText.settings}>
        <Form
          key={organization.updated_at}
          onSubmit={async (form) => {
            const { name } = await organizations.updateOrganization(client, { organization: id, body: organizationOf(form) })
            await changed()
            notify(organizationsText.saved)
            if (name !== organization.name) {
              void navigate({ to: "/organizations/$organization/settings", params: { organization: name }, replace: true })
            }
          }}
        >
          <OrganizationFields organization={organization} />
          <FormActions>
            <Button type="submit" kind="primary">
              {organizationsText.save}
            </Button>
          </FormActions>
        </Form>
      </Section>
      <Sharing id={id} />
      {may.delete ? (
        <Section title={organizationsText.danger}>
          <div className="people-danger">
            <p>{organization.is_default ? organizationsText.defaultKept : organizationsText.deleteText}</p>
            <Button kind="danger" disabled={organization.is_default} onClick={() => setDeleting(true)}>
              {organizationsText.delete}
            </Button>
          </div>
          <ConfirmDialog
            isOpen={isDeleting}
            onClose={() => setDeleting(false)}
            title={organizationsText.deleteTitle(shown)}
            description={organizationsText.deleteText}
            action={organizationsText.delete}
            isDangerous
            typedName={organization.name}
            onConfirm={async () => {
              await organizations.deleteOrganization(client, { organization: id })
              void navigate({ to: "/organizations" })
              await changed()
              notify(organizationsText.deleted(shown))
            }}
          />
        </Section>
      ) : null}
    </>
  )
}

const sharers = ["everyone", "service_accounts", "none"] as const

const Sharing = ({ id }: { readonly id: string }) => {
  const queryKey = ["organizations", "sharing", id]
  const queryClient = useQueryClient()
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => organizations.getWorkspaceSharing(client, { organization: id }, { signal })
  })
  const change = useMutation({
    mutationFn: (shareable_workspace_owners: (typeof sharers)[number]) =>
      organizations.updateWorkspaceSharing(client, { organization: id, body: { shareable_workspace_owners } }),
    onSuccess: (settings) => {
      queryClient.setQueryData(queryKey, settings)
      notify(organizationsText.saved)
    },
    onError: notifyError
  })
  return (
    <Section
      title={organizationsText.sharing}
      description={data?.sharing_globally_disabled === true ? organizationsText.sharingOff : organizationsText.sharingHint}
    >
      {isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <SkeletonLines count={1} />
      ) : (
        <Field label={organizationsText.sharing}>
          <Select
            value={change.isPending ? change.variables : data.shareable_workspace_owners}
            disabled={data.sharing_globally_disabled || change.isPending}
            onChange={(event) => {
              const chosen = sharers.find((value) => value === event.target.value)
              if (chosen !== undefined) change.mutate(chosen)
            }}
            choices={sharers.map((value) => ({ value, label: organizationsText.sharers[value] }))}
          />
        </Field>
      )}
    </Section>
  )
}
